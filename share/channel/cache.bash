# Gives the channel in use to other machines: as a binary cache in a directory, signed.
# Sourced by lodger-channel: runs as it does, as root for the administrator.

# shellcheck shell=bash

# Makes this machine's own key, once.
cache_key_make() {
	[[ ! -e $KEY ]] || return 0
	(
		umask 077
		nix-store --generate-binary-cache-key "$(uname -n | tr -cd 'A-Za-z0-9.-')-1" "$KEY.new" "$work/public"
		mv -T "$KEY.new" "$KEY"
	)
	say "made a key to sign with: $KEY; whoever has it can make packages that other machines trust"
}

cache() {
	local directory='' secret='' public channel count unsigned path
	while [[ $# -gt 0 ]]; do
		case $1 in
		--secret-key)
			[[ $# -gt 1 ]] || die "cache: --secret-key needs a file"
			secret=$(realpath -e -- "$2" 2>/dev/null) || die "cache: $2: no such file"
			shift 2
			;;
		-*) die "cache: unknown option $1; see: lodger-channel help" ;;
		*)
			[[ -z $directory ]] || die "cache: one directory only"
			directory=$1
			shift
			;;
		esac
	done
	[[ -n $directory ]] || die "cache: into which directory?"
	need_root cache
	need_programs nix nix-store flock jq setpriv
	nix_setup
	work_begin
	mkdir -p -- "$directory"
	directory=$(realpath -e -- "$directory")
	[[ $directory$secret =~ ^[A-Za-z0-9/._+:~@=-]+$ ]] ||
		die "cache: a path with other characters than letters, digits and /._+:~@=- is not taken"
	channel=$(channel_current)
	[[ -n $channel ]] || die "cache: no channel yet"
	store_has "$channel" || die "cache: $channel is not in the store; see: lodger-channel status"
	if [[ -z $secret ]]; then
		cache_key_make
		secret=$KEY
	fi
	public=$(nix key convert-secret-to-public <"$secret") || die "cache: $secret is not a key to sign with"

	count=$(nix-store --query --requisites "$channel" | wc -l)
	say "copying what is not there yet of $count paths to $directory"
	# As `tied` has it.
	setpriv --pdeathsig KILL nix copy --log-format internal-json \
		--to "file://$directory?secret-key=$secret&compression=zstd" "$channel" 2>&1 |
		progress -1 "$count" || die "cache: copying failed (above)"
	# nix leaves alone what was there already, by whomever it was signed.
	unsigned=$(nix-store --query --requisites "$channel" | while IFS= read -r path; do
		path=${path#/nix/store/}
		grep -q "^Sig: ${public%%:*}:" "$directory/${path%%-*}.narinfo" || printf '%s\n' "$path"
	done)
	[[ -z $unsigned ]] || die "cache: $directory has $(wc -l <<<"$unsigned") of the paths without a signature of" \
		"${public%%:*}, from before; take an empty directory"
	printf '%s paths in %s, signed as %s\n' "$count" "$directory" "$public"
	[[ $(channel_kind "$channel") != pin ]] || cache_advise "$directory" "$public" "$channel/lock.json"
}

cache_advise() {
	printf 'on another machine that has this directory:\n'
	jq -r --arg directory "$1" --arg key "$2" '
		"  lodger-channel pin \(.source) --sha256 \(.sha256) \\",
		"    --cache file://\($directory) --key \($key)"
		+ (.attributes | map(" \\\n    --attr " + .) | add // ""),
		"  lodger-channel build"' "$3"
}
