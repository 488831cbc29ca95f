(import ../default.nix { }).hello.version
