# What the tests of an installed Lodger share: who does what, sessions that end with their test,
# attack programs, and what may be left behind. Every bats file sources it, as root; what is tested
# is done by the users lodger-test-a, -b (in group lodger) and -c (not in it), through `as`; or by
# NAME-a, -b and -c with LODGER_TEST_USERS=NAME.
# shellcheck shell=bash disable=SC2034  # variables for the files that source this

bats_require_minimum_version 1.5.0

USERS=${LODGER_TEST_USERS:-lodger-test}
HELPER=/usr/local/libexec/lodger/lodger-helper
POLICY=/etc/lodger/lodger.conf
TESTS=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
# shellcheck source=tests/lib/until.bash
. "$TESTS/lib/until.bash"
# shellcheck source=tests/lib/said.bash
. "$TESTS/lib/said.bash"
# shellcheck source=tests/lib/apparmor.bash
. "$TESTS/lib/apparmor.bash"
PROBES=$TESTS/../build/probes
# The first uid that no session has, and the first that one can have (proto/protocol.h).
UID_FIRST=$((0x70000001))
UID_LAST=$((0x7000ffff))

# as a|b|c COMMAND…: runs it as that user, in its home, with a login's environment and nothing
# else of root's or of bats'. CLIENT_DIRECTORY has another build of the client to run.
as() {
	local user=$USERS-$1
	shift
	(
		cd "/home/$user" || exit 99
		exec setpriv --reuid="$user" --regid="$user" --init-groups --reset-env \
			env PATH="${CLIENT_DIRECTORY:+$CLIENT_DIRECTORY:}/usr/local/bin:/usr/bin:/bin" \
			"$@" 3>&- 4>&-
	)
}

# create a|b [OPTION]…: makes a session of that user's and sets SESSION to its name.
create() {
	local user=$1
	shift
	SESSION=$(as "$user" lodger create "$@")
	[[ $SESSION =~ ^lodger-[1-9][0-9]*$ ]]
}

# in_session a|b SESSION SCRIPT: runs a shell script in it, standard input and all passed on.
in_session() {
	as "$1" lodger exec "$2" -- bash -c "$3"
}

# probe a|b SESSION NAME…: puts attack programs into a session's home, as a user would.
probe() {
	local user=$1 session=$2 name
	shift 2
	for name; do
		as "$user" lodger exec "$session" -- sh -c "cat >$name && chmod +x $name" <"$PROBES/$name"
	done
}

# host_probe NAME…: makes attack programs executable for all users on the host, in $HOST_PROBES.
host_probe() {
	HOST_PROBES=$BATS_FILE_TMPDIR/probes
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR/file"
	mkdir -p "$HOST_PROBES"
	chmod 755 "$HOST_PROBES"
	local name
	for name; do
		install -m 755 "$PROBES/$name" "$HOST_PROBES/$name"
	done
	export HOST_PROBES
}

# elsewhere SCRIPT [OPTION…]: runs it with bash as root in a mount namespace of its own, or in what more
# the options of unshare(1) say. It has `as`, the programs of host_probe, and $T, the test's directory.
elsewhere() {
	local script
	script="$(declare -f as)"$'\n'"set -e; $1"
	T=$BATS_TEST_TMPDIR USERS=$USERS HELPER=$HELPER timeout 120 unshare --mount "${@:2}" bash -c "$script"
}

# works a|b SESSION: fails unless the session answers a command that needs its processes, files and
# memory, and its owner's own shell works.
works() {
	local answer
	answer=$(in_session "$1" "$2" 'seq 1000 >it-works && sort -n it-works | tail -1 && rm it-works')
	[ "$answer" = 1000 ] && [ "$(as "$1" bash -c 'seq 1000 | sort -n | tail -1')" = 1000 ]
}

session_number() {
	echo "${1#lodger-}"
}

# The cgroup directories of all sessions together: below the policy's `cgroup`, in each hierarchy.
cgroup_directories() {
	local base
	base=$(awk '$1 == "cgroup" { base = $2 } END { print base }' "$POLICY")
	find /sys/fs/cgroup/*/"${base:-lodger}" "/sys/fs/cgroup/${base:-lodger}" -type d 2>/dev/null | sort
}

# Processes of any lodger, the parser child's uid included, and helpers that have not ended. Those
# that the machine's init has yet to reap have.
lodger_processes() {
	ps -eo uid=,stat=,comm=,args= | awk -v first="$UID_FIRST" -v last="$UID_LAST" \
		'$2 !~ /^Z/ && (($1 >= first - 2 && $1 <= last) || $3 == "lodger-helper")'
}

# processes_of UID…: prints the pids of their processes, but for those that are dead and only not
# reaped yet.
processes_of() {
	local uid
	for uid; do
		ps -o pid=,stat= -u "$uid" | awk '$2 !~ /^Z/ { print $1 }'
	done
}

# All that a session is made of outside itself, one thing a line. Where machines for other tests are
# built meanwhile, their mounts come and go, and so do those that systemd makes for a service.
belongings() {
	find /run/lodger -path /run/lodger/packages -prune -o -print | sort
	find /run/userdb -mindepth 1 2>/dev/null | sort
	cgroup_directories
	lodger_processes
	awk '$2 !~ "^/(var/cache|run/credentials)/" { print "mount", $0 }' /proc/mounts
	grep -E '/run/lodger/sessions' /proc/net/unix || true
	ipcs -a | awk '$3 ~ /^(lodger-[0-9]|18790|18791)/ || $2 ~ /lodger/'
	find /dev/shm /tmp /var/tmp -xdev \
		\( -uid +$((UID_FIRST - 1)) -a -not -uid +"$UID_LAST" \) 2>/dev/null || true
}

# leaves_nothing_start, then what is tested, then leaves_nothing_end: fails when belongings are not
# what they were, and shows the difference. What is dying has ten seconds to.
leaves_nothing_start() {
	# The very first session makes directories that stay.
	as a lodger run -- true
	belongings >"$BATS_TEST_TMPDIR/before"
}

same_as_before() {
	belongings >"$BATS_TEST_TMPDIR/after"
	cmp -s "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
}

leaves_nothing_end() {
	until_true 10 same_as_before || {
		diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
		return 1
	}
}

# For a teardown: the same, but of a test that failed, which did not come to take away what it made.
left_nothing() {
	[ -z "${BATS_TEST_COMPLETED-}" ] || leaves_nothing_end
}

# policy LINE…: adds lines to the policy until the end of the test.
policy() {
	[ -e "$BATS_TEST_TMPDIR/.policy-before" ] || cp -p "$POLICY" "$BATS_TEST_TMPDIR/.policy-before"
	printf '%s\n' "$@" >>"$POLICY"
}

policy_restore() {
	[ ! -e "$BATS_TEST_TMPDIR/.policy-before" ] || {
		cp -p "$BATS_TEST_TMPDIR/.policy-before" "$POLICY.new"
		mv "$POLICY.new" "$POLICY"
		rm "$BATS_TEST_TMPDIR/.policy-before"
	}
}

# Ends what a test started in the background, by `background COMMAND…`.
BACKGROUND=()
background() {
	"$@" 3>&- 4>&- &
	BACKGROUND+=($!)
}

# tree_kill PID: ends it and all that descends from it, the ancestors first, so that none starts another.
tree_kill() {
	local child
	kill -STOP "$1" 2>/dev/null || return 0
	for child in $(pgrep -P "$1"); do
		tree_kill "$child"
	done
	kill -KILL "$1" 2>/dev/null || true
}

background_end() {
	local pid
	for pid in "${BACKGROUND[@]}"; do
		tree_kill "$pid"
		wait "$pid" 2>/dev/null || true
	done
	BACKGROUND=()
}

# Ends all sessions of the test users, except those named.
sessions_end() {
	local user session
	for user in a b; do
		for session in $(as "$user" lodger list 2>/dev/null | grep -o '^lodger-[0-9]*'); do
			[[ " $* " == *" $session "* ]] || as "$user" lodger destroy "$session" >/dev/null || true
		done
	done
}

# inside SCRIPT: runs it in the session S of user a.
inside() {
	in_session a "$S" "$1"
}

# What a test put onto the host, and is to go with it.
PLANTED=()

# What every file's teardown does.
lodger_teardown() {
	local path
	for path in "${PLANTED[@]}"; do
		rm -rf "$path"
	done
	background_end
	policy_restore
	sessions_end "${KEEP_SESSIONS:-}"
	[ -n "${BATS_TEST_COMPLETED-}${BATS_TEST_SKIPPED-}" ] ||
		echo "to run it alone: make check T='$BATS_TEST_DESCRIPTION'"
}

teardown() {
	lodger_teardown
}
