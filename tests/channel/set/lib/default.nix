{ one = import ./one.nix; }
