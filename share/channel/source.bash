# The tree of a pinned package set: from a directory or a tarball, held against its hash, into the store.
# Sourced by lodger-channel: runs as it does, as root for the administrator.
#
# The hash is always that of the tree as nix packs it (its nar), as nix-prefetch-url --unpack prints it,
# fetchTarball takes it and `nix-hash --type sha256` makes it of a directory: not that of the tarball's
# bytes. Of a tarball with one directory at its top it is that directory.

# shellcheck shell=bash

# Hexadecimal, whatever of nix's forms it comes in.
hash_read() {
	local hex
	if ! hex=$(nix-hash --type sha256 --to-base16 "$1" 2>/dev/null) || [[ ! $hex =~ ^[0-9a-f]{64}$ ]]; then
		die "pin: --sha256 $1: not a SHA256 in hexadecimal, in nix's base 32, or as sha256-…="
	fi
	printf '%s' "$hex"
}

# As nix writes it in sources now: sha256-…=
hash_print() {
	printf 'sha256-%s' "$(printf '%s' "${1^^}" | basenc --base16 -d | base64 -w 0)"
}

# Takes what the administrator named; sets source, as it is recorded, and type: tarball or directory.
source_read() {
	local path
	case $1 in
	http://* | https://*)
		[[ $1 =~ ^https?://[^/@[:space:]]+/[!-~]+$ ]] ||
			die "pin: $1: not an address (one with a name or password in it is not taken, since" \
				"everybody may read what is pinned)"
		source=$1 type=tarball
		return
		;;
	file://*) path=${1#file://} ;;
	*://*) die "pin: $1: a package set comes by https, http or file, or is a directory" ;;
	*) path=$1 ;;
	esac
	path=$(realpath -e -- "$path" 2>/dev/null) || die "pin: $1: no such file or directory"
	[[ $path =~ ^[A-Za-z0-9/._+:~@,=-]+$ ]] ||
		die "pin: $path: a path with other characters than letters, digits and /._+:~@,=- is not taken"
	if [[ -d $path ]]; then
		source=$path type=directory
	elif [[ -f $path ]]; then
		source=file://$path type=tarball
	else
		die "pin: $path: neither a directory nor a file"
	fi
}

# Where a tree of this hash is, or will be, in the store: by the name that fetchTarball gives it.
source_path() {
	nix-store --print-fixed-path --recursive sha256 "$1" source
}

source_refuse() {
	die "the tree of $1 is $(hash_print "$3"), and not $(hash_print "$2") as was said;" \
		"nothing is changed"
}

# Puts the tree into the store, unless it is there: out of a cache that nix is set to, or from where it
# is. Refuses one whose hash is another. It is a root from before it is there.
source_get() {
	local source=$1 type=$2 hash=$3 expected added actual
	expected=$(source_path "$hash")
	ln -sfn "$expected" "$ROOTS/source.new"
	if store_has "$expected" || tied nix-store --realise "$expected" --add-root "$work/source" >/dev/null 2>&1; then
		say "the package set is in the store, or in a cache: $expected"
	elif [[ $type == directory ]]; then
		say "reading $source"
		# Before a byte of it is stored; what is stored then is held against the hash once more.
		tied nix-hash --type sha256 "$source" >"$work/hash" || die "cannot read $source (above); nothing is changed"
		actual=$(<"$work/hash")
		[[ $actual == "$hash" ]] || source_refuse "$source" "$hash" "$actual"
		tied nix --offline store add-path --name source "$source" >"$work/added" || die "cannot store $source (above)"
		added=$(<"$work/added")
		[[ $added == "$expected" ]] || die "$source changed while it was read; nothing is changed"
	else
		say "fetching $source"
		tied nix-prefetch-url --unpack --type sha256 --name source --print-path "$source" >"$work/fetched" ||
			die "cannot fetch and unpack $source (above); nothing is changed"
		{
			read -r actual
			read -r added
		} <"$work/fetched"
		if [[ $added != "$expected" ]]; then
			nix-store --delete "$added" >/dev/null 2>&1 || true
			source_refuse "$source" "$hash" "$(nix-hash --type sha256 --to-base16 "$actual")"
		fi
	fi
	[[ -f $expected/default.nix ]] || die "$source holds no default.nix, so it is no package set; nothing is changed"
}

# What was got becomes the root that lasts.
source_keep() {
	mv -T "$ROOTS/source.new" "$ROOTS/source"
}
