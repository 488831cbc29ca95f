# Each limit stops what runs into it, and nothing but the session notices: a second session of
# another user's, its owner and the hog's own owner keep working meanwhile and afterwards.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for the session's shell; tests are subshells

load ../lib/lodger

# hog SCRIPT: runs it in session $HOG in the background; its output goes to $BATS_TEST_TMPDIR/hog.
hog() {
	in_session a "$HOG" "$1" >"$BATS_TEST_TMPDIR/hog" 2>&1 3>&- 4>&- &
	HOG_PID=$!
}

hog_runs() {
	kill -0 "$HOG_PID" 2>/dev/null
}

# others_work TIMES: the bystanders do, while the hog still runs.
others_work() {
	local i
	for ((i = 0; i < $1; i++)); do
		works b "$OTHER"
		as a lodger list >/dev/null
		hog_runs
	done
}

start() {
	create b
	OTHER=$SESSION
	create a "$@"
	HOG=$SESSION
}

# usage SESSION NAME: a figure as the owner sees it.
usage() {
	as a lodger show "$1" --json | jq -e ".usage.$2"
}

@test "a memory hog is stopped at its limit while others work on" {
	start --memory 64M
	probe a "$HOG" memory
	# Again and again, so that others find it at its limit.
	hog 'while :; do ./memory anonymous 1024; echo "status $?"; done'
	until_true 20 grep -q '^status' "$BATS_TEST_TMPDIR/hog"
	others_work 5
	until_true 20 grep -qx 'status 137' "$BATS_TEST_TMPDIR/hog"
	as a lodger destroy "$HOG"
	wait "$HOG_PID" || true
	works b "$OTHER"
	# It got most of its allowance and nothing above it.
	local most
	most=$(grep -x '[0-9]*' "$BATS_TEST_TMPDIR/hog" | sort -n | tail -1)
	[ "$most" -gt 32 ]
	[ "$most" -lt 64 ]
}

@test "the session of a memory hog can be used again, and tells what happened" {
	start --memory 64M
	probe a "$HOG" memory
	run in_session a "$HOG" './memory anonymous 1024'
	exits 137
	works a "$HOG"
	[ "$(usage "$HOG" memory_peak)" -gt $((32 << 20)) ]
	[ "$(usage "$HOG" memory_peak)" -le $((64 << 20)) ]
	[ "$(usage "$HOG" oom_kills)" -ge 1 ]
}

@test "memory of every kind counts: memfd, tmp, dev shm, System V shared memory, pipes" {
	local kind most
	create b
	OTHER=$SESSION
	for kind in memfd tmp devshm sysv pipes; do
		create a --memory 48M --disk 512M
		probe a "$SESSION" memory
		run in_session a "$SESSION" "./memory $kind 256"
		[ "$status" != 0 ]
		most=$(grep -o '^[0-9]*' <<<"$output" | sort -n | tail -1)
		echo "$kind: ${most:-0} MiB, status $status"
		[ "${most:-0}" -lt 48 ]
		works b "$OTHER"
		as a lodger destroy "$SESSION"
	done
}

@test "control: on the host the memory probe gets all that it asks for" {
	local kind
	for kind in anonymous memfd sysv; do
		run "$PROBES/memory" "$kind" 80
		exits 0
	done
}

@test "a fork bomb is stopped at its limit while others work on" {
	start --pids 40
	probe a "$HOG" forks
	hog './forks bomb'
	until_true 20 eval '[ "$(usage "$HOG" pids)" -ge 39 ]'
	others_work 5
	[ "$(usage "$HOG" pids)" -le 40 ]
	local peak
	peak=$(usage "$HOG" pids_peak) || peak=0
	[ "$peak" = null ] || [ "$peak" -le 40 ]
	works b "$OTHER"
	as a timeout 200 lodger destroy "$HOG"
	wait "$HOG_PID" || true
	works b "$OTHER"
	run lodger_processes
	[[ $output != *forks* ]]
}

@test "processes and threads count alike" {
	start --pids 32
	probe a "$HOG" forks
	local kind
	for kind in processes threads; do
		run in_session a "$HOG" "./forks $kind 1000"
		exits 1
		[[ ${lines[-1]} =~ ^([0-9]+)\ EAGAIN$ ]]
		[ "${BASH_REMATCH[1]}" -gt 8 ]
		[ "${BASH_REMATCH[1]}" -lt 32 ]
	done
	run "$PROBES/forks" threads 100
	exits 0
}

@test "a disk filler is stopped at its limit while others work on" {
	start --disk 8M --memory 256M
	hog 'while :; do cat /dev/zero >fill; stat -c "size %s" fill; done'
	until_true 20 grep -q '^size' "$BATS_TEST_TMPDIR/hog"
	others_work 5
	as a lodger destroy "$HOG"
	wait "$HOG_PID" || true
	works b "$OTHER"
	grep -q 'No space left' "$BATS_TEST_TMPDIR/hog"
	local most
	most=$(sed -n 's/^size //p' "$BATS_TEST_TMPDIR/hog" | sort -n | tail -1)
	[ "$most" -gt $((6 << 20)) ]
	[ "$most" -le $((8 << 20)) ]
}

@test "all that can be written to shares the disk limit" {
	start --disk 8M
	run in_session a "$HOG" 'dd if=/dev/zero of=/tmp/one bs=1M count=5 2>&1 &&
		dd if=/dev/zero of=/dev/shm/two bs=1M count=5 2>&1; truncate -s 1G /var/tmp/holes && echo holes
		fallocate -l 5M three'
	exits 1
	says 'No space left' holes
}

@test "an inode filler is stopped at its limit while others work on" {
	start --inodes 600
	hog 'while :; do for ((i = 0; i < 5000; i++)); do : >file$i || break; done
		set -- file*; echo "files $#"; done'
	until_true 20 grep -q '^files' "$BATS_TEST_TMPDIR/hog"
	others_work 5
	as a lodger destroy "$HOG"
	wait "$HOG_PID" || true
	works b "$OTHER"
	grep -q 'No space left' "$BATS_TEST_TMPDIR/hog"
	local most
	most=$(sed -n 's/^files //p' "$BATS_TEST_TMPDIR/hog" | sort -n | tail -1)
	[ "$most" -gt 300 ]
	[ "$most" -lt 600 ]
}

@test "a CPU spinner gets its share and no more while others work on" {
	start --cpu 40
	hog 'for i in 1 2 3 4; do while :; do :; done & done; wait'
	until_true 20 eval '[ "$(usage "$HOG" cpu_usec)" -gt 200000 ]'
	local cpu wall
	cpu=$(usage "$HOG" cpu_usec) wall=$(usage "$HOG" wall_usec)
	others_work 10
	sleep 1
	cpu=$(($(usage "$HOG" cpu_usec) - cpu)) wall=$(($(usage "$HOG" wall_usec) - wall))
	echo "$cpu of $wall microseconds"
	# Four spinners would take 200 % of this machine's two CPUs. The quota is kept by the period of
	# 100 ms; and the two readings are not of one moment.
	[ "$cpu" -gt 0 ]
	[ "$cpu" -le $((wall * 60 / 100 + 200000)) ]
	as a lodger destroy "$HOG"
	wait "$HOG_PID" || true
	works b "$OTHER"
}

@test "usage figures are on show and at destroy" {
	start
	probe a "$HOG" memory
	in_session a "$HOG" './memory anonymous 50 >/dev/null; for i in 1 2 3; do sleep 0.1 & done
		i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; wait'
	run as a lodger show "$HOG" --json
	exits 0
	jq -e '.usage | .cpu_usec > 50000 and .memory_peak > 50*1024*1024 and .wall_usec > 100000 and
		(.pids_peak == null or .pids_peak >= 5)' <<<"$output"
	run as a lodger destroy "$HOG" --json
	exits 0
	jq -e '.. | objects | select(has("cpu_usec")) | .cpu_usec > 50000 and
		.memory_peak > 50*1024*1024 and .wall_usec > 100000' <<<"$output"
}

@test "limits cannot be raised from inside" {
	start --memory 64M --pids 32 --disk 8M
	run in_session a "$HOG" 'ulimit -Hn 10000000; echo "files $?"; ulimit -Hc unlimited; ulimit -Sc 0
		grep "^Max core file size *1 *1 " /proc/self/limits; ls /sys/fs/cgroup; mount -o remount,size=1G /; echo "remount $?"
		echo 1 >/proc/self/oom_score_adj; echo -1000 >/proc/self/oom_score_adj; echo "oom $?"
		nice -n -5 true 2>&1; renice -n -5 $$; echo "nice $?"
		find / -xdev -name "memory.*" -o -xdev -name "pids.max" 2>/dev/null'
	says 'files 1' 'Max core file size' 'oom 1' 'nice 1'
	[[ $output != *'remount 0'* ]]
	[[ $output != *memory.max* && $output != *memory.limit* && $output != *pids.max* ]]
	# The limits are what they were.
	probe a "$HOG" forks
	run in_session a "$HOG" './forks processes 100'
	[[ $output =~ ^[0-9]+\ EAGAIN$ ]]
}

@test "what one session used is not charged to the next" {
	start
	in_session a "$HOG" 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'
	local used
	used=$(usage "$HOG" cpu_usec)
	as a lodger destroy "$HOG"
	create a
	[ "$(usage "$SESSION" cpu_usec)" -lt "$used" ]
	[ "$(as a lodger show "$SESSION" --json | jq '.limits.memory')" = $((256 << 20)) ]
}
