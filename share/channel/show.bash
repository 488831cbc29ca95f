# What an administrator gets to see of channels.
# Sourced by lodger-channel: runs as it does, as root for the administrator.

# shellcheck shell=bash

# Prints what a channel is and how much it takes up.
channel_summary() {
	local channel=$1 packages all
	packages=$(cut -f 3 "$channel/packages.tsv" | sort -u | wc -l)
	all=$(nix-store --query --requisites "$channel" | xargs nix-store --query --size |
		awk '{ sum += $1 } END { printf "%d MB", sum / 1000000 }')
	printf '%s\n' "$channel"
	printf '%s packages under %s names, made from %s packages of %s; %s in the store\n' \
		"$packages" "$(wc -l <"$channel/packages.tsv")" "$(grep -c '"sha256":' "$channel/lock.json")" \
		"$(sed -n 's/^"distribution": "\(.*\)",$/\1/p' "$channel/lock.json")" "$all"
}

list() {
	local channel
	channel=$(channel_current)
	[[ -n $channel ]] || die "list: no channel yet; as root: lodger-channel starter"
	# Columns: attribute name, version, description.
	cut -f 1,2,5 "$channel/packages.tsv" | column -t -s $'\t'
}

status() {
	local channel
	need_root status
	need_programs nix-store
	nix_setup
	channel=$(channel_current)
	[[ -n $channel ]] || die "status: no channel yet; run: lodger-channel starter"
	nix-store --check-validity "$channel" 2>/dev/null ||
		die "status: $LINK leads to $channel, which is not in the store; run: lodger-channel starter"
	[[ $(readlink "$ROOTS/${channel##*/}") == "$channel" ]] ||
		die "status: $channel is not protected from garbage collection; run: lodger-channel starter"
	printf 'in use: '
	channel_summary "$channel"
}
