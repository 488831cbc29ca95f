# What gate.bats runs in: a mount, a network and a process namespace of its own, in which /nix and /run/lodger are
# empty file systems, a nix-daemon of this machine's runs as root, and lodger-gate in front of it as
# nobody in particular. Clients are uids of the session range, without an installed Lodger.
# Sourced by the bats file outside and by what it runs inside.
# shellcheck shell=bash disable=SC2034  # variables for what is run inside

GATE_UID=1879179264 # above the session range
BASE=$((0x70000000))
SHARE=$BATS_TEST_DIRNAME/../../share
# Of the file: W has the sockets, the logs, the clients' homes.
W=$BATS_FILE_TMPDIR/gate
RAW=$W/raw

# shellcheck source=tests/lib/listener.bash
. "$BATS_TEST_DIRNAME/../lib/listener.bash"
# shellcheck source=tests/lib/said.bash
. "$BATS_TEST_DIRNAME/../lib/said.bash"

# inside SCRIPT: runs it with bash in the namespaces, with everything that is defined here.
inside() {
	# shellcheck disable=SC2016  # for the other shell
	timeout 200 nsenter --target "$(cat "$W/namespace")" --mount --net --pid \
		env BATS_TEST_DIRNAME="$BATS_TEST_DIRNAME" BATS_FILE_TMPDIR="$BATS_FILE_TMPDIR" \
		T="$BATS_TEST_TMPDIR" N="$N" PATIENCE="${PATIENCE-}" bash -c '. "$BATS_TEST_DIRNAME/gate.bash"; set -e; '"$1" 3>&- 4>&-
}

# What the following are for is inside.

daemon_start() {
	# As sessions' daemon is meant to be, but that it would build: what refuses here is the gate alone.
	sed -e '/^build-users-group/d' -e '/^pre-build-hook/d' -e '/^allowed-users/d' "$SHARE/nix/nix.conf" >"$W/conf/nix.conf"
	printf '%s\n' 'build-users-group =' 'allowed-users = *' "substituters = file://$W/cache" \
		"trusted-public-keys = $(cat "$W/key.public")" >>"$W/conf/nix.conf"
	env -i PATH=/usr/bin:/bin HOME=/ NIX_CONF_DIR="$W/conf" NIX_USER_CONF_FILES=/dev/null \
		NIX_DAEMON_SOCKET_PATH="$W/daemon/socket" nix-daemon >>"$W/daemon.log" 2>&1 7>&- &
	echo $! >"$W/daemon.pid"
	until_true 10 test -S "$W/daemon/socket"
}

daemon_end() {
	kill "$(cat "$W/daemon.pid")"
	until_true 10 not_there "$(cat "$W/daemon.pid")"
	rm -f "$W/daemon/socket"
}

not_there() {
	! kill -0 "$1" 2>/dev/null
}

UNPRIVILEGED=(setpriv --reuid="$GATE_UID" --regid="$GATE_UID" --clear-groups --inh-caps=-all --bounding-set=-all)

# gate_start NAME [OPTION…]: a gate of the name, with a socket, a log and a pid file in $W/NAME.
gate_start() {
	local name=$1
	shift
	install -d -o "$GATE_UID" -m 755 "$W/$name"
	"${UNPRIVILEGED[@]}" "$W/lodger-gate" --listen "$W/$name/socket" --daemon "$W/daemon/socket" "$@" \
		>>"$W/$name/log" 2>&1 &
	echo $! >"$W/$name/pid"
	until_true 10 test -S "$W/$name/socket"
}

gate_end() {
	kill "$(cat "$W/$1/pid")"
	until_true 10 not_there "$(cat "$W/$1/pid")"
}

# session N COMMAND…: as the uid of that session, in its home, through the gate, or as SOCKET says.
session() {
	local uid=$((BASE + $1)) home=$W/home/$1
	shift
	[ -d "$home" ] || install -d -o "$uid" -g "$uid" -m 700 "$home"
	# Directly, so that the background has the pid of the command.
	cd "$home" && exec setpriv --reuid="$uid" --regid="$uid" --clear-groups --no-new-privs \
		env -i PATH=/usr/bin:/bin HOME="$home" TMPDIR="$home" LANG=C.UTF-8 TERM=dumb \
		NIX_CONF_DIR="$W/conf.client" NIX_REMOTE=daemon \
		NIX_DAEMON_SOCKET_PATH="${SOCKET:-$W/gate/socket}" "$@"
}

# lodger COMMAND…: the same as this test's session, N.
lodger() {
	(session "$N" "$@")
}

# around COMMAND…: the same past the gate, for controls: as another session, at the daemon itself.
around() {
	(SOCKET=$W/daemon/socket session 60000 "$@")
}

raw() {
	lodger "$RAW" "${SOCKET:-$W/gate/socket}" "$@"
}

raw_around() {
	around "$RAW" "$W/daemon/socket" "$@"
}

# admin COMMAND…: as root, on the store itself.
admin() {
	env -i PATH=/usr/bin:/bin HOME=/ NIX_CONF_DIR="$W/conf" NIX_USER_CONF_FILES=/dev/null NIX_REMOTE=local "$@"
}

# expression NAME [SHELL]: a file with a derivation that makes a file by a shell command.
expression() {
	cat >"$W/files/$1.nix" <<-END
		derivation {
		  name = "$1"; system = builtins.currentSystem; outputs = [ ${3:-\"out\"} ];
		  builder = "/bin/sh"; args = [ "-c" ''${2:-echo $1 >\$out}'' ];
		}
	END
	echo "$W/files/$1.nix"
}

# drv FILE: its derivation's path, as the administrator instantiates it.
drv() {
	admin nix-instantiate "$1" 2>/dev/null
}

# out FILE [OUTPUT]: where its output would be.
out() {
	admin nix-store --query --binding "${2:-out}" "$(drv "$1")"
}

# Standard input in hex, as raw takes it.
hex() {
	od -An -v -tx1 | tr -d ' \n'
}

workers() {
	pgrep -c -P "$(cat "$W/${1:-gate}/pid")" || true
}

no_child_of_daemon() {
	! pgrep -P "$(cat "$W/daemon.pid")" >/dev/null
}

workers_are() {
	[ "$(workers "$2")" = "$1" ]
}

# What the namespaces begin with. Run in them, by setup_file.
namespace_make() {
	ip link set lo up
	mount --make-rprivate /
	mount -t tmpfs -o mode=755 none /nix
	mount -t tmpfs -o mode=755 none /run/lodger
	mkdir -p /nix/store /nix/var/nix/gcroots/lodger
	chmod 1775 /nix/store
	mkdir -p "$W"/{conf,conf.client,daemon,home,files}
	chmod 755 "$W" "$W"/*
	chmod 1777 "$W/files"
	: >"$W/conf/nix.conf"
	nix-store --generate-binary-cache-key test-1 "$W/key" "$W/key.public"
	install -m 755 "$BATS_TEST_DIRNAME/../../build/lodger-gate" "$BATS_TEST_DIRNAME/raw" "$W"
	daemon_start
	gate_start gate
}
