# One attribute of a pinned package set, as text to be printed in JSON: what it is, or why there is no
# such package. Evaluated by root's lodger-channel alone, with no arguments to the set, as
# `import <nixpkgs> { }` is inside sessions.
{
  # Path of the set, in the store.
  source,
  # An attribute path; null for what a shell needs whatever is asked for.
  attribute ? null,
}:
let
  inherit (builtins)
    attrNames
    elem
    filter
    isAttrs
    isFunction
    isString
    listToAttrs
    map
    parseDrvName
    split
    unsafeDiscardStringContext
    ;
  plain = value: if isString value then unsafeDiscardStringContext value else "";
  top = import source;
  set = if isFunction top then top { } else top;

  # Goes down by the path's parts; stays where a part is not there.
  walk =
    { value, left, passed }:
    if left == [ ] || !(isAttrs value) || !(value ? ${builtins.head left}) then
      { inherit value left passed; }
    else
      walk {
        value = value.${builtins.head left};
        left = builtins.tail left;
        passed = passed ++ [ (builtins.head left) ];
      };
  found = walk {
    value = set;
    left = filter isString (split "\\." attribute);
    passed = [ ];
  };
  value = found.value;
  isPackage = value: isAttrs value && value.type or null == "derivation";

  # The output with the programs, as nixpkgs' lib.getBin has it: what a command on demand is of.
  main = if value.outputSpecified or false then value else value.bin or value.out or value;
  # All but what is for debuggers, often larger than the rest together, unless it is what was named.
  outputs = filter (name: name != "debug" || name == value.outputName or "out") (
    value.outputs or [ "out" ]
  );
  package = {
    drv = plain value.drvPath;
    path = plain main.outPath;
    outputs = listToAttrs (
      map (name: {
        inherit name;
        value = plain (value.${name} or value).outPath;
      }) outputs
    );
    version = plain (value.version or (parseDrvName value.name).version);
    description = plain (value.meta.description or "");
  };

  # What `nix-shell -p` with no package instantiates.
  runCommand = set.pkgs.runCommandCC or set.pkgs.runCommand;
in
if attribute == null then
  {
    shell = if isAttrs set && set ? pkgs && (set.pkgs ? runCommandCC || set.pkgs ? runCommand) then
      plain (runCommand "shell" { buildInputs = [ ]; } "").drvPath
    else
      null;
    bash = isAttrs set && isPackage (set.bashInteractive or null);
  }
else if found.left == [ ] && isPackage value then
  { inherit package; }
else
  {
    # Where the path comes to an end, and what there is.
    inherit (found) passed left;
    isSet = isAttrs value;
    names = if isAttrs value && !(isPackage value) then attrNames value else [ ];
  }
