# Which channel is in use, and how another comes in its place.
# Sourced by lodger-channel: runs as it does, as root for the administrator.

# shellcheck shell=bash

# The channel's store path; empty if there is no channel.
channel_current() {
	readlink "$LINK" || true
}

# Makes a store path the channel in use. First it is made a root, then the link is switched, then
# the roots of all but this one and the one before are given up: sessions that are still running
# use the latter.
channel_use() {
	local channel=$1 old=$2 root
	link_switch "$channel" "$ROOTS/${channel##*/}"
	link_switch "$channel" "$LINK"
	for root in "$ROOTS"/*-lodger-channel; do
		case /nix/store/${root##*/} in
		"$channel" | "$old") ;;
		*) rm "$root" ;;
		esac
	done
}
