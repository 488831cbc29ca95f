# A derivation that the host's own programs build: those of bash and of what is in /usr/bin. For what
# this machine's administrator makes of packages, not for packages of a pinned set.
name: script: attributes:
derivation (
  {
    inherit name;
    system = builtins.currentSystem;
    builder = "/bin/bash";
    args = [
      "-euo"
      "pipefail"
      "-c"
      # The shell has to be the last to go: it would become its last command, and nix takes a
      # builder that closes its output before it ends, as coreutils do, for one to be killed.
      (builtins.readFile script + "exit 0\n")
    ];
    PATH = "/usr/bin:/bin";
    LC_ALL = "C.UTF-8";
  }
  // attributes
)
