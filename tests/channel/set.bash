# The package set of the tests, in set/, to be pinned. Sourced by whoever pins it.
# shellcheck shell=bash

# set_make DIRECTORY VERSION: a package set. Its programs and their libraries are three sources, each of which is
# smaller than what a session may add to the store at once (client/gate).
set_make() {
	local program library into
	mkdir -p "$1"
	cp -r "$(dirname "${BASH_SOURCE[0]}")/set/." "$1"
	printf %s "$2" >"$1/version"
	mkdir -p "$1/tools" "$1/shell" "$1/libc"
	for program in bash chmod id ls mkdir sleep; do
		into=$1/tools
		[ "$program" != bash ] || into=$1/shell
		cp -L "$(type -P "$program")" "$into/$program"
		for library in $(ldd "$into/$program" | grep -o ' /[^ ]*'); do
			case ${library##*/} in
			libc.so.*) cp -L "$library" "$1/libc/" ;;
			*) cp -L "$library" "$1/tools/" ;;
			esac
		done
	done
	cp -L /lib64/ld-linux-x86-64.so.2 "$1/tools/ld"
}

# sum DIRECTORY: its hash, as the administrator asks nix for it.
sum() {
	nix-hash --type sha256 --base32 "$1"
}
