# The session's agent and its owner: one who sends it whatever a socket takes, and one who is not the
# owner at all. The agent lives on, and so do the jobs of others; what it cannot survive is told in time.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell

load ../lib/lodger

setup_file() {
	host_probe rawagent reach
}

setup() {
	create a
	S=$SESSION
	SOCKET=/run/lodger/sessions/$(session_number "$S")/socket
	UID_S=$((UID_FIRST - 1 + $(session_number "$S")))
	# A job that is there before and after.
	background as a lodger exec "$S" -- sleep 88211
	until_true 20 eval '[ "$(jobs_of)" = 1 ]'
}

teardown() {
	local pid
	for pid in ${STOPPED-}; do
		kill -CONT "$pid" 2>/dev/null || true
	done
	lodger_teardown
}

jobs_of() {
	as a lodger show "$S" --json | jq .jobs
}

# agent_of: the pid of the session's first process on the host, which is its oldest.
agent_of() {
	pgrep -o -u "$UID_S"
}

raw() {
	run as a timeout 60 "$HOST_PROBES/rawagent" "$SOCKET" "$@"
}

# unharmed: the session works, and the job that was there is still there, alone.
unharmed() {
	works a "$S"
	until_true 20 eval '[ "$(jobs_of)" = 1 ]'
}

@test "a thousand connections that say nothing are bounded, told so, and gone with their owner" {
	local fifo=$BATS_TEST_TMPDIR/fifo
	mkfifo "$fifo"
	as a timeout 120 "$HOST_PROBES/rawagent" "$SOCKET" hold 1000 >"$BATS_TEST_TMPDIR/held" <"$fifo" 3>&- 4>&- &
	exec 7>"$fifo"
	until_true 60 test -s "$BATS_TEST_TMPDIR/held"
	cat "$BATS_TEST_TMPDIR/held"
	# All but those that have a keeper are told that there are too many.
	grep -qE '^held [0-9]+ answered [0-9]+$' "$BATS_TEST_TMPDIR/held"
	[ "$(sed 's/.*answered //' "$BATS_TEST_TMPDIR/held")" -ge 100 ]
	run as a timeout 30 lodger exec "$S" -- true
	exits 125
	says 'as many'
	# The processes that serve them count as the session's own.
	[ "$(ps -o pid= -u "$UID_S" | wc -l)" -le 64 ]
	run as a timeout 30 lodger list
	exits 0
	says "$S"
	exec 7>&-
	wait $!
	until_true 30 works a "$S"
	unharmed
}

@test "descriptors of odd kinds make at most a command that does not work" {
	local kind
	for kind in directory path epoll eventfd inotify timer signals memfd pidfd mem namespace self agent socket terminal; do
		raw kind "$kind"
		[[ ${lines[0]} == started && ${lines[1]} == 'exited '* ]] || { echo "$kind: $output" && return 1; }
	done
	unharmed
}

@test "descriptors too few, too many and piled up are refused, and none stays" {
	local count before after agent
	agent=$(agent_of)
	before=$(ls "/proc/$agent/fd" | wc -l)
	for count in 0 1 2 4 5 100 250; do
		raw count "$count"
		[[ $output == $'error 1\nclosed' ]] || { echo "$count: $output" && return 1; }
	done
	for count in 1 2 3 4; do
		raw pile
		[[ ${lines[0]} == 'packets '* && $output == *closed ]]
	done
	until_true 20 eval '[ "$(ls "/proc/$agent/fd" | wc -l)" = "$before" ]'
	raw count 3
	says started 'exited 0 0'
	unharmed
}

@test "packets that are no request, or half of one, are refused" {
	local hex
	# Nothing; no version; another version; half an exec; an unknown operation; keep with a tail.
	for hex in 00 0801 0802120408011200 08011210 08010a 080138 0801120a0a056c 08012a00ff 080122021001 \
		"0801$(printf '12%.0s' {1..3000})" "$(printf 'ff%.0s' {1..2000})"; do
		raw hex "$hex"
		[[ ${lines[0]} == 'error '[12] && ${lines[1]} == closed ]] || { echo "$hex: $output" && return 1; }
	done
	# A whole one of another version.
	raw hex 08022a00
	[ "$output" = $'error 2\nclosed' ]
	# Control: a whole one.
	raw hex 08012a00
	says state
	unharmed
}

@test "giant argument lists are refused or run, and cost the agent nothing" {
	local before after
	before=$(awk '/^VmRSS/ { print $2 }' "/proc/$(agent_of)/status")
	raw argv 1 120000
	says started 'exited 0 0'
	raw argv 1000 100
	says started 'exited 0 0'
	raw argv 1 140000
	says 'error 1'
	# More words than there is memory for in what decodes them.
	raw argv 40000 1
	says 'error 1'
	after=$(awk '/^VmRSS/ { print $2 }' "/proc/$(agent_of)/status")
	[ "$after" -lt $((before + 1024)) ]
	unharmed
}

@test "signals without end from an owner who does not read hold up nobody else" {
	raw signals 3000
	[[ ${lines[0]} == 'sent '* ]]
	says 'exited'
	unharmed
}

@test "another user is refused by the socket's mode, and by the agent" {
	run as b "$HOST_PROBES/rawagent" "$SOCKET" hex 08012a00
	says 'connect EACCES'
	run as c "$HOST_PROBES/rawagent" "$SOCKET" hex 08012a00
	says 'connect EACCES'
	# As if the mode were none.
	chmod 666 "$SOCKET"
	for user in b c; do
		run as "$user" "$HOST_PROBES/rawagent" "$SOCKET" hex 08012a00
		[ "$output" = closed ]
		run as "$user" "$HOST_PROBES/rawagent" "$SOCKET" count 3
		[[ $output != *started* ]]
	done
	chmod 600 "$SOCKET"
	# Controls: its owner, and root.
	raw hex 08012a00
	says state
	run "$HOST_PROBES/rawagent" "$SOCKET" hex 08012a00
	says state
}

@test "neither its owner nor others reach into a session's processes from the host" {
	local user victim
	in_session a "$S" 'SECRET=inside exec -a victim sleep 88221' 3>&- 4>&- &
	BACKGROUND+=($!)
	until_true 20 pgrep -u "$UID_S" -f '^victim'
	victim=$(pgrep -u "$UID_S" -f '^victim')
	for user in a b c; do
		run as "$user" "$HOST_PROBES/reach" "$victim"
		[ "${#lines[@]}" -gt 25 ]
		# What everybody may see of every process of the host's is no more than in ps; a file that anybody
		# may open for writing answers for itself.
		! grep -E ' 0$' <<<"$output" | grep -vE '^((cmdline|task)-read|attr/current-write) ' || return 1
		run as "$user" "$HOST_PROBES/reach" "$(agent_of)"
		! grep -E ' 0$' <<<"$output" | grep -vE '^((cmdline|task)-read|attr/current-write) ' || return 1
	done
	kill -0 "$victim"
	works a "$S"
}

@test "keepers that code inside kills or stops end their own job, and no other" {
	local out=$BATS_TEST_TMPDIR/out code=0
	in_session a "$S" 'for pid in $(seq 2 300); do [ -e /proc/$pid ] || kill -0 $pid 2>/dev/null && echo $pid; done; true' >"$out"
	# A hidden process that can be signalled is a keeper, this command's own among them.
	as a timeout 60 lodger exec "$S" -- bash -c 'for pid in $(seq 2 400); do [ -e /proc/$pid ] || kill -KILL $pid 2>/dev/null; done; sleep 88231' || code=$?
	[ "$code" != 0 ]
	[ "$code" != 124 ]
	works a "$S"
	# Stopped ones: the client ends all the same, when it is told to, and the time limit holds.
	# Not into a pipe of the test's, which the job would hold open for as long as it is there.
	code=0
	# A signal that is nobody's else tells who ended it.
	as a timeout --preserve-status --signal=USR2 --kill-after=60 60 lodger exec --timeout 1s "$S" -- bash -c 'for pid in $(seq 2 600); do [ -e /proc/$pid ] || kill -STOP $pid 2>/dev/null; done; sleep 88232' >"$out" 2>&1 || code=$?
	[ "$code" != 0 ]
	[ "$code" != $((128 + $(kill -l USR2))) ]
	until_true 30 works a "$S"
	run in_session a "$S" 'pgrep -f "^sleep 8823"'
	[ -z "$output" ]
}

@test "an agent that stands still keeps nobody from list, show and destroy" {
	STOPPED=$(agent_of)
	kill -STOP "$STOPPED"
	# Beside the others, since it waits a minute; and into a file: the descriptors of a request that the
	# agent has not taken stay in its socket, and with them a pipe stays open.
	background as a bash -c 'timeout 300 lodger exec "$0" -- true >said 2>&1 </dev/null; echo "status $?" >>said' "$S"
	local waiting=$!
	run as a timeout 40 lodger list
	exits 0
	says "$S"
	run as a timeout 40 lodger show "$S"
	exits 0
	wait "$waiting"
	run as a cat said
	says 'status 125' 'does not answer'
	run as b timeout 40 lodger run -- echo others-work
	says others-work
	run as a timeout 40 lodger destroy "$S"
	exits 0
	[ -z "$(processes_of "$UID_S")" ]
}

@test "an agent that the kernel kills takes all of its session along, and is told to have ended" {
	kill -KILL "$(agent_of)"
	until_true 20 eval '[ -z "$(processes_of "$UID_S")" ]'
	run as a timeout 30 lodger list
	says "$S" ended
	run as a timeout 30 lodger show "$S"
	exits 0
	says ended
	run as a timeout 30 lodger exec "$S" -- true
	exits 125
	says 'the session has ended'
	run as a timeout 30 lodger destroy "$S"
	exits 0
}

# frozen: sets up what freezes the session's processes on either kind of cgroup, as root alone can.
frozen() {
	local pid base
	base=$(awk '$1 == "cgroup" { base = $2 } END { print base }' "$POLICY")
	if [ -e "/sys/fs/cgroup/$base/$(session_number "$S")/cgroup.freeze" ]; then
		THAW="echo 0 >/sys/fs/cgroup/$base/$(session_number "$S")/cgroup.freeze"
		echo 1 >"/sys/fs/cgroup/$base/$(session_number "$S")/cgroup.freeze"
	elif [ -d /sys/fs/cgroup/freezer ]; then
		mkdir -p /sys/fs/cgroup/freezer/lodger-test-frozen
		THAW='echo THAWED >/sys/fs/cgroup/freezer/lodger-test-frozen/freezer.state; sleep 1
			rmdir /sys/fs/cgroup/freezer/lodger-test-frozen'
		for pid in $(processes_of "$UID_S"); do
			echo "$pid" >/sys/fs/cgroup/freezer/lodger-test-frozen/cgroup.procs
		done
		echo FROZEN >/sys/fs/cgroup/freezer/lodger-test-frozen/freezer.state
	else
		return 1
	fi
}

@test "a session that is frozen is shown, and destroyed at the latest when it thaws" {
	frozen || skip 'no freezer here'
	run as a timeout 40 lodger list
	exits 0
	run as a timeout 40 lodger show "$S"
	exits 0
	run as a timeout 60 lodger destroy "$S"
	# v1 lets nothing that is frozen die: then it says so, and keeps the number.
	[ "$status" = 0 ] || { says 'has not ended' && [ -e "/run/lodger/sessions/$(session_number "$S")" ]; }
	run as b timeout 40 lodger run -- echo others-work
	eval "$THAW" 2>/dev/null || true
	says others-work
	until_true 20 eval '[ -z "$(processes_of "$UID_S")" ]'
	as a lodger collect
	as a lodger destroy "$S"
	[ ! -e "/run/lodger/sessions/$(session_number "$S")" ]
}
