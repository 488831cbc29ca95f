# A session's <nixpkgs>: the packages of this channel by nixpkgs' attribute names, and the few
# functions that `nix-shell -p` and a shell.nix with mkShell need. Everything is in the store
# already; nothing here is ever built. Evaluated inside sessions, as their user.
#
# nix-shell calls it with arguments that differ between versions (inNixShell, …), hence the dots.
{ ... }:
let
  inherit (builtins)
    elemAt
    filter
    isString
    listToAttrs
    map
    match
    split
    storePath
    substring
    ;
  # readFile lets its text depend on everything that the channel refers to; a shell would then
  # depend on all of it. Each path gets its own dependency back below, by storePath.
  table = builtins.unsafeDiscardStringContext (builtins.readFile ./packages.tsv);
  parts = separator: text: filter (part: isString part && part != "") (split separator text);
  # Columns: attribute name, version, store path, .drv, description, size. What the channel does not
  # have, though it could, is in a table of the same form.
  rows = map (parts "\t") (parts "\n" table ++ parts "\n" (builtins.readFile ./more.tsv));

  package =
    row:
    let
      attribute = elemAt row 0;
      path = elemAt row 2;
      self = {
        type = "derivation";
        # What follows /nix/store/, 32 characters of hash and a dash.
        name = substring 44 (-1) path;
        version = elemAt row 1;
        system = builtins.currentSystem;
        outPath = storePath path;
        drvPath = elemAt row 3;
        outputName = "out";
        outputs = [ "out" ];
        out = self;
        all = [ self ];
        meta.description = elemAt row 4;
      };
    in
    if path == "-" then
      throw "${attribute} is not in this machine's channel, which could have it; an administrator adds it with: lodger-channel starter --with ${attribute}"
    else
      self;

  # The rows whose names match, by the part of the name that the pattern's group takes.
  packagesLike =
    pattern:
    listToAttrs (
      map (row: {
        name = elemAt (match pattern (elemAt row 0)) 0;
        value = package row;
      }) (filter (row: match pattern (elemAt row 0) != null) rows)
    );
  # python3Packages and its other names: what comes before the dot.
  sets = listToAttrs (
    map (name: {
      inherit name;
      value = packagesLike "${name}\\.(.*)";
    }) (filter (name: name != null) (map (row: setOf (elemAt row 0)) rows))
  );
  setOf =
    name:
    let
      found = match "(.*)\\..*" name;
    in
    if found == null then null else elemAt found 0;

  runCommand =
    name: attributes: command:
    derivation (
      {
        inherit name;
        inherit (packages) stdenv;
        system = builtins.currentSystem;
        builder = "${packages.bash}/bin/bash";
        args = [
          "-c"
          "source $stdenv/setup; eval \"$buildCommand\""
        ];
        buildCommand = command;
      }
      // attributes
    );

  packages = sets // packagesLike "([^.]*)" // {
    inherit runCommand;
    # nixpkgs puts a compiler into every shell; here it comes when asked for, with -p gcc.
    runCommandCC = runCommand;
    # For a project's own shell.nix.
    mkShell =
      {
        name ? "shell",
        packages ? [ ],
        buildInputs ? [ ],
        ...
      }@attributes:
      runCommand name (removeAttrs attributes [ "packages" ] // { buildInputs = buildInputs ++ packages; }) "";
    pkgs = packages;
  };
in
packages
