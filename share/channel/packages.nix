# The starter channel's contents: which of the distribution's packages make which tree in the
# store, and under which of nixpkgs' attribute names it is found. Data only; read by build.nix.
#
# A group becomes one store path:
#   names       attribute names (python3Packages.X is also given as python3NNPackages.X)
#   debs        packages to start from; what they depend on comes along
#   more        not in a channel by default, since it takes long to fetch and to build
#   without     what its packages name as a need, and the programs and modules here do without
#   versions    the package whose version a name shows, where that is not the first of debs
#   uses        groups whose files it may use; what these hold already is left out of it
#   propagates  groups that a shell with this one gets too
#   kind        what is done after unpacking (unpack.sh, finish_KIND)
#   links       more links, name = target beside it; @lib@ in a name is the directory of shared libraries
#   moved       directories and files whose names stand in scripts, modules and settings, and are to
#               lead into the tree there
#   environment variables without which the programs look for their files at the distribution's places;
#               @out@ is the tree, @lib@ as above
{
  # Packages that apt is told to take for installed: they serve maintainer scripts only, which
  # never run here, or scripts that do without what they add to the machine's own perl.
  assumed = [
    "base-files"
    "debconf"
    "debianutils"
    "dpkg"
    "install-info"
    "libdpkg-perl"
    "liberror-perl"
    "libfile-fcntllock-perl"
    "perl"
    "texinfo"
    "ucf"
  ];

  # In every channel, whatever is asked for: the shell, and what a shell's `setup` puts on PATH.
  base = [
    "libc"
    "bash"
    "tools"
  ];

  groups = {
    libc = {
      names = [ "glibc" ];
      description = "C library and its locale data, shared by all other packages";
      debs = [
        "libc6"
        "libc-bin"
        "libgcc-s1"
      ];
      kind = "libc";
    };
    bash = {
      names = [
        "bash"
        "bashInteractive"
      ];
      description = "GNU Bourne-Again Shell";
      debs = [ "bash" ];
      uses = [ "libc" ];
      links = {
        "bin/sh" = "bash";
      };
    };
    tools = {
      names = [
        "coreutils"
        "diffutils"
        "findutils"
        "gawk"
        "gnugrep"
        "gnused"
        "gnutar"
        "gzip"
      ];
      versions = {
        diffutils = "diffutils";
        findutils = "findutils";
        gawk = "gawk";
        gnugrep = "grep";
        gnused = "sed";
        gnutar = "tar";
        gzip = "gzip";
      };
      description = "coreutils, diff, find, awk, grep, sed, tar and gzip, in one tree";
      debs = [
        "coreutils"
        "diffutils"
        "findutils"
        "gawk"
        "grep"
        "gzip"
        "sed"
        "tar"
      ];
      uses = [
        "libc"
        "bash"
      ];
      links = {
        "bin/awk" = "gawk";
      };
    };
    python3 = {
      # python39 is a name that people type; the distribution has one Python 3, and that is it.
      names = [
        "python3"
        "python39"
        "python3Packages.python"
      ];
      description = "Python, the distribution's one version of it under every python3 name";
      debs = [ "python3" ];
      uses = [ "libc" ];
      kind = "python";
      links = {
        "bin/python" = "python3";
      };
    };
    mpmath = {
      names = [ "python3Packages.mpmath" ];
      description = "floating-point arithmetic with any precision";
      debs = [ "python3-mpmath" ];
      uses = [
        "libc"
        "python3"
      ];
      propagates = [ "python3" ];
      kind = "python";
    };
    sympy = {
      names = [ "python3Packages.sympy" ];
      description = "symbolic mathematics";
      debs = [ "python3-sympy" ];
      uses = [
        "libc"
        "python3"
        "mpmath"
      ];
      propagates = [
        "python3"
        "mpmath"
      ];
      kind = "python";
    };
    gmpy2 = {
      names = [ "python3Packages.gmpy2" ];
      description = "fast integers, rationals and reals (a compiled module)";
      debs = [ "python3-gmpy2" ];
      uses = [
        "libc"
        "python3"
      ];
      propagates = [ "python3" ];
      kind = "python";
    };
    openblas = {
      names = [ "openblas" ];
      description = "BLAS and LAPACK, in one thread, since sessions count them";
      debs = [ "libopenblas0-serial" ];
      uses = [ "libc" ];
      # The distribution makes these with update-alternatives.
      links = {
        "@lib@/libblas.so.3" = "openblas-serial/libblas.so.3";
        "@lib@/liblapack.so.3" = "openblas-serial/liblapack.so.3";
        "@lib@/libopenblas.so.0" = "openblas-serial/libopenblas.so.0";
      };
    };
    numpy = {
      names = [ "python3Packages.numpy" ];
      description = "arrays of numbers";
      debs = [
        "python3-numpy"
        "libopenblas0-serial"
      ];
      uses = [
        "libc"
        "python3"
        "openblas"
      ];
      propagates = [ "python3" ];
      kind = "python";
    };
    pandas = {
      names = [ "python3Packages.pandas" ];
      description = "tables of data";
      debs = [
        "python3-pandas"
        "libopenblas0-serial"
      ];
      uses = [
        "libc"
        "python3"
        "openblas"
        "numpy"
      ];
      propagates = [
        "python3"
        "numpy"
      ];
      kind = "python";
    };
    matplotlib = {
      names = [ "python3Packages.matplotlib" ];
      description = "plots, into files";
      debs = [
        "python3-matplotlib"
        "libopenblas0-serial"
      ];
      # What is for web pages and windows, and what its module for fonts takes for other work than
      # putting them into files; with it come compilers.
      without = [
        "libjs-jquery"
        "libjs-jquery-ui"
        "python3-all"
        "python3-fs"
        "python3-lxml"
        "python3-lz4"
        "python3-pil.imagetk"
        "python3-scipy"
        "python3-sympy"
        "python3-ufolib2"
        "python3-unicodedata2"
        "unicode-data"
      ];
      uses = [
        "libc"
        "python3"
        "openblas"
        "numpy"
      ];
      propagates = [
        "python3"
        "numpy"
      ];
      kind = "python";
      moved = [
        "/usr/share/matplotlib"
        "/etc/matplotlibrc"
      ];
    };
    jq = {
      names = [ "jq" ];
      description = "JSON processor";
      debs = [ "jq" ];
      uses = [ "libc" ];
    };
    sqlite = {
      names = [ "sqlite" ];
      description = "SQL database in a file, and its shell";
      debs = [ "sqlite3" ];
      uses = [ "libc" ];
    };
    git = {
      names = [ "git" ];
      description = "version control";
      debs = [ "git" ];
      uses = [
        "libc"
        "bash"
      ];
      environment = {
        GIT_EXEC_PATH = "@out@/lib/git-core";
        GIT_TEMPLATE_DIR = "@out@/share/git-core/templates";
      };
    };
    graphviz = {
      names = [ "graphviz" ];
      description = "draws graphs: dot, neato and others";
      debs = [ "graphviz" ];
      uses = [
        "libc"
        "bash"
      ];
      kind = "graphviz";
      moved = [
        "/etc/fonts"
        "/usr/share/fonts"
        "/usr/share/fontconfig"
      ];
      environment = {
        GVBINDIR = "@out@/@lib@/graphviz";
        FONTCONFIG_FILE = "@out@/etc/fonts/fonts.conf";
      };
    };
    octave = {
      names = [ "octave" ];
      more = true;
      description = "GNU Octave, numerical computation in a language like Matlab's";
      debs = [
        "octave"
        "libopenblas0-serial"
      ];
      # What is for screens and clusters.
      without = [
        "libegl-mesa0"
        "libglx-mesa0"
        "libhwloc-plugins"
        "mpi-default-bin"
        "openmpi-bin"
        "openssh-client"
        "xkb-data"
      ];
      uses = [
        "libc"
        "bash"
        "openblas"
      ];
      # The distribution makes it with update-alternatives.
      links = {
        "@lib@/libpsm_infinipath.so.1" = "../libpsm1/libpsm_infinipath.so.1.16";
      };
      moved = [
        "/etc/fonts"
        "/usr/share/fonts"
        "/usr/share/fontconfig"
      ];
      environment = {
        OCTAVE_HOME = "@out@";
        OCTAVE_EXEC_HOME = "@out@";
        # In a home where there is nothing yet it complains that it cannot keep one.
        OCTAVE_HISTFILE = "/dev/null";
        FONTCONFIG_FILE = "@out@/etc/fonts/fonts.conf";
      };
    };
    ocaml = {
      names = [ "ocaml" ];
      more = true;
      description = "OCaml: toplevel, and compilers to bytecode and to the machine's own";
      debs = [ "ocaml-nox" ];
      uses = [
        "libc"
        "bash"
        "gcc"
      ];
      propagates = [ "gcc" ];
      kind = "ocaml";
      moved = [ "/usr/lib/ocaml" ];
      environment = {
        OCAMLLIB = "@out@/lib/ocaml";
      };
    };
    ghc = {
      names = [ "ghc" ];
      more = true;
      description = "Glasgow Haskell Compiler, its libraries, and ghci";
      debs = [ "ghc" ];
      uses = [
        "libc"
        "bash"
        "gcc"
      ];
      propagates = [ "gcc" ];
      kind = "ghc";
      moved = [
        "/usr/lib/ghc"
        "/var/lib/ghc"
        "/usr/bin"
      ];
    };
    lua = {
      names = [
        "lua"
        "lua5_4"
      ];
      description = "Lua interpreter and compiler";
      debs = [ "lua5.4" ];
      uses = [ "libc" ];
      # The distribution makes these two with update-alternatives.
      links = {
        "bin/lua" = "lua5.4";
        "bin/luac" = "luac5.4";
      };
    };
    gcc = {
      names = [ "gcc" ];
      description = "C and C++ compiler with linker, headers and start files";
      debs = [
        "gcc"
        "g++"
        "libc6-dev"
      ];
      uses = [
        "libc"
        "bash"
      ];
      kind = "gcc";
      links = {
        "bin/cc" = "gcc";
        "bin/c++" = "g++";
      };
    };
    make = {
      names = [ "gnumake" ];
      description = "GNU make";
      debs = [ "make" ];
      uses = [ "libc" ];
    };
  };
}
