# Descriptors 0, 1 and 2 as a way to have root write for its caller: into kernel files that check who
# opened or who writes (CVE-2012-0056, CVE-2021-4197), or into the helper's own files.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell
# shellcheck disable=SC2153,SC2154  # OPEN and the like are rawhelper.bash's; bats' own

load attack

teardown() {
	local left=0 directory
	background_end
	for directory in /sys/fs/cgroup/{,unified/,pids/}lodger-attack; do
		[ ! -d "$directory" ] || rmdir "$directory"
	done
	policy_restore
	left_nothing || left=1
	lodger_teardown
	return "$left"
}

# The hierarchies of which a user may be given a part, the v2 tree first.
part_make() {
	local hierarchy
	for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/pids; do
		[ -e "$hierarchy/cgroup.procs" ] || continue
		mkdir "$hierarchy/lodger-attack"
		chown -R "$USERS-a:" "$hierarchy/lodger-attack"
		PART=$hierarchy/lodger-attack
		return
	done
	skip 'no cgroup hierarchy is here'
}

@test "no process is moved by a helper that is handed its caller's cgroup.procs" {
	local fd
	part_make
	for fd in 0 1; do
		exited 4 --create --fd="$fd:$PART/cgroup.procs"
		exited 4 --collect --fd="$fd:$PART/cgroup.procs"
	done
	# Where nothing is written to.
	made --create --fd=2:"$PART/cgroup.procs"
	destroyed
	refused REQUEST frame 'before it was whole' --fd=2:"$PART/cgroup.procs" --cut=1
	exited 3 --create --fd=2:"$PART/cgroup.procs" --arg=x
	[ ! -s "$PART/cgroup.procs" ]
	# Control: with what root writes there, root is moved.
	bash -c 'echo 0 >"$1/cgroup.procs"; cat "$1/cgroup.procs"' - "$PART" | grep -qx '[0-9]*'
}

@test "nothing is written to a kernel file, a device, a full file or a socket" {
	local what before
	before=$(cat /proc/sys/kernel/hostname)
	for what in /proc/self/oom_score_adj /proc/self/comm /proc/self/coredump_filter /proc/self/timerslack_ns /dev/full /dev/zero \
		/dev/tty /dev/ptmx; do
		as a test -w "$what" && as a bash -c ': <>"$1"' - "$what" 2>/dev/null || continue
		exited 4 --create --fd=0:"$what"
		exited 4 --create --fd=1:"$what"
	done
	exited 4 --create --fd=1:/dev/full
	# A socket is no pipe either: whoever listens to it could be another's, and it can be shut down.
	run as a bash -c 'echo "(exec -a lodger-helper $1); echo \$? >ended" >script
		socat -t 5 UNIX-LISTEN:socket,unlink-close EXEC:"bash script" 2>/dev/null &
		printf "\4\0\0\0\10\1\22\0" | socat -t 3 - UNIX-CONNECT:socket,retry=100,interval=0.1 2>/dev/null | wc -c
		wait; cat ended; rm script ended' - "$HELPER"
	[ "$output" = $'0\n4' ]
	[ "$before" = "$(cat /proc/sys/kernel/hostname)" ]
	# Control: a program that writes there as its caller does.
	[ "$(as a bash -c 'exec 5<>/proc/self/comm; echo written >&5; read -r name </proc/$$/comm; echo "$name"')" = written ]
}

@test "with any of 0, 1 and 2 closed nothing lands on the wrong descriptor, as a user and as root" {
	local subset lock who
	for who in "setpriv --reuid=$USERS-a --regid=$USERS-a --init-groups" env; do
		for subset in 0 1 2 01 02 12 012; do
			lock=$(od -An -tx1 /run/lodger/lock)
			# shellcheck disable=SC2046,SC2086  # words
			run $who "$HOST_PROBES/rawhelper" --create $(grep -o . <<<"$subset" | sed 's/.*/--fd=&:closed/')
			case $subset$who in
			# The C library opens one in a set-user-ID program, and only there.
			2setpriv*) answers 'exit 0' ;;
			*)
				answers 'exit 4' 'no reply (0 bytes)'
				[ "$lock" = "$(od -An -tx1 /run/lodger/lock)" ]
				;;
			esac
		done
	done
	[ "$(stat -c %s /run/lodger/lock)" = 4 ]
	lodger collect
	works_now=$(as a lodger run -- echo works)
	[ "$works_now" = works ]
	[ "$(stat -c %s /run/lodger/lock)" = 4 ]
}

@test "pipes that are each other's, one end for both, or a FIFO on disk are pipes and no more" {
	as a mkfifo fifo
	exited 5 --create --fd=0:swapped
	# The reply goes where the caller reads its own request.
	exited 0 --create --fd=1:/proc/self/fd/0
	# A FIFO that somebody else could read: it is the caller's own will.
	run as a bash -c 'exec 5<>fifo; "$1" --create --fd=1:fifo; timeout 2 head -c 4 <&5 | wc -c' - "$HOST_PROBES/rawhelper"
	says 'exit 0'
	[ "${lines[-1]}" = 4 ]
	as a rm fifo
	as b lodger collect
}
