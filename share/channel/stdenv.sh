# Builder of stdenv: setup.sh with the places filled in. Runs in a nix build, from build.nix.

# shellcheck shell=bash disable=SC2154  # nix gives the variables
mkdir "$out"
gconv=("$libc"/lib/*/gconv)
# Store paths hold none of sed's special characters, nor a bar.
sed -e "s|@initialPath@|$initialPath|" -e "s|@libc@|$libc|" -e "s|@gconv@|${gconv[0]}|" \
	"$setupPath" >"$out/setup"
