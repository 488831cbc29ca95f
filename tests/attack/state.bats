# The helper while it waits for its request, looked at by root: what it still has of its caller's.
# It is held there, with all that guard.c, cgroup.c and capability_keep() do behind it.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell
# shellcheck disable=SC2153,SC2154  # WAITING and the like are attack.bash's; bats' own

load attack

descriptors_of() {
	find "/proc/$1/fd" -type l -printf '%f %l\n' | sed 's/:.*//' | sort -n
}

# The caller keeps state of its own in each look: that it had it is the control.
caller_of() {
	ps -o ppid= -p "$1" | tr -d ' '
}

@test "it has its request, its reply, descriptor 2 and what it opened itself" {
	waiting as a bash -c 'exec 3</ 4<>/proc/self/mem 5</proc/self/ns/net 6<. 7</etc/passwd; exec "$1" --many-descriptors "${@:2}"' - "$HOST_PROBES/rawhelper"
	[ "$(find "/proc/$(caller_of "$WAITING")/fd" -type l | wc -l)" -ge 5 ]
	descriptors_of "$WAITING" >"$BATS_TEST_TMPDIR/descriptors"
	descriptors_of "$PARSER" >"$BATS_TEST_TMPDIR/parser"
	shows "$BATS_TEST_TMPDIR/descriptors" '0 pipe' '1 pipe'
	[ "$(wc -l <"$BATS_TEST_TMPDIR/descriptors")" -le 11 ]
	# Its caller's reply pipe, its answer's, and directories of cgroups.
	run ! grep -vE '^[0-9]+ (pipe|/sys/fs/cgroup/.*)$|^2 ' "$BATS_TEST_TMPDIR/descriptors"
	run ! grep -E '^[12] ' "$BATS_TEST_TMPDIR/parser"
	waiting_end
	waits_like_control descriptors_of as a "$HOST_PROBES/rawhelper" --many-descriptors
}

# What is closed is the caller's, and not the helper's room.
@test "a table of descriptors that is full to its limit leaves room for the helper's own" {
	made --create --many-descriptors --limit=NOFILE:603
	made --destroy=65535 --create --many-descriptors --limit=NOFILE:606
	as a lodger collect
}

place_of() {
	readlink "/proc/$1/cwd" "/proc/$1/root"
	cat "/proc/$1/personality"
	grep Umask "/proc/$1/status"
}

@test "its directory, umask and personality are its own" {
	waits_like_control place_of as a setarch --addr-no-randomize --addr-compat-layout \
		"$HOST_PROBES/rawhelper" --umask=0
	waits_like_control place_of as a setarch --3gb --read-implies-exec --sticky-timeouts "$HOST_PROBES/rawhelper" \
		--umask=777 --directory=/proc/self/fd
	waiting as a "$HOST_PROBES/rawhelper" --umask=0
	[ "$(readlink "/proc/$WAITING/cwd")" = / ]
	grep -q '^Umask:.0077' "/proc/$WAITING/status"
	waiting_end
}

signals_of() {
	grep -E '^(Sig|ShdPnd)' "/proc/$1/status" | grep -v SigQ
}

@test "its signal mask, dispositions and pending signals are its own" {
	waits_like_control signals_of as a "$HOST_PROBES/rawhelper" --block
	waits_like_control signals_of as a "$HOST_PROBES/rawhelper" --ignore
	waits_like_control signals_of as a "$HOST_PROBES/rawhelper" --pending
	shows "$BATS_TEST_TMPDIR/looked" 'SigPnd: 0000000000000000' 'ShdPnd: 0000000000000000' 'SigBlk: 0000000000000000' \
		'SigIgn: 0000000000001000' 'SigCgt: 0000000000000000'
	# And they are no reason not to work.
	made --create "$OPEN" --pending --ignore
	works a "lodger-$NUMBER"
	destroyed
	# Control: a program that only unblocks them.
	raw --collect --pending --program=/usr/bin/perl --arg=-MPOSIX --arg=-e \
		--arg='sigprocmask(SIG_SETMASK, POSIX::SigSet->new) and print "still here\n"'
	[[ $output == 'signal '* ]]
}

limits_of() {
	cat "/proc/$1/limits"
}

@test "its resource limits are fixed ones, whatever its caller's soft ones were" {
	waits_like_control limits_of as a bash -c 'ulimit -S -c 0 -f 100 -n 64 -s 512 -t 100 -u 500 -v 2000000 -d 1000000 -i 100
		exec "$@"' - "$HOST_PROBES/rawhelper"
	grep -qE '^Max core file size +1 +1 ' "$BATS_TEST_TMPDIR/looked"
	grep -qE '^Max stack size +8388608 +8388608 ' "$BATS_TEST_TMPDIR/looked"
	grep -qE '^Max file size +unlimited +unlimited ' "$BATS_TEST_TMPDIR/looked"
}

schedule_of() {
	# Of stat: priority, nice value, real-time priority, policy.
	sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f16,17,38,39
	taskset -p "$1" | sed 's/.*: //'
	cat "/proc/$1/timerslack_ns"
}

@test "its scheduling class, priority, CPUs and timer slack are its own" {
	waits_like_control schedule_of as a chrt --idle 0 nice -n 19 taskset 1 "$HOST_PROBES/rawhelper" --slack=3600000000000
	# Control: the caller has them.
	waiting as a chrt --idle 0 nice -n 19 "$HOST_PROBES/rawhelper" --slack=3600000000000
	[ "$(sed 's/.*) //' "/proc/$(caller_of "$WAITING")/stat" | cut -d' ' -f17,39)" = '19 5' ]
	waiting_end
}

@test "a caller of endless timer slack waits no longer than others, and holds nobody up" {
	made --create "$OPEN"
	# It would sleep between its looks at the session's dying processes, with the session's lock.
	in_session a "lodger-$NUMBER" 'for i in {1..40}; do setsid sleep 86771 & done >/dev/null 2>&1; true'
	raw --destroy="$NUMBER" --slack=3600000000000
	answers 'exit 0' "code OK field - session $NUMBER"
	raw --create --cut=0 --silent --slack=3600000000000
	answers 'exit 0' 'code REQUEST field frame'
	made --create "$OPEN" --slack=3600000000000
	# Its processes have none of it either; in a session of its caller's that hangs by it, this would.
	run in_session a "lodger-$NUMBER" 'timeout 60 sleep 0.1; echo $?'
	[ "$output" = 0 ]
	destroyed
	# Control: a sleeper with it.
	run as a "$HOST_PROBES/rawhelper" --collect --program=/bin/sleep --arg=0.1 --slack=3600000000000 --seconds=3 --signal=0:1
	answers hangs
}

identity_of() {
	grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp:)' "/proc/$1/status"
}

@test "it is root alone, with seven capabilities permitted and none effective" {
	# setpriv leaves the capabilities that are asked for.
	waits_like_control identity_of setpriv --reuid="$USERS-a" --regid="$USERS-a" --groups="lodger,$(seq -s, 70001 70100)" \
		--inh-caps=+sys_ptrace,+dac_override --ambient-caps=+sys_ptrace,+dac_override "$HOST_PROBES/rawhelper"
	shows "$BATS_TEST_TMPDIR/looked" 'Uid: 0 0 0 0' 'Gid: 0 0 0 0' 'Groups: ' 'CapInh: 0000000000000000' \
		'CapPrm: 00000000002011e1' 'CapEff: 0000000000000000' 'CapBnd: 00000000002011e1' 'CapAmb: 0000000000000000'
	# Control: the caller has them.
	waiting setpriv --reuid="$USERS-a" --regid="$USERS-a" --groups=lodger --inh-caps=+sys_ptrace --ambient-caps=+sys_ptrace \
		"$HOST_PROBES/rawhelper"
	grep -qE '^CapAmb:.0+80000$' "/proc/$(caller_of "$WAITING")/status"
	waiting_end
}

@test "its parser child is nobody, without any capability or file, under a filter" {
	waiting as a "$HOST_PROBES/rawhelper" --many-descriptors
	cat "/proc/$PARSER/status" >"$BATS_TEST_TMPDIR/parser"
	cat "/proc/$WAITING/status" >"$BATS_TEST_TMPDIR/helper"
	shows "$BATS_TEST_TMPDIR/parser" "Uid: $PARSER_UID $PARSER_UID $PARSER_UID $PARSER_UID" \
		"Gid: $PARSER_UID $PARSER_UID $PARSER_UID $PARSER_UID" 'Groups: ' 'NoNewPrivs: 1' 'Seccomp: 2' \
		'CapInh: 0000000000000000' 'CapPrm: 0000000000000000' 'CapEff: 0000000000000000' 'CapBnd: 0000000000000000' \
		'CapAmb: 0000000000000000'
	# One more than the helper's own, which both have.
	[ "$(filters_of "$BATS_TEST_TMPDIR/parser")" = $(($(filters_of "$BATS_TEST_TMPDIR/helper") + 1)) ]
	waiting_end
}

filters_of() {
	awk '$1 == "Seccomp_filters:" { print $2 }' "$1"
}

# The helper whose answer finds no room waits with its work done, for a second or so.
@test "it is under a filter while it waits, and under another before it answers" {
	local filters operation
	waiting as a "$HOST_PROBES/rawhelper"
	filters=$(filters_of "/proc/$(caller_of "$WAITING")/status")
	[ "$(filters_of "/proc/$WAITING/status")" = $((filters + 1)) ]
	waiting_end
	twice_filtered() {
		[ "$(filters_of "/proc/$(pgrep -xu root lodger-helper)/status")" = $((filters + 2)) ]
	}
	for operation in --create --destroy=65535 --collect; do
		background as a "$HOST_PROBES/rawhelper" "$operation" --full --seconds=5
		until_true 4 twice_filtered || { echo "after $operation: not so" && return 1; }
		background_end
		until_true 10 eval '! lodger_processes | grep -q lodger-helper'
		as a lodger collect
	done
}

session_of() {
	# Whether it leads a session of its own, and its terminal.
	[ "$(ps -o sid= -p "$1" | tr -d ' ')" = "$1" ] && echo leader
	ps -o tty= -p "$1"
}

@test "it is in a session of its own, out of reach of its caller's terminal" {
	local keys=$BATS_TEST_TMPDIR/keys script
	waits_like_control session_of as a setsid -w "$HOST_PROBES/rawhelper"
	grep -qx leader "$BATS_TEST_TMPDIR/looked"
	# Its caller is in the foreground of a terminal, whose keys send signals to all that have it.
	mkfifo "$keys"
	exec 7<>"$keys"
	background as a script -qfc "'$HOST_PROBES/rawhelper' --create --cut=0 --silent" /dev/null <&7 >"$BATS_TEST_TMPDIR/screen"
	script=$!
	until_true 10 parser_find
	[ "$(session_of "$WAITING")" = "leader
?" ]
	caller=$(caller_of "$WAITING")
	# Control: the caller has the terminal.
	[[ $(ps -o tty= -p "$caller") == pts* ]]
	kill -KILL "$script" "$caller" 2>/dev/null || true
	exec 7>&-
	kill -KILL "$WAITING" 2>/dev/null || true
	until_true 10 eval '! pgrep -u "$PARSER_UID" >/dev/null'
}

@test "there is no core of it to be had, whatever its caller's limit" {
	as a bash -c 'ulimit -c unlimited' || skip 'the hard limit allows no core here'
	local who
	for who in WAITING PARSER; do
		waiting as a bash -c 'ulimit -c unlimited; exec "$@"' - "$HOST_PROBES/rawhelper"
		kill -SEGV "${!who}"
		kill -CONT "$WAITING"
		wait "${BACKGROUND[@]}" || true
		BACKGROUND=()
		grep -qE '^signal 11$|parser child failed' "$BATS_TEST_TMPDIR/waiting"
		run ! grep 'core dumped' "$BATS_TEST_TMPDIR/waiting"
		[ -z "$(find / /tmp "/home/$USERS-a" -maxdepth 1 -name 'core*' -newer "$BATS_TEST_TMPDIR/waiting")" ]
	done
	# Control: a program of the caller's leaves one, or tells that it would.
	as a mkdir -p cores
	run as a bash -c 'ulimit -c unlimited; exec "$1" --program=/bin/sleep --arg=20 --directory=cores --collect --signal=11:300000' - \
		"$HOST_PROBES/rawhelper"
	rm -rf "/home/$USERS-a/cores"
	answers 'signal 11, core dumped'
}
