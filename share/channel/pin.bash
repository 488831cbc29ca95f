# What is pinned: the source, the attributes that are listed, the caches. Written at once, and for the
# next `build`; a channel in use is of what was pinned when it was built.
# Sourced by lodger-channel: runs as it does, as root for the administrator.

# shellcheck shell=bash

# Nix as a pinned set's packages are built and fetched: of other machines' builds only what is signed by
# a key that was pinned, and no build but in nix's sandbox, as one of the build users, with the shell that
# nixpkgs counts on and nothing else of this machine. Without a group nothing is built at all.
nix_setup_pin() {
	local caches=$1 group=$2 jobs=auto
	# An empty one would have builds run as root.
	[[ $group ]] || jobs=0
	nix_setup
	# What nixpkgs would heed beside its arguments.
	unset "${!NIXPKGS_@}"
	NIX_CONFIG="build-users-group = $group
$(caches_settings "$caches")
require-sigs = true
sandbox = true
sandbox-fallback = false
builders =
max-jobs = $jobs
experimental-features = nix-command"
}

# The group whose members the builds run as.
build_group() {
	local program=$LODGER_SHARE/nix/lodger-build-group
	[[ -x $program ]] || program=$LODGER_LIBEXEC/lodger-build-group
	"$program" || die "there are no users to build as: neither of the groups nixbld and lodger-build has" \
		"members; installing Lodger again makes the latter"
}

# The settings that the channel's own daemon has in common with this program, from the caches as JSON.
caches_settings() {
	printf 'substituters = %s\n' "$(jq -r 'map(.url) | unique | join(" ")' <<<"$1")"
	printf 'trusted-public-keys = %s\n' "$(jq -r 'map(.key) | unique | join(" ")' <<<"$1")"
	printf 'sandbox-paths = %s\n' "$(sandbox_paths)"
}

# /bin/sh as nixpkgs counts on it: a static busybox, if there is one, or the machine's shell with its
# libraries. The links are followed here, since nix would only copy them.
sandbox_paths() {
	local shell=/bin/sh line
	if [[ -x /bin/busybox ]] && ! ldd /bin/busybox >/dev/null 2>&1; then
		shell=/bin/busybox
	fi
	printf '/bin/sh=%s' "$(realpath "$shell")"
	[[ $shell == /bin/sh ]] || return 0
	LC_ALL=C ldd "$shell" | while read -r line; do
		[[ $line =~ (^|\ )(/[^ ]+)\ \( ]] || continue
		printf ' %s=%s' "${BASH_REMATCH[2]}" "$(realpath "${BASH_REMATCH[2]}")"
	done
}

cache_check() {
	local url=$1 key=$2
	[[ $url =~ ^(https?://[A-Za-z0-9.:_-]+(/[A-Za-z0-9/._+:~@=-]*)?|file:///[A-Za-z0-9/._+:~@=-]+)$ ]] ||
		die "pin: --cache $url: not an http, https or file:/// address of plain characters" \
			"(one with a name or password in it is not taken, since everybody may read what is pinned)"
	[[ $key =~ ^[A-Za-z0-9._-]+:[A-Za-z0-9+/]{43}=$ ]] ||
		die "pin: --key $key: not a public key of a cache, as NAME:… in base 64"
}

# Writes what is pinned.
pin_write() {
	jq . >"$PIN.new"
	mv -T "$PIN.new" "$PIN"
}

# Checks that there is something pinned, and sets what it says: source, type, hash (hexadecimal), path,
# caches (JSON) and listed.
pin_read() {
	[[ -e $PIN ]] || die "$1: nothing is pinned yet; see: lodger-channel pin"
	jq -e '.source and .type and .hash and .path and .attributes and .caches' "$PIN" >/dev/null ||
		die "$1: $PIN is not as lodger-channel pin writes it; pin again"
	source=$(jq -r .source "$PIN")
	type=$(jq -r .type "$PIN")
	hash=$(jq -r .hash "$PIN")
	path=$(jq -r .path "$PIN")
	caches=$(jq -c .caches "$PIN")
	mapfile -t listed < <(jq -r '.attributes[]' "$PIN")
}

# Gets the pinned source back if it is gone.
pin_source() {
	store_has "$path" && [[ $(readlink "$ROOTS/source") == "$path" ]] && return
	source_get "$source" "$type" "$hash"
	source_keep
}

# As JSON, sorted, each once.
names_json() {
	printf '%s\n' "$@" | jq -Rcn '[inputs | select(. != "")] | unique'
}

pin() {
	local source='' type='' hash path caches='' cache='' wanted=() names='' given='' said='' group=''
	while [[ $# -gt 0 ]]; do
		[[ $1 == --no-cache || $1 != --* || $# -gt 1 ]] || die "pin: $1 needs a value"
		case $1 in
		--sha256) said=$2 && shift 2 ;;
		--attr)
			attribute_check pin "$2"
			wanted+=("$2")
			shift 2
			;;
		--cache)
			[[ ${3-} == --key && $# -gt 3 ]] || die "pin: --cache URL is followed by --key PUBLICKEY"
			cache_check "$2" "$4"
			cache+=$(jq -cn --arg url "${2%/}" --arg key "$4" '{url: $url, key: $key}')
			shift 4
			;;
		--no-cache) caches='[]' && shift ;;
		-*) die "pin: unknown option $1; see: lodger-channel help" ;;
		*)
			[[ -z $given ]] || die "pin: one source only; see: lodger-channel help"
			given=$1
			shift
			;;
		esac
	done
	[[ -n $given ]] || die "pin: which package set? an address of a tarball, or a directory"
	[[ -n $said ]] || die "pin: --sha256 is needed; nix-prefetch-url --unpack prints a tarball's," \
		"nix-hash --type sha256 a directory's"
	need_root pin
	need_programs nix nix-store nix-hash nix-prefetch-url nix-instantiate flock jq
	nix_setup
	work_begin
	trap 'rm -rf "$work" "$ROOTS/source.new"' EXIT
	hash=$(hash_read "$said")
	source_read "$given"
	# What is not said stays as it was pinned before.
	[[ -z $cache ]] || caches=$(jq -cs . <<<"$cache")
	[[ -n $caches || ! -e $PIN ]] || caches=$(jq -c .caches "$PIN")
	[[ -n $caches ]] || caches='[]'
	[[ ${#wanted[@]} == 0 ]] || group=$(build_group)
	nix_setup_pin "$caches" "$group"
	source_get "$source" "$type" "$hash"
	path=$(source_path "$hash")
	if [[ ${#wanted[@]} -gt 0 ]]; then
		attributes_evaluate pin "${wanted[@]}"
		names=$(names_json "${wanted[@]}")
	elif [[ -e $PIN ]]; then
		names=$(jq -c .attributes "$PIN")
	fi
	source_keep
	jq -n --arg source "$source" --arg type "$type" --arg hash "$hash" --arg sri "$(hash_print "$hash")" \
		--arg path "$path" --argjson attributes "${names:-[]}" --argjson caches "$caches" \
		'{source: $source, type: $type, hash: $hash, sha256: $sri, path: $path,
		  attributes: $attributes, caches: $caches}' | pin_write
	pin_done 'pinned'
}

# Says what is pinned now, and what makes a channel of it.
pin_done() {
	printf '%s:\n' "$1"
	pin_print "$PIN" | sed 's/^/  /'
	printf 'sessions have the channel that is in use until: lodger-channel build\n'
}

# For `add` and `remove`, which change the list alone.
pin_change_begin() {
	local command=$1 attribute
	shift
	[[ $# -gt 0 ]] || die "$command: which attributes?"
	for attribute; do
		attribute_check "$command" "$attribute"
	done
	need_root "$command"
	need_programs nix nix-store nix-hash nix-prefetch-url nix-instantiate flock jq
	nix_setup
	work_begin
	trap 'rm -rf "$work" "$ROOTS/source.new"' EXIT
	pin_read "$command"
}

add() {
	local source type hash path caches listed group
	pin_change_begin add "$@"
	group=$(build_group)
	nix_setup_pin "$caches" "$group"
	pin_source
	attributes_evaluate add "$@"
	jq --argjson names "$(names_json "${listed[@]}" "$@")" '.attributes = $names' "$PIN" | pin_write
	pin_done 'listed'
}

remove() {
	local source type hash path caches listed attribute
	pin_change_begin remove "$@"
	for attribute; do
		[[ " ${listed[*]} " == *" $attribute "* ]] ||
			die "remove: $attribute is not listed; nothing is changed. Listed are: ${listed[*]:-none}"
	done
	jq --argjson names "$(names_json "$@")" '.attributes -= $names' "$PIN" | pin_write
	pin_done 'listed'
}
