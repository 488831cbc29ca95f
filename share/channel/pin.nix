# Builds the channel of a pinned package set out of what lodger-channel has evaluated and realised.
# Evaluated by root's lodger-channel alone.
{
  # Path of a directory with lock.json, closure and settings, as lodger-channel makes them.
  work,
  # Where Lodger's programs are installed.
  libexec,
}:
let
  inherit (builtins)
    attrValues
    concatMap
    concatStringsSep
    fromJSON
    map
    readFile
    storePath
    ;
  file = name: readFile (work + "/${name}");
  lock = fromJSON (file "lock.json");
  packages = lock.packages;
in
import ./channel.nix {
  inherit libexec;
  inherit (lock) sqlite;
  source = storePath lock.path;
  # Named only so that the channel refers to them, wherever they stand in its files: what it refers
  # to, no garbage collection takes.
  kept = map storePath (concatMap (package: [ package.drv ] ++ attrValues package.outputs) (packages ++ lock.base));
  # The last column says that all programs of the path are the attribute's.
  packages = concatStringsSep "" (
    map (
      package:
      concatStringsSep "\t" [
        package.attribute
        package.version
        package.path
        package.drv
        package.description
        "-"
      ]
      + "\n"
    ) packages
  );
  more = "";
  lock = file "lock.json";
  closure = file "closure";
  settings = file "settings";
  # Not a link to the set's own: nix would read what that imports from beside the link.
  default = ''
    # A session's <nixpkgs>: the pinned package set, as it is. What of it is in the store already is in
    # packages.tsv.
    import ${lock.path}
  '';
}
