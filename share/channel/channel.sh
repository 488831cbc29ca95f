# Builder of the channel itself: the files that a session's <nixpkgs> consists of. Runs in a nix
# build, from build.nix.

# shellcheck shell=bash disable=SC2154  # nix gives the variables
mkdir "$out"
cp "$defaultPath" "$out/default.nix"
sort "$packagesPath" >"$out/packages.tsv"
cp "$lockPath" "$out/lock.json"
