# Builds the starter channel out of packages.nix and a lock file. Evaluated by root's
# lodger-channel alone; what sessions see is default.nix, inside the result.
#
#   plan      text: one line a group that is wanted, its name, the packages to start from and, behind
#             "!", what they are to do without
#   names     text: one line an attribute name that can be wanted, and its group
#   assumed   text: one line a package that apt is to take for installed
#   located   text: one line a package, its name and where it is in the store; needs `debs`
#   channel   the channel's derivation; needs `lock`
{
  # Attribute names, separated by blanks; empty for those that a channel has unless told otherwise.
  wanted ? "",
  # More of them.
  also ? "",
  # Path of the lock file that lodger-channel made for the plan.
  lock ? null,
  # Path of a file with one line a package: name, SHA256, name in the store.
  debs ? null,
  # Where Lodger's programs are installed.
  libexec ? "/usr/local/libexec/lodger",
}:
let
  inherit (builtins)
    attrNames
    concatLists
    concatStringsSep
    elem
    elemAt
    filter
    head
    isString
    listToAttrs
    map
    replaceStrings
    split
    storePath
    ;
  table = import ./packages.nix;
  groupOf = name: table.groups.${name};
  usesOf = name: (groupOf name).uses or [ ];
  line = words: concatStringsSep " " words + "\n";
  text = concatStringsSep "";
  parts = separator: all: filter (part: isString part && part != "") (split separator all);
  wordsOf = parts " ";
  linesOf = parts "\n";

  # Where a file of this SHA256 and name is in the store.
  placeOf =
    sha256: name:
    (derivation {
      inherit name;
      system = "none";
      builder = "none";
      outputHash = sha256;
      outputHashAlgo = "sha256";
      outputHashMode = "flat";
    }).outPath;

  # A group with all the groups it uses, directly or not.
  withUses = name: [ name ] ++ concatLists (map withUses (usesOf name));
  hasName = words: name: filter (n: elem n (wordsOf words)) (groupOf name).names != [ ];
  isWanted =
    name:
    hasName also name || (if wanted == "" then !((groupOf name).more or false) else hasName wanted name);
  inPlan = concatLists (map withUses (table.base ++ filter isWanted (attrNames table.groups)));
  groups = filter (name: elem name inPlan) (attrNames table.groups);

  locked = builtins.fromJSON (builtins.readFile lock);
  debsOf =
    name:
    let
      inherited = concatLists (map (used: locked.groups.${used}) (concatLists (map withUses (usesOf name))));
    in
    filter (deb: !elem deb inherited) locked.groups.${name};
  # The package that an attribute stands for.
  debOf =
    name: attribute:
    locked.debs.${((groupOf name).versions or { }).${attribute} or (head (groupOf name).debs)};
  # Without its epoch, which says nothing about the program.
  versionOf =
    name: attribute:
    elemAt (builtins.match "([0-9]+:)?(.*)" (debOf name attribute).version) 1;

  # The versions of the tools that matter are in the lock, so that another patchelf makes another
  # channel.
  build =
    name: script: attributes:
    import ./builder.nix name script ({ inherit (locked) tools; } // attributes);

  # A store path's name takes fewer characters than a Debian version has.
  plain = replaceStrings [ "~" ] [ "-" ];

  trees = listToAttrs (
    map (name: {
      inherit name;
      value = build "${name}-${plain (versionOf name "")}" ./unpack.sh {
        debs = map (deb: storePath locked.debs.${deb}.path) (debsOf name);
        uses = map (used: trees.${used}) (usesOf name);
        propagates = map (used: trees.${used}) ((groupOf name).propagates or [ ]);
        kind = (groupOf name).kind or "plain";
        links =
          let
            links = (groupOf name).links or { };
          in
          map (link: "${link}=${links.${link}}") (attrNames links);
        moved = (groupOf name).moved or [ ];
        environment =
          let
            variables = (groupOf name).environment or { };
          in
          map (variable: "${variable}=${variables.${variable}}") (attrNames variables);
        gccWrapper = if name == "gcc" then builtins.readFile ./gcc-wrapper.sh else "";
        ldWrapper = if name == "gcc" then builtins.readFile ./ld-wrapper.sh else "";
      };
    }) groups
  );

  stdenv = build "stdenv" ./stdenv.sh {
    inherit (trees) libc;
    initialPath = [
      trees.bash
      trees.tools
    ];
    setup = builtins.readFile ./setup.sh;
    passAsFile = [ "setup" ];
  };

  # The two digits of the distribution's Python, as nixpkgs writes them: 3.11.2-1 gives 311.
  pythonDigits = concatStringsSep "" (
    filter isString (split "\\." (head (builtins.match "([0-9]+\\.[0-9]+).*" (versionOf "python3" ""))))
  );
  aliases =
    name:
    let
      module = builtins.match "python3Packages\\.(.*)" name;
      python = "python${pythonDigits}";
    in
    if module != null then
      [
        name
        "python39Packages.${head module}"
        "${python}Packages.${head module}"
      ]
    else if name == "python3" then
      [
        name
        python
      ]
    else
      [ name ];
  # What the channel could have besides.
  moreRowsOf =
    name:
    map (
      attribute:
      concatStringsSep "\t" [
        attribute
        "-"
        "-"
        "-"
        "${(groupOf name).description} (not in this channel; an administrator adds it with: lodger-channel starter --with ${attribute})"
        "-"
      ]
      + "\n"
    ) (concatLists (map (if elem "python3" groups then aliases else attribute: [ attribute ]) (groupOf name).names));
  # The last column is for channel.sh alone: the package whose programs the attribute stands for, or
  # "-" for all of the tree's.
  row =
    path: name: version: description: programs:
    concatStringsSep "\t" [
      name
      version
      "${path}"
      (builtins.unsafeDiscardOutputDependency path.drvPath)
      description
      programs
    ]
    + "\n";
  rowsOf =
    name:
    map (
      attribute:
      row trees.${name} attribute (versionOf name attribute) (groupOf name).description (
        if groupOf name ? versions then storePath (debOf name attribute).path else "-"
      )
    ) (concatLists (map aliases (groupOf name).names));
in
{
  plan = text (
    map (
      name:
      line ([ name ] ++ (groupOf name).debs ++ map (deb: "!${deb}") ((groupOf name).without or [ ]))
    ) groups
  );
  names = text (
    concatLists (
      map (
        name:
        map (attribute: line [
          attribute
          name
        ]) (groupOf name).names
      ) (attrNames table.groups)
    )
  );
  assumed = text (map (name: line [ name ]) table.assumed);
  located = text (
    map (
      words:
      line [
        (head words)
        (placeOf (elemAt words 1) (elemAt words 2))
      ]
    ) (map wordsOf (linesOf (builtins.readFile debs)))
  );

  channel = import ./channel.nix {
    inherit (locked) sqlite tools;
    inherit libexec stdenv;
    # Named only so that the channel refers to them: what it refers to, no garbage collection
    # takes. With the packages themselves kept, a rebuild needs no network.
    debs = map (deb: storePath locked.debs.${deb}.path) (attrNames locked.debs);
    packages = text (
      [ (row stdenv "stdenv" "1" "what a shell starts from: setup, bash and basic tools" "-") ]
      ++ concatLists (map rowsOf groups)
    );
    more = text (concatLists (map moreRowsOf (filter (name: !elem name groups) (attrNames table.groups))));
    lock = builtins.readFile lock;
    default = builtins.readFile ./default.nix;
    # Nothing of it is for sessions to build, and nothing for their daemon to fetch.
    closure = "";
    settings = "";
  };
}
