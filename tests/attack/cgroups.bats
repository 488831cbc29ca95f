# The caller's own cgroup as a weapon: frozen, or out of processes or memory, while its helper works.
# A helper is out of it before it waits for or locks anything.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell
# shellcheck disable=SC2153,SC2154  # WAITING and the like are attack.bash's; bats' own

load attack

teardown() {
	local left=0 directory
	for directory in "${PARTS[@]}"; do
		thaw "$directory"
	done
	background_end
	for directory in "${PARTS[@]}"; do
		until_true 10 rmdir "$directory" 2>/dev/null
	done
	policy_restore
	left_nothing || left=1
	lodger_teardown
	return "$left"
}

PARTS=()
# part HIERARCHY: gives user a a part of it; sets PART. Fails when there is no such hierarchy.
part() {
	[ -e "/sys/fs/cgroup/$1/cgroup.procs" ] || return 1
	PART=/sys/fs/cgroup/$1/lodger-attack
	mkdir "$PART"
	chown -R "$USERS-a:" "$PART"
	PARTS+=("$PART")
}

freeze() {
	if [ -e "$1/freezer.state" ]; then
		echo FROZEN >"$1/freezer.state"
		until_true 10 grep -q FROZEN "$1/freezer.state"
	else
		echo 1 >"$1/cgroup.freeze"
		until_true 10 grep -q 'frozen 1' "$1/cgroup.events"
	fi
}

thaw() {
	[ ! -e "$1/freezer.state" ] || echo THAWED >"$1/freezer.state"
	[ ! -e "$1/cgroup.freeze" ] || echo 0 >"$1/cgroup.freeze"
}

# in_part COMMAND…: user a's, from its start on in PART.
in_part() {
	bash -c 'echo 0 >"$1/cgroup.procs" && shift && exec "$@"' - "$PART" \
		setpriv --reuid="$USERS-a" --regid="$USERS-a" --init-groups "$@"
}

# The hierarchies in which a process can be frozen here.
freezers() {
	local name
	for name in . unified freezer; do
		[ -e "/sys/fs/cgroup/$name/cgroup.procs" ] && echo "$name"
	done
}

@test "a frozen caller freezes no helper that has begun to work" {
	local name frozen=0
	for name in $(freezers); do
		part "$name"
		waiting in_part "$HOST_PROBES/rawhelper"
		# Control: its caller is there, and stands still.
		run ! grep -qx "$WAITING\|$PARSER" "$PART/cgroup.procs"
		[ "$(wc -l <"$PART/cgroup.procs")" = 1 ]
		freeze "$PART"
		kill -CONT "$WAITING"
		as b timeout 20 lodger run -- true
		# By itself, after its five seconds.
		until_true 20 eval '! kill -0 "$WAITING" 2>/dev/null || [[ $(awk "\$1 == \"State:\" { print \$2 }" "/proc/$WAITING/status") == Z ]]'
		[ ! -s "$BATS_TEST_TMPDIR/waiting" ]
		thaw "$PART"
		wait "${BACKGROUND[@]}" || true
		BACKGROUND=()
		grep -q '^code REQUEST field frame' "$BATS_TEST_TMPDIR/waiting"
		frozen=$((frozen + 1))
	done
	[ "$frozen" -gt 0 ]
}

@test "a caller that is frozen at any moment of a create or a destroy holds up nobody" {
	local name usec i=0
	part "$(freezers | tail -1)"
	made --create "$OPEN"
	for usec in 0 0 1 1 2 2 3 3 4 5 6 8 10 15; do
		thaw "$PART"
		i=$((i + 1))
		background in_part "$HOST_PROBES/rawhelper" --create >"$BATS_TEST_TMPDIR/frozen.$i"
		background in_part "$HOST_PROBES/rawhelper" --destroy="$NUMBER" >"$BATS_TEST_TMPDIR/frozen.$i.destroy"
		sleep "0.0$(printf %02d "$usec")"
		freeze "$PART"
		as b timeout 20 lodger run -- true
		as b timeout 20 lodger collect
	done
	thaw "$PART"
	wait "${BACKGROUND[@]}"
	BACKGROUND=()
	run ! grep -hvxE 'exit 0' <(head -qn1 "$BATS_TEST_TMPDIR"/frozen.*)
	[ ! -e "/run/lodger/sessions/$NUMBER" ]
	as b lodger collect
}

@test "no room for a process in the caller's cgroup is none of the helper's concern" {
	part pids || part . || skip 'no pids controller is here'
	[ -e "$PART/pids.max" ] || skip 'the pids controller is not handed down here'
	# rawhelper itself and the helper that it starts.
	echo 2 >"$PART/pids.max"
	run in_part "$HOST_PROBES/rawhelper" --create "$OPEN"
	answers 'exit 0' 'code OK field - session '
	NUMBER=${lines[1]##* }
	works a "lodger-$NUMBER"
	destroyed
	# Control: another program cannot start one more. perl, since bash tries for 15 seconds.
	run in_part perl -e 'for (1, 2) { my $pid = fork; print("$!\n"), last if !defined $pid; sleep(1), exit if !$pid }'
	says 'Resource temporarily unavailable'
}

@test "no memory in the caller's cgroup ends its helper at most before it works" {
	local file size
	part memory || part . || skip 'no memory controller is here'
	for file in memory.limit_in_bytes memory.max; do
		[ ! -e "$PART/$file" ] || break
	done
	[ -e "$PART/$file" ] || skip 'the memory controller is not handed down here'
	for size in 256K 512K 768K 1M 2M 4M; do
		echo "$size" >"$PART/$file"
		run in_part timeout 60 "$HOST_PROBES/rawhelper" --create
		run in_part timeout 60 "$HOST_PROBES/rawhelper" --collect
		as b timeout 20 lodger run -- true
	done
	echo 16M >"$PART/$file"
	run in_part "$HOST_PROBES/rawhelper" --create
	answers 'exit 0' 'code OK'
	as b lodger collect
	# Control: it is a limit.
	echo 4M >"$PART/$file"
	run ! in_part bash -c 'x=$(head -c 99000000 /dev/zero | tr "\0" x); echo "${#x}"'
	[[ $output != *99000000* ]]
}

@test "a caller of the lowest priority is in the way of nobody while processors are busy" {
	local i
	for ((i = 0; i < $(nproc); i++)); do
		background as b timeout 60 sh -c 'while :; do :; done'
	done
	for i in 1 2 3 4 5 6; do
		background as a chrt --idle 0 ionice -c 3 nice -n 19 choom -n 1000 -- "$HOST_PROBES/rawhelper" --create --seconds=60 \
			>"$BATS_TEST_TMPDIR/idle.$i"
	done
	# Each would wait for ever for a lock that one of them held.
	as b timeout 60 bash -c 'for i in 1 2 3 4 5; do lodger run -- true || exit 1; done'
	background_end
	until_true 30 eval '! lodger_processes | grep -q lodger-helper'
	as b lodger collect
}
