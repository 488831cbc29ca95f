# A package set in nixpkgs' shape, for the tests: a function of whatever it is given, with what nix-shell
# asks of it. Its builders find in the sandbox no more than /bin/sh, so the programs that they need are
# in ./tools and ./shell, which the tests put there (set.bash), with their own loader and ./libc.
{ ... }:
let
  version = builtins.readFile ./version;
  make =
    name: script: attributes:
    derivation (
      {
        name = "${name}-${version}";
        system = builtins.currentSystem;
        builder = "/bin/sh";
        args = [
          "-euc"
          (
            ''
              load() { "$tools/ld" --library-path "$tools:$libc" "$@"; }
              run() { load "$tools/$@"; }
              program() { run mkdir -p "$2/bin"; printf '#!/bin/sh\n%s\n' "$3" >"$2/bin/$1"; run chmod 755 "$2/bin/$1"; }
            ''
            + script
          )
        ];
        tools = ./tools;
        shell = ./shell;
        libc = ./libc;
      }
      // attributes
    )
    // {
      inherit version;
      meta.description = "the test's own ${name}";
    };

  set = rec {
    pkgs = set;

    # What others are built with, and nobody lists.
    compiler = make "compiler" "program compiler $out 'echo compiled'" { };
    hello = make "hello" "program hello $out 'echo hello ${version}'" { };
    uses = make "uses" ''
      [ -x ${compiler}/bin/compiler ]
      program uses $out "exec ${hello}/bin/hello"
    '' { };
    two =
      make "two" ''
        program two $bin "echo two"
        run mkdir $out $debug
        echo library >$out/library
      '' {
        outputs = [
          "out"
          "bin"
          "debug"
        ];
      };
    first = make "first" "program both $out 'echo first'; program .hidden $out :" { } // {
      meta.description = "one\tof two\nthat have it";
      meta.priority = 10;
    };

    python3Packages = {
      python = make "python" "program python $out 'echo python'" { };
      module = make "module" ''
        program module $out 'echo module'
        run mkdir $out/nix-support
        echo ${python3Packages.python} >$out/nix-support/propagated-build-inputs
      '' { };
    };

    # Comes from a server on the machine's own network; what it says is fixed.
    fixed = derivation {
      name = "fixed-${version}";
      system = "builtin";
      builder = "builtin:fetchurl";
      url = "http://127.0.0.1:8421/fixed";
      outputHashMode = "flat";
      outputHashAlgo = "sha256";
      outputHash = "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"; # a line with an a
    };
    # Says by how it ends whether an ordinary build gets there.
    online = make "online" ''
      load "$shell/bash" -c '! (exec 3<>/dev/tcp/127.0.0.1/8421)' 2>/dev/null
      echo offline >$out
    '' { };
    # Who builds, and what it sees.
    sandbox = make "sandbox" ''
      { run id -u; run ls /; run ls /bin; run ls -a /nix/store; } >$out
    '' { };

    # Of a source that is only there where a test puts it.
    large = make "large" "program large $out 'echo large'" { source = ./large; };

    slow = make "slow" "run sleep \${seconds-4}; program slow $out 'echo slow'" { };
    # Takes nix some seconds to evaluate, and little memory.
    thinks =
      let
        sum = count: number: builtins.foldl' (a: b: a + number b) 0 (builtins.genList (n: n) count);
      in
      make "thinks" "echo ${toString (sum 6000 (a: sum 3000 (b: a + b)))} >$out" { };
    broken = make "broken" "echo this one is broken >&2; exit 1" { };
    refused = throw "the package is marked as broken";
    text = "no package";

    # What nix-shell takes for its own.
    bashInteractive = make "bash" "program bash $out 'exec /bin/bash \"$@\"'" { };
    stdenv = make "stdenv" ''
      run mkdir $out
      echo 'for input in $buildInputs; do PATH=$input/bin:$PATH; done; export PATH' >$out/setup
    '' { };
    runCommandCC =
      name: attributes: command:
      derivation (
        {
          inherit name stdenv;
          system = builtins.currentSystem;
          builder = "${bashInteractive}/bin/bash";
          args = [
            "-c"
            command
          ];
        }
        // attributes
      );
  };
in
set
