# The AppArmor profiles of ../../apparmor: that they hold, and that nothing which is meant to work meets
# them. What the profiles forbid is tried by root with all capabilities, or through what the policy
# grants, so that nothing else forbids it; the control is the same without the profile.

source "$BATS_TEST_DIRNAME/../lib/lodger.bash"

PROFILES=/etc/apparmor.d/lodger
LOADED=/sys/kernel/security/apparmor/profiles
NODE=/dev/lodger-test-node
SYSTEM_FILE=/etc/lodger-test-file
OTHER_FILE=/srv/lodger-test-file

setup() {
	MARK=lodger-test-$BASHPID-$RANDOM
	[[ $BATS_TEST_DESCRIPTION == *"(no kernel needed)"* ]] || {
		[ "$(cat /sys/module/apparmor/parameters/enabled 2>/dev/null)" = Y ] ||
			skip 'this kernel has no AppArmor, or it is off'
		[ -e "$PROFILES" ] || skip 'the profiles are not installed'
		# All of the kernel's lines are looked at.
		RATELIMIT=$(sysctl -n kernel.printk_ratelimit)
		sysctl -q kernel.printk_ratelimit=0
		echo "$MARK" >/dev/kmsg
	}
}

# Tests take the profiles away, or add to them.
teardown() {
	lodger_teardown
	for name in lodger-helper lodger-agent; do
		[ ! -e "$BATS_TEST_TMPDIR/$name" ] || mv "$BATS_TEST_TMPDIR/$name" "/etc/apparmor.d/local/$name"
		[ ! -e "$BATS_TEST_TMPDIR/$name.none" ] || rm -f "/etc/apparmor.d/local/$name"
	done
	[ -z "${CHANGED-}" ] || apparmor_parser --replace "$PROFILES"
	[ -z "${RATELIMIT-}" ] || sysctl -q kernel.printk_ratelimit="$RATELIMIT"
	rm -f "$NODE" "$SYSTEM_FILE" "$OTHER_FILE"
}

profiles_remove() {
	CHANGED=1
	apparmor_parser --remove "$PROFILES"
}

# local_rule lodger-helper|lodger-agent RULE…: adds it for this test.
local_rule() {
	local file=/etc/apparmor.d/local/$1
	mkdir -p /etc/apparmor.d/local
	if [ -e "$file" ]; then
		cp -p "$file" "$BATS_TEST_TMPDIR/$1"
	else
		touch "$BATS_TEST_TMPDIR/$1.none"
	fi
	shift
	printf '%s\n' "$@" >>"$file"
	CHANGED=1
	apparmor_parser --replace "$PROFILES"
}

# What the kernel has logged since the start of the test, about our profiles.
denials() {
	dmesg | sed -n "/$MARK/,\$p" | grep 'apparmor="DENIED".*profile="lodger-'
}

# denied PROFILE PATTERN…: the kernel has logged a denial with all of these. Its lines come a moment late.
denied() {
	local profile=$1 pattern
	shift
	logged() {
		local lines
		lines=$(denials | grep -F "profile=\"$profile\"") || return 1
		for pattern; do
			lines=$(grep -F -- "$pattern" <<<"$lines") || return 1
		done
	}
	until_true 2 logged "$@" || {
		echo "not logged as denied to $profile: $*"
		denials
		return 1
	}
}

nothing_denied() {
	sleep 0.5
	! denials
}

# of_exec PROFILE COMMAND…: root executes it under a profile.
of_exec() {
	# shellcheck disable=SC2016  # for the other shell
	bash -c 'echo "exec $0" >/proc/self/attr/exec && exec "$@"' "$@"
}

# in_place ARG…: executes it as the helper, whose profile is entered by path, and has no other program.
# In a mount namespace of its own.
in_place() {
	mount --bind "$HOST_PROBES/confined" "$HELPER" && "$HELPER" "$@"
}
export -f of_exec in_place
export HELPER

# acts COMMAND…: what tests/probes/confined says, by COMMAND, in a mount namespace of its own.
acts() {
	local directory=$BATS_TEST_TMPDIR/directory
	mkdir -p "$directory/mounted"
	touch "$SYSTEM_FILE"
	[ -e "$NODE" ] || mknod -m 666 "$NODE" c 1 5
	# Not on the pipe that `run` reads to its end.
	background sleep 600 >/dev/null 2>&1
	# shellcheck disable=SC2016  # for the other shell
	unshare --mount bash -c 'mount -t tmpfs tmpfs "$0/mounted" && "$@"' "$directory" \
		"$@" "$directory" "$SYSTEM_FILE" /bin/true "$NODE" "${BACKGROUND[-1]}"
}

@test "profiles: both are enforced" {
	grep -qx 'lodger-helper (enforce)' "$LOADED"
	grep -qx 'lodger-agent (enforce)' "$LOADED"
}

@test "profiles: no placeholder is left, and each form is understood by this parser (no kernel needed)" {
	command -v apparmor_parser >/dev/null || skip 'there is no apparmor_parser'
	local root=$BATS_TEST_TMPDIR/root policy=$BATS_TEST_TMPDIR/policy base
	for base in lodger system.slice/lodger.service 'a/b\x2dc/d{e[f' /; do
		echo "cgroup $base" >"$policy"
		"$TESTS/../apparmor/install" "$root" /opt/lodger/libexec "$policy"
		run -1 grep -nE '^[^#]*@[A-Z]' "$root/etc/apparmor.d/lodger"
		apparmor_parser --skip-kernel-load --skip-cache "$root/etc/apparmor.d/lodger"
		sed -e 's|abi/4.0|abi/3.0|' -e '/mqueue type/d' "$root/etc/apparmor.d/lodger" >"$BATS_TEST_TMPDIR/old"
		apparmor_parser --skip-kernel-load --skip-cache "$BATS_TEST_TMPDIR/old"
	done
	local program
	for program in helper gate relay; do
		grep -q "^profile lodger-$program /opt/lodger/libexec/lodger-$program " "$root/etc/apparmor.d/lodger"
	done
	"$TESTS/../apparmor/install" --remove "$root"
	[ ! -e "$root/etc/apparmor.d/lodger" ]
}

@test "profiles: the helper runs under its own, and its parser child" {
	mkfifo "$BATS_TEST_TMPDIR/in"
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR/test" 2>/dev/null || true
	# It waits for a request that does not come.
	# shellcheck disable=SC2016  # for the other shell
	background as a bash -c 'sleep 4 | bash -c "exec -a lodger-helper $0" | cat' "$HELPER"
	two() { [ "$(pgrep -cx lodger-helper)" = 2 ]; }
	until_true 3 two
	local pid
	for pid in $(pgrep -x lodger-helper); do
		[ "$(cat "/proc/$pid/attr/current")" = 'lodger-helper (enforce)' ]
	done
}

@test "profiles: a session runs under its own: agent, keeper, command, children, and all that they execute" {
	create a
	local uid pids pid
	[ "$(as a lodger exec "$SESSION" -- cat /proc/self/attr/current)" = 'lodger-agent (enforce)' ]
	# shellcheck disable=SC2016  # for the session's shell
	run -0 in_session a "$SESSION" 'cp /bin/cat mine; cat /proc/$$/attr/current
		(./mine /proc/self/attr/current); setsid --wait env -i ./mine /proc/self/attr/current
		sh -c "sh -c \"cat /proc/self/attr/current\""'
	[ "$(sort -u <<<"$output")" = 'lodger-agent (enforce)' ]
	[ "${#lines[@]}" = 4 ]
	background as a lodger exec "$SESSION" -- sleep 60
	uid=$((0x70000000 + $(session_number "$SESSION")))
	four() { pids=$(processes_of "$uid") && [ "$(wc -w <<<"$pids")" -ge 3 ]; }
	until_true 5 four
	for pid in $pids; do
		[ "$(cat "/proc/$pid/attr/current")" = 'lodger-agent (enforce)' ]
	done
}

@test "profiles: no code in a session leaves its profile, by exec or by word" {
	create a
	local word
	for word in 'changeprofile unconfined' 'changeprofile lodger-helper' 'changehat 1^x' 'stack unconfined'; do
		run in_session a "$SESSION" "echo '$word' >/proc/self/attr/current"
		[ "$status" != 0 ]
		run in_session a "$SESSION" "echo '$word' >/proc/thread-self/attr/apparmor/current"
		[ "$status" != 0 ]
	done
	run in_session a "$SESSION" "echo 'exec unconfined' >/proc/self/attr/exec"
	[ "$status" != 0 ]
	[ "$(as a lodger exec "$SESSION" -- cat /proc/self/attr/current)" = 'lodger-agent (enforce)' ]
	denied lodger-agent 'operation="open"' '/attr/current"'
	# Control: another profile may be left so, by who has none.
	[ "$(of_exec lodger-agent cat /proc/self/attr/current)" = 'lodger-agent (enforce)' ]
	[ "$(cat /proc/self/attr/current)" = unconfined ]
}

@test "profiles: a device that the policy grants is closed by the profile, until a local rule opens it" {
	mknod -m 666 "$NODE" c 1 5
	policy "device $NODE"
	create a
	run -0 in_session a "$SESSION" "test -c $NODE"
	run in_session a "$SESSION" "head -c 4 $NODE | wc -c"
	says 'Permission denied'
	denied lodger-agent 'operation="open"' "name=\"$NODE\""
	local_rule lodger-agent "$NODE rw,"
	[ "$(in_session a "$SESSION" "head -c 4 $NODE | wc -c")" = 4 ]
}

# Opened for both, since the client passes no descriptor by which more could be opened than it is itself.
@test "profiles: a system file is not opened for writing by a descriptor that is passed in, whatever its mode" {
	local by_file='echo written >/dev/stdin'
	touch "$SYSTEM_FILE"
	chmod 666 "$SYSTEM_FILE"
	create a
	run in_session a "$SESSION" "$by_file" <>"$SYSTEM_FILE"
	says 'Permission denied'
	[ ! -s "$SYSTEM_FILE" ]
	denied lodger-agent 'operation="open"' "name=\"$SYSTEM_FILE\""
	# Control: the same with another file, and what is open stays so.
	touch "$OTHER_FILE"
	chmod 666 "$OTHER_FILE"
	in_session a "$SESSION" "$by_file" <>"$OTHER_FILE"
	[ "$(cat "$OTHER_FILE")" = written ]
	as a lodger exec "$SESSION" -- echo passed >"$SYSTEM_FILE"
	[ "$(as a lodger exec "$SESSION" -- cat <"$SYSTEM_FILE")" = passed ]
	# Control: without the profile it is opened.
	profiles_remove
	create a
	in_session a "$SESSION" "$by_file" <>"$SYSTEM_FILE"
	[ "$(cat "$SYSTEM_FILE")" = written ]
}

# What each act of tests/probes/confined answers without a profile, under the session's, under the helper's.
# user-namespace and move_mount depend on the kernel: see the tests.
ACTS='mount 0 13 13
bind 0 13 13
umount 0 1 13
chroot 0 1 1
host-name 0 1 0
raw-socket 0 13 13
packet-socket 0 13 13
stream-socket 0 0 13
write 0 13 13
append 0 13 13
shadow 0 0 13
device 0 13 13
make-device 0 1 13
signal 0 13 13
trace 0 13 13
change-profile 0 13 13
change-on-exec 0 13 13
execute 0 0 13'

# column N: the table's N-th column beside the names.
column() {
	awk -v n="$1" '{ print $1, $n }' <<<"$ACTS"
}

@test "profiles: what the session's forbids, it forbids to root with all capabilities" {
	host_probe confined
	run -0 acts "$HOST_PROBES/confined"
	diff <(grep -vE '^(user-namespace|move_mount) ' <<<"$output") <(column 2)
	run -0 acts of_exec lodger-agent "$HOST_PROBES/confined"
	diff <(grep -vE '^(user-namespace|move_mount) ' <<<"$output") <(column 3)
	denied lodger-agent 'operation="mount"'
	denied lodger-agent 'operation="capable"' 'capname="sys_admin"'
	denied lodger-agent 'operation="capable"' 'capname="sys_chroot"'
	denied lodger-agent 'operation="signal"' 'peer="unconfined"'
	denied lodger-agent 'operation="ptrace"' 'peer="unconfined"'
	denied lodger-agent 'operation="open"' "name=\"$SYSTEM_FILE\""
	denied lodger-agent 'operation="open"' "name=\"$NODE\""
	denied lodger-agent 'operation="create"' 'family="packet"'
	[ ! -e /sys/kernel/security/apparmor/features/namespaces/userns_create ] ||
		denied lodger-agent 'operation="userns_create"'
}

@test "profiles: what the helper's forbids, it forbids to whatever runs in the helper's place" {
	host_probe confined
	run -0 acts in_place
	diff <(grep -vE '^(user-namespace|move_mount) ' <<<"$output") <(column 4)
	denied lodger-helper 'operation="exec"' 'name="/usr/bin/true"'
	denied lodger-helper 'operation="open"' 'name="/etc/shadow"'
	denied lodger-helper 'operation="mount"'
	denied lodger-helper 'operation="signal"' 'peer="unconfined"'
	denied lodger-helper 'operation="create"' 'family="inet"' 'sock_type="stream"'
}

@test "profiles: where the kernel asks about move_mount, a mount is put where the profile says and nowhere else" {
	host_probe confined
	run -0 acts of_exec lodger-agent "$HOST_PROBES/confined"
	[[ $output == *$'\nmove_mount 13' || $output == *$'\nmove_mount 1' ]]
	run -0 acts in_place
	[[ $output != *$'\nmove_mount 0' ]] ||
		skip 'this kernel does not: before 6.7 no module is asked'
	denied lodger-helper 'operation="mount"' 'flags="rw, move"'
}

@test "profiles: a cgroup that the policy names and the profile does not is refused by name" {
	local base=lodger-test-elsewhere
	policy "cgroup $base"
	run --separate-stderr as a lodger create
	[ "$status" != 0 ]
	says "$base" 'Permission denied'
	denied lodger-helper "$base/\""
	# Control: without the profile it is made.
	profiles_remove
	run --separate-stderr as a lodger run -- echo made
	find /sys/fs/cgroup -depth -type d -path "*/$base*" -exec rmdir {} + || true
	says made
}

@test "profiles: nothing of what Lodger is for meets them" {
	local file=$BATS_TEST_TMPDIR/file
	leaves_nothing_start
	create a
	in_session a "$SESSION" 'seq 1000 | sort -n | tail -1; mkdir d; mv d e; ln -s e f; ln /etc/hostname g || true
		mkfifo p; cp /bin/true mine; ./mine; python3 -c "import os; print(os.getpid())" || true
		echo $$ >/dev/null; head -c 4 /dev/urandom >r; echo x >/dev/shm/x; kill -0 $$
		sleep 60 & kill $!; cat /proc/self/status /proc/meminfo >/dev/null' >"$file" 2>"$file.errors" </etc/passwd
	echo text >"$file"
	as a lodger put "$SESSION" /etc/hostname here
	as a lodger get "$SESSION" here - >/dev/null || as a lodger get "$SESSION" here "/tmp/$MARK" || true
	rm -rf "/tmp/$MARK"
	as a lodger exec -t "$SESSION" -- tty </dev/null >/dev/null || true
	as a lodger list >/dev/null
	as a lodger show "$SESSION" >/dev/null
	! [ -S /run/lodger/packages/daemon-socket/socket ] ||
		as a lodger exec "$SESSION" -- nix-store --version >/dev/null || true
	as a lodger run -- sh -c 'exit 0'
	as a lodger destroy "$SESSION"
	as a lodger collect
	leaves_nothing_end
	nothing_denied
}
