# Giving privilege up: calls that lie or fail, capabilities that a caller brings, looks into the helper
# and the session's first process at every moment.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell
# shellcheck disable=SC2153,SC2154  # OPEN and the like are rawhelper.bash's; bats' own

load attack

# filtered CALL ERRNO OPTION…: rawhelper under a filter by which a call answers so without being done.
filtered() {
	local call=$1 error=$2
	shift 2
	run setpriv --regid="$USERS-a" --groups=lodger "$HOST_PROBES/filtered" "$(id -u "$USERS-a")" "$call" "$error" \
		"$HOST_PROBES/rawhelper" "$@"
}

@test "control: under a filter that takes nothing it needs, the helper works" {
	run setpriv --reuid="$USERS-a" --regid="$USERS-a" --init-groups "$HOST_PROBES/rawhelper" --create
	answers 'exit 0' 'code OK'
	# The operation is none that it uses.
	filtered prctl:9999 0 --create
	answers 'exit 0' 'code OK'
	as a lodger collect
}

@test "an identity or capability that was not changed, though the call said so, is refused" {
	local call text
	while read -r call text; do
		filtered "$call" 0 --create
		answers 'exit 0' 'code ' || { echo "$call" && return 1; }
		[[ ${lines[1]} != 'code OK'* ]] || { echo "$call" && return 1; }
		says "$text"
	done <<-END
		setresuid becoming uid 0: the kernel reports another
		setresgid becoming uid 0: the kernel reports another
		setgroups becoming uid 0: the kernel reports another
		capset setting capabilities: the kernel reports others
	END
	# Of the parser child and of the session's leader, by the uid that each is to become.
	filtered setresuid:"$PARSER_UID" 0 --create
	answers 'exit 0' 'code REQUEST field frame'
	local next
	next=$(od -An -tu4 /run/lodger/lock)
	next=$((UID_FIRST + next % 65535))
	filtered setresuid:"$next" 0 --create
	answers 'exit 0' 'code SYSTEM'
	says "becoming uid $next: the kernel reports another"
	filtered setresgid:$((next + 1)) 0 --create
	answers 'exit 0' 'code SYSTEM'
	says "becoming uid $((next + 1)): the kernel reports another"
}

@test "a call for giving up privilege that fails is refused, whichever it is" {
	local call error
	# PR_CAPBSET_DROP, PR_SET_SECUREBITS.
	for call in setgroups setresgid setresuid capset setsid prctl:24 prctl:28 unshare; do
		for error in 1 11; do
			filtered "$call" "$error" --create
			answers 'exit 0' 'code ' || { echo "$call" && return 1; }
			[[ ${lines[1]} != 'code OK'* ]] || { echo "$call" && return 1; }
		done
	done
}

# session_identity: of the first process of session NUMBER.
session_identity() {
	local pid
	pid=$(ps -o pid= -u $((UID_FIRST - 1 + NUMBER)) | head -1 | tr -d ' ')
	cat "/proc/$pid/status"
}

@test "capabilities that a caller holds in any set end at the helper" {
	local uid
	run setpriv --reuid="$USERS-a" --regid="$USERS-a" --groups="lodger,$(seq -s, 70001 70100)" --inh-caps=+sys_ptrace,+setuid \
		--ambient-caps=+sys_ptrace,+setuid "$HOST_PROBES/rawhelper" --create "$OPEN"
	answers 'exit 0' 'code OK'
	NUMBER=${lines[1]##* }
	uid=$((UID_FIRST - 1 + NUMBER))
	session_identity >"$BATS_TEST_TMPDIR/status"
	shows "$BATS_TEST_TMPDIR/status" "Uid: $uid $uid $uid $uid" "Gid: $uid $uid $uid $uid" 'Groups: ' 'NoNewPrivs: 1' \
		'CapInh: 0000000000000000' 'CapPrm: 0000000000000000' 'CapEff: 0000000000000000' 'CapBnd: 0000000000000000' \
		'CapAmb: 0000000000000000'
	[ "$(in_session a "lodger-$NUMBER" 'grep -c "^Cap.*:.0*$" /proc/self/status')" = 5 ]
	# Nor would uid 0, if it were had, be worth anything.
	in_session a "lodger-$NUMBER" 'setpriv --dump' | grep -q '^Securebits: .*noroot,noroot_locked'
	destroyed
	# Control: another program keeps them.
	run setpriv --reuid="$USERS-a" --regid="$USERS-a" --clear-groups --inh-caps=+sys_ptrace,+setuid --ambient-caps=+sys_ptrace,+setuid \
		grep CapAmb /proc/self/status
	says 0000000000080080
}

@test "a caller whose bounding set is short is told what is missing, or served" {
	local capability
	for capability in sys_admin setuid setgid setpcap chown kill net_admin dac_override sys_nice; do
		run setpriv --reuid="$USERS-a" --regid="$USERS-a" --init-groups --bounding-set=-"$capability" "$HOST_PROBES/rawhelper" --create "$OPEN"
		answers 'exit 0' 'code ' || { echo "$capability" && return 1; }
		case ${lines[1]} in
		'code OK'*)
			NUMBER=${lines[1]##* }
			session_identity | grep -qE '^CapBnd:.0+$'
			destroyed
			;;
		'code SYSTEM'* | 'code CALLER'*) ;;
		*) false ;;
		esac
	done
}

# none_of: fails unless each line of $output is "ROAD 0 of N", with N above 0.
none_of() {
	exits 0
	[ "${#lines[@]}" = 12 ]
	run ! grep -vE '^[a-z_]+ 0 of [1-9][0-9]*$' <<<"$output"
}

@test "the helper cannot be traced or looked into by its caller at any moment" {
	run as a "$HOST_PROBES/spy" helper 40
	none_of
	as a lodger collect
	# Control: another process of the caller's can.
	run as a "$HOST_PROBES/spy" child
	says 'mem 1 of 1' 'environ 1 of 1' 'fd 1 of 1' 'ptrace 1 of 1' 'pidfd_getfd 1 of 1' 'process_vm_readv 1 of 1'
}

@test "the session's first process cannot be traced or looked into by its own uid, from its first moment on" {
	local next way spy
	# At its own pace, and held for a moment where each exec has just succeeded.
	for way in 'as a' "strace -qq -f -o /dev/null -u $USERS-a -e trace=execve -e inject=execve:delay_exit=300000"; do
		# One who is outside, with the uid that a session will have: more than any lodger is.
		next=$(od -An -tu4 /run/lodger/lock)
		next=$((next % 65535 + 1))
		background setpriv --reuid=$((UID_FIRST - 1 + next)) --regid=$((UID_FIRST - 1 + next)) --clear-groups \
			"$HOST_PROBES/spy" own >"$BATS_TEST_TMPDIR/spied"
		spy=$!
		sleep 0.5
		# shellcheck disable=SC2086  # words
		background $way "$HOST_PROBES/rawhelper" --create "$OPEN" >"$BATS_TEST_TMPDIR/made"
		until_true 20 grep -qx "code OK field - session $next" "$BATS_TEST_TMPDIR/made"
		sleep 1
		kill -TERM "$spy"
		status=0
		wait "$spy" || status=$?
		output=$(cat "$BATS_TEST_TMPDIR/spied")
		mapfile -t lines <<<"$output"
		none_of
		NUMBER=$next
		destroyed
		wait "${BACKGROUND[@]}"
		BACKGROUND=()
	done
	# Control: a plain process of such a uid.
	background setpriv --reuid=$((UID_FIRST - 1 + next)) --regid=$((UID_FIRST - 1 + next)) --clear-groups sleep 86781
	run setpriv --reuid=$((UID_FIRST - 1 + next)) --regid=$((UID_FIRST - 1 + next)) --clear-groups timeout 2 "$HOST_PROBES/spy" own
	background_end
	run ! grep -E '^(environ|root|fd) 0 of' <<<"$output"
}

@test "what can be opened of a process before it becomes the helper is of no use afterwards" {
	# The memory, root and descriptors as they were belong to the old program.
	run as a perl -e 'use Fcntl; pipe(R, W); pipe(X, Y); my $p = fork;
		if (!$p) { sysread(X, my $b, 1); open(STDIN, "<&", \*R); open(STDOUT, ">&", \*W); exec {$ARGV[0]} "lodger-helper" }
		sysopen(M, "/proc/$p/mem", O_RDWR) or die; opendir(D, "/proc/$p/fd") or die; open(E, "/proc/$p/environ") or die;
		syswrite(Y, "x"); select(undef, undef, undef, 0.5);
		print "mem ", (sysseek(M, 0x400000, 0) && sysread(M, my $b, 1) ? "read" : "nothing"), "\n";
		print "environ ", (sysread(E, $b, 9) ? "read" : "nothing"), "\n";
		my @d = grep { readlink "/proc/$p/fd/$_" } readdir D; print "fd ", scalar(@d), "\n"; kill 9, $p;' "$HELPER"
	[ "${lines[0]}" = 'mem nothing' ]
	[ "${lines[1]}" = 'environ nothing' ]
	[ "${lines[2]}" = 'fd 0' ]
	until_true 10 eval '! lodger_processes | grep -q lodger-helper'
}
