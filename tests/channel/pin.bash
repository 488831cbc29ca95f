# What pin.bats runs in: "machines", which are a mount, a network and a process namespace, with an empty
# /nix and an empty state of Lodger's, and users to build as. All that runs in one ends with its first
# process. Sourced by the bats file outside and by what it runs inside.
# shellcheck shell=bash disable=SC2034,SC2154  # for those who source it; bats' own

# Seen by all machines: a copy of what is tested that every user gets to, sources, caches.
W=$BATS_FILE_TMPDIR/shared
SHARE=$W/share
TOOL=$SHARE/channel/lodger-channel
STATE=/var/lib/lodger
ROOTS=/nix/var/nix/gcroots/lodger
LINK=$STATE/channel
PIN=$STATE/pin.json
# What the first channel is of.
LISTED='first hello python3Packages.module two uses'
# Outside of all ranges that anything else here uses.
BUILDERS=(1879310001 1879310002)

# shellcheck source=tests/lib/until.bash
. "$BATS_TEST_DIRNAME/../lib/until.bash"
# shellcheck source=tests/lib/said.bash
. "$BATS_TEST_DIRNAME/../lib/said.bash"
# shellcheck source=tests/channel/set.bash
. "$BATS_TEST_DIRNAME/set.bash"

# machine_make NAME: starts it, with the store and state of the file's first one if there is a copy.
machine_make() {
	local directory=$BATS_TEST_TMPDIR/$1
	mkdir -p "$directory"
	# shellcheck disable=SC2016  # for the other shell
	BATS_TEST_DIRNAME=$BATS_TEST_DIRNAME BATS_FILE_TMPDIR=$BATS_FILE_TMPDIR D=$directory \
		unshare --mount --net --pid --fork --kill-child --mount-proc bash -c '. "$BATS_TEST_DIRNAME/pin.bash"
		set -e; inside_make; : >"$D/ready"; exec sleep infinity' >"$directory/log" 2>&1 3>&- 4>&- &
	echo $! >"$directory/unshare"
	until_true 20 test -e "$directory/ready" || {
		cat "$directory/log"
		return 1
	}
	pgrep -P "$(cat "$directory/unshare")" >"$directory/first"
}

machines_end() {
	local first
	for first in "$BATS_TEST_TMPDIR"/*/first; do
		[ ! -e "$first" ] || kill -9 "$(cat "$first")"
	done
}

# on NAME SCRIPT: runs it with bash in the machine, with everything that is defined here.
on() {
	# shellcheck disable=SC2016  # for the other shell
	timeout $((20 * ${PATIENCE:-10})) nsenter --target "$(cat "$BATS_TEST_TMPDIR/$1/first")" --mount --net --pid \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TMPDIR=/var/tmp \
		BATS_TEST_DIRNAME="$BATS_TEST_DIRNAME" BATS_FILE_TMPDIR="$BATS_FILE_TMPDIR" \
		T="$BATS_TEST_TMPDIR" PATIENCE="${PATIENCE-}" bash -c '. "$BATS_TEST_DIRNAME/pin.bash"; set -e; '"$2" 3>&- 4>&-
}

# What each bats file does with it, outside.

setup_file() {
	[ "$EUID" = 0 ] || {
		echo "must run as root" >&2
		return 1
	}
	local directory BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR/file
	for directory in /nix "$STATE"; do
		[ -d "$directory" ] || mkdir "$directory"
	done
	# Builds run as other users below here.
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR/file"
	mkdir -p "$W/www"
	cp -r "$BATS_TEST_DIRNAME/../../share" "$W/share"
	set_make "$W/set" 1.0
	machine_make first
	on first "\$TOOL pin \$W/set --sha256 \"\$(sum \"\$W/set\")\" && \$TOOL add $LISTED && \$TOOL build" >&2 3>&-
	# shellcheck disable=SC2016  # for the other shell
	on first 'tar -c -f "$BATS_FILE_TMPDIR/built.tar" -C / nix "${STATE#/}"'
	machines_end
}

teardown_file() {
	rmdir "$STATE" /nix 2>/dev/null || true
}

setup() {
	T=$BATS_TEST_TMPDIR
	chmod 711 "$T" "$(dirname "$T")"
}

teardown() {
	machines_end
}

# works MACHINE SCRIPT, fails MACHINE SCRIPT: runs it there; fails, showing what it said, unless it ends with
# 0, or with 1.
works() {
	run on "$@"
	exits 0
}

fails() {
	run on "$@"
	exits 1
}

# What the following are for is inside.

inside_make() {
	local uid
	mount -t tmpfs tmpfs /run
	mount -t tmpfs tmpfs /var/tmp
	mount -t tmpfs tmpfs /nix
	mount -t tmpfs tmpfs "$STATE"
	cp /etc/passwd /etc/group "$D"
	# Whoever builds on this machine otherwise does not here: nix ends all that its users run.
	sed -i '/^nixbld/d; /^lodger-build/d' "$D/passwd" "$D/group"
	for uid in "${BUILDERS[@]}"; do
		echo "builder$uid:x:$uid:65534::/:/usr/sbin/nologin" >>"$D/passwd"
	done
	echo "nixbld:x:${BUILDERS[0]}:$(printf 'builder%s,' "${BUILDERS[@]}" | sed 's/,$//')" >>"$D/group"
	mount --bind "$D/passwd" /etc/passwd
	mount --bind "$D/group" /etc/group
	ip link set lo up
	if [ -z "${EMPTY-}" ] && [ -e "$BATS_FILE_TMPDIR/built.tar" ]; then
		tar -x -f "$BATS_FILE_TMPDIR/built.tar" -C /
	fi
}

# The store, as an administrator asks it.
store() {
	env -i PATH=/usr/bin:/bin HOME=/ TMPDIR=/var/tmp NIX_REMOTE=local NIX_CONF_DIR=/nix NIX_USER_CONF_FILES=/dev/null \
		NIX_CONFIG='build-users-group =' "$@"
}

# daemon_start [SED]: starts the daemon of sessions, with that script over its nix.conf; sets DAEMON to
# its pid.
daemon_start() {
	mkdir -p "$T/conf"
	sed "s|@LIBEXEC@|$SHARE/nix|" "$SHARE/nix/nix.conf" | sed "${1-}" >"$T/conf/nix.conf"
	sed "s|^readonly CONFIG=.*|readonly CONFIG=$T/conf|" "$SHARE/nix/lodger-nix-daemon" >"$SHARE/nix/daemon-$$"
	chmod 755 "$SHARE/nix/daemon-$$"
	local capabilities
	# With no more capabilities than its unit leaves it.
	capabilities=$(sed -n 's/^CapabilityBoundingSet=//p' "$SHARE/systemd/lodger-nix-daemon.service" |
		tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
	setpriv --bounding-set="-all,$capabilities" --inh-caps=-all --no-new-privs \
		"$SHARE/nix/daemon-$$" >"$T/daemon.log" 2>&1 8>&- &
	DAEMON=$!
	until_true 10 eval '[ -S /run/lodger/packages/daemon/socket ]'
	cat "$T/daemon.log"
}

daemon_end() {
	kill "$DAEMON"
	wait "$DAEMON" || true
	rm -r /run/lodger/packages
}

# session COMMAND…: as the gate, which alone reaches the daemon, for a session.
session() {
	mkdir -p "$T/socket"
	[ -d "$T/home" ] || install -d -o lodger-gate -g lodger-gate "$T/home"
	T=$T unshare --mount bash -c 'mount --bind /run/lodger/packages/daemon "$T/socket" && cd "$T/home" || exit 99
		exec setpriv --reuid=lodger-gate --regid=lodger-gate --clear-groups --no-new-privs \
			env -i PATH=/usr/bin:/bin HOME="$T/home" LANG=C.UTF-8 NIX_REMOTE=daemon \
			NIX_DAEMON_SOCKET_PATH="$T/socket/socket" NIX_PATH=nixpkgs="$(readlink /var/lib/lodger/channel)" "$@"' - "$@"
}

# tree ATTRIBUTE, drv ATTRIBUTE: of the channel in use.
tree() {
	awk -F '\t' -v name="$1" '$1 == name { print $3 }' "$LINK/packages.tsv"
}

drv() {
	awk -F '\t' -v name="$1" '$1 == name { print $4 }' "$LINK/packages.tsv"
}

serve() {
	printf 'a\n' >"$W/www/fixed"
	(cd "$W/www" && exec python3 -m http.server --bind 127.0.0.1 8421) >"$T/served" 2>&1 &
	SERVER=$!
	until_true 10 eval '(exec 9<>/dev/tcp/127.0.0.1/8421) 2>/dev/null'
}
