# Which channel is in use, and how another comes in its place.
# Sourced by lodger-channel: runs as it does, as root for the administrator.

# shellcheck shell=bash

# The channel's store path; empty if there is no channel.
channel_current() {
	readlink "$LINK" || true
}

# The channel before the one that is given: the root that was made last, but for that.
channel_previous() {
	local current=$1 root
	while IFS= read -r root; do
		[[ /nix/store/$root == "$current" ]] || {
			printf '/nix/store/%s\n' "$root"
			return
		}
	done < <(find "$ROOTS" -mindepth 1 -maxdepth 1 -name '*-lodger-channel' -printf '%T@ %f\n' 2>/dev/null |
		sort -rn | cut -d ' ' -f 2)
}

# starter, or pin.
channel_kind() {
	jq -r '.kind // "starter"' "$1/lock.json"
}

# Makes a store path the channel in use. First it is made a root, then the link is switched, then
# the roots of all but this one and the one before are given up: sessions that are still running
# use the latter.
#
# The daemon's settings are part of the channel, so that they are switched with it.
channel_use() {
	local channel=$1 old=$2 root
	# Also so that it is the last one made but for the new one.
	[[ -z $old || ! -L $ROOTS/${old##*/} ]] || link_switch "$old" "$ROOTS/${old##*/}"
	link_switch "$channel" "$ROOTS/${channel##*/}"
	link_switch "$channel" "$LINK"
	[[ $(readlink "$SETTINGS") == "${LINK##*/}/nix.conf" ]] ||
		link_switch "${LINK##*/}/nix.conf" "$SETTINGS"
	for root in "$ROOTS"/*-lodger-channel; do
		case /nix/store/${root##*/} in
		"$channel" | "$old") ;;
		*) rm "$root" ;;
		esac
	done
	settings_tell "$channel" "$old"
}

# Puts a channel that has just been made into use, unless it is that already, and says which it is.
channel_adopt() {
	local channel=$1 old
	old=$(channel_current)
	if [[ $channel == "$old" && -L $ROOTS/${channel##*/} ]]; then
		printf 'unchanged: '
	else
		channel_use "$channel" "$old"
		printf 'new: '
	fi
	channel_summary "$channel"
}

# What of a channel a running daemon does not notice by itself: its settings, and whether it is one of
# whose packages anything may be built.
settings_of() {
	[[ ! -s $1/closure ]] || printf 'builds\n'
	[[ ! -e $1/nix.conf ]] || cat "$1/nix.conf"
}

# Has a running daemon of sessions take the settings of another channel.
settings_tell() {
	local channel=$1 old=$2 restart='systemctl try-restart lodger-nix-daemon.service'
	[[ $(settings_of "$channel") != "$(settings_of "$old")" ]] || return 0
	if [[ -d /run/systemd/system ]]; then
		say "the package daemon starts anew, with this channel's settings"
		$restart || say "that failed; until it is done, sessions' packages are fetched and built as" \
			"the channel before said: $restart"
	elif [[ -e $DAEMON_LOCK ]] && ! flock -n "$DAEMON_LOCK" true; then
		say "the package daemon runs with the settings of the channel before; end it, and start" \
			"$LODGER_LIBEXEC/lodger-nix-daemon again"
	fi
}

rollback() {
	local channel previous
	[[ $# == 0 ]] || die "rollback: takes no arguments"
	need_root rollback
	need_programs nix-store flock jq
	nix_setup
	work_begin
	channel=$(channel_current)
	[[ -n $channel ]] || die "rollback: no channel yet"
	previous=$(channel_previous "$channel")
	[[ -n $previous ]] || die "rollback: there is no channel before $channel; nothing is changed"
	store_has "$previous" ||
		die "rollback: the channel before, $previous, is no longer in the store; nothing is changed"
	channel_use "$previous" "$channel"
	printf 'in use again: '
	channel_summary "$previous"
	printf 'before: %s (%s); another rollback leads back to it\n' "$channel" "$(channel_kind "$channel" || true)"
}
