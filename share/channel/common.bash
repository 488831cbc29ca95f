# What the pieces of lodger-channel share: words, needs, nix's settings, links.
# Sourced by lodger-channel: runs as it does, as root for the administrator.

# shellcheck shell=bash

say() {
	printf 'lodger-channel: %s\n' "$*" >&2
}

die() {
	say "$*"
	exit 1
}

need_root() {
	[[ $EUID == 0 ]] || die "$1: must run as root (the store and $STATE are root's)"
}

need_programs() {
	local program missing=()
	for program in "$@"; do
		type -P "$program" >/dev/null || missing+=("$program")
	done
	[[ ${#missing[@]} == 0 ]] ||
		die "not installed: ${missing[*]}; try: apt-get install nix-bin patchelf sqlite3 jq"
}

# Begins what only one may do at a time. Sets `work`, an empty directory that goes with the process, or, if
# that is killed, with the next one; nix builds below it, too.
work_begin() {
	mkdir -p "$STATE" "$ROOTS"
	exec {lock}>"$STATE/channel.lock"
	flock -n "$lock" || die "another lodger-channel is at work (it holds $STATE/channel.lock)"
	work=$STATE/work
	rm -rf "$work"
	mkdir -m 711 "$work"
	export HOME=$work TMPDIR=$work
	trap 'rm -rf "$work"' EXIT
}

# Everything that this program asks of nix goes through the local store with these settings alone.
#
# build-users-group is empty: the builds run as root. They are this program's own, of packages that
# the distribution signed and whose checksums are pinned; they need no separate user, and a machine
# without Debian's nix-setup-systemd has none. Where the kernel allows it they are sandboxed all the
# same. Nothing is substituted: no other machine's builds come in.
nix_setup() {
	unset NIX_PATH NIX_STORE_DIR NIX_STATE_DIR NIX_LOG_DIR NIX_DAEMON_SOCKET_PATH
	export NIX_REMOTE=local NIX_CONF_DIR=$DATA NIX_USER_CONF_FILES=/dev/null
	export NIX_CONFIG="build-users-group =
substituters =
sandbox = true
sandbox-fallback = true
sandbox-paths = /bin /usr /lib /lib64?
max-jobs = auto
experimental-features = nix-command"
}

# Runs what may take long. It does not outlive this process, by whatever that ends, and so neither does
# its hold on the lock; hence no subshell may be in between, which would be what it depends on.
tied() {
	setpriv --pdeathsig KILL "$@"
}

store_has() {
	nix-store --check-validity "$@" 2>/dev/null
}

# Puts a link in place at once: whoever looks sees the old target or the new one.
link_switch() {
	local target=$1 link=$2
	ln -sfn "$target" "$link.new"
	mv -T "$link.new" "$link"
}
