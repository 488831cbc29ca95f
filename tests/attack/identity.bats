# Who is who: process numbers that come round, names that somebody else has, the helper by other names,
# counts, and lines of the log.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell
# shellcheck disable=SC2153,SC2154  # OPEN and the like are rawhelper.bash's; bats' own

load attack

@test "a process that has got the number of a session's dead one is not signalled" {
	[ -w /proc/sys/kernel/ns_last_pid ] || skip 'this kernel does not let numbers be chosen'
	# In a pid namespace of the test's own. strace holds the helper up for three seconds between its
	# reading that a process is the session's and its getting hold of that process.
	run elsewhere '
		as a "$HOST_PROBES/rawhelper" --create --fd=0:/proc/self/fd/0 >$T/made
		number=$(sed -n "s/.* session //p" $T/made)
		agent=$(pgrep -u $((0x70000000 + number)) | head -1)
		timeout 60 strace -f -o $T/trace -e trace=pidfd_open,pidfd_send_signal -e inject=pidfd_open:delay_enter=3000000:when=1 \
			setpriv --reuid=$USERS-a --regid=$USERS-a --init-groups "$HOST_PROBES/rawhelper" --destroy=$number >$T/destroyed &
		strace=$!
		base=$(awk "\$1 == \"cgroup\" { base = \$2 } END { print base }" /etc/lodger/lodger.conf)
		max=$(find /sys/fs/cgroup -path "*/$base/$number/pids.max")
		until [ "$(cat "$max")" = 0 ]; do sleep 0.05; done
		sleep 0.5
		kill -KILL $agent
		while [ -e /proc/$agent ]; do sleep 0.05; done
		for i in {1..100}; do
			echo $((agent - 1)) >/proc/sys/kernel/ns_last_pid
			setpriv --reuid=$USERS-b --regid=$USERS-b --clear-groups sleep 60 &
			[ $! != $agent ] || break
			kill $!
		done
		[ $! = $agent ] && echo reused
		wait $strace || true
		cat $T/destroyed
		kill -0 $agent && echo "lives on"
		echo "seen $agent"; cat $T/trace
		kill $agent' --pid --fork --mount-proc
	says reused 'code OK' 'lives on'
	# Control: the helper got hold of it, and let it go.
	agent=$(sed -n 's/^seen //p' <<<"$output")
	grep -qE "pidfd_open\($agent, 0\) += [0-9]" <<<"$output"
	run ! grep -q 'pidfd_send_signal.*= 0' <<<"$output"
}

@test "in a pid namespace of its own a caller's sessions are made and ended as elsewhere" {
	run elsewhere 'for i in 1 2 3 4 5 6; do as a lodger run -- sh -c "kill -9 -1 & wait" || true; as a lodger run -- echo works; done; as b lodger collect' \
		--pid --fork --mount-proc
	[ "$(grep -cx works <<<"$output")" = 6 ]
}

@test "a user of the machine who has a session's name or number is another one" {
	run elsewhere '
		next=$(od -An -tu4 /run/lodger/lock); next=$((next % 65535 + 1))
		cp /etc/passwd $T/passwd; cp /etc/group $T/group
		for i in 0 1 2 3; do
			n=$((next + i)); echo "lodger-$n:x:$((64000 + i)):64000::/root:/bin/bash" >>$T/passwd
			echo "planted$i:x:$((0x70000000 + n)):0::/root:/bin/bash" >>$T/passwd
			echo "planted:x:$((0x70000000 + n)):$USERS-b" >>$T/group
		done
		mount --bind $T/passwd /etc/passwd; mount --bind $T/group /etc/group
		echo $((0x70000000 + next)); s=$(as a lodger create); echo $s; as a lodger exec $s -- id -u; as a lodger exec $s -- id -G
		as a lodger exec $s -- sh -c "echo \$HOME"
		! setpriv --reuid=64000 --regid=64000 --clear-groups test -w /run/lodger/sessions/${s#lodger-}/socket || echo open
		as a lodger destroy $s'
	exits 0
	[ "${lines[2]}" = "${lines[0]}" ]
	[ "${lines[3]}" = "${lines[0]}" ]
	[ "${lines[4]}" = "/home/${lines[1]}" ]
	[[ $output != *open* ]]
}

@test "the helper by a hard link of a user's does the same, since it looks for nothing beside itself" {
	local before status=0
	before=$(cat /proc/sys/fs/protected_hardlinks)
	ln "$HELPER" "/home/$USERS-a/hard" || skip 'homes are on another file system'
	rm "/home/$USERS-a/hard"
	echo 0 >/proc/sys/fs/protected_hardlinks || skip 'this machine does not let links be made'
	as a ln "$HELPER" hard || status=$?
	as c ln "$HELPER" hard || true
	echo "$before" >/proc/sys/fs/protected_hardlinks
	[ "$status" = 0 ]
	# A planted agent beside it is not what runs.
	as a bash -c 'printf "#!/bin/sh\nid >/tmp/lodger-planted\n" >lodger-agent; chmod 755 lodger-agent'
	run as a "$HOST_PROBES/rawhelper" --create --program="/home/$USERS-a/hard"
	if [ -e "/home/$USERS-c/hard" ]; then
		run -0 as c "$HOST_PROBES/rawhelper" --create --program="/home/$USERS-c/hard"
		answers 'exit 98'
		rm "/home/$USERS-c/hard"
		run as a "$HOST_PROBES/rawhelper" --create --program="/home/$USERS-a/hard"
	fi
	rm "/home/$USERS-a/hard" "/home/$USERS-a/lodger-agent"
	answers 'exit 0' 'code OK'
	[ ! -e /tmp/lodger-planted ]
	as a lodger collect
	# Control: as the machine is, no user can make one.
	if [ "$before" = 1 ]; then
		run as c ln "$HELPER" hard
		says 'not permitted'
	fi
}

@test "one who has as many sessions as it may is refused, however many it asks for at once, and others are served" {
	policy 'maximum sessions-per-caller 3'
	as a bash -c 'for i in {1..24}; do lodger create & done; wait' >"$BATS_TEST_TMPDIR/made" 2>&1
	[ "$(grep -cx 'lodger-[0-9]*' "$BATS_TEST_TMPDIR/made")" = 3 ]
	[ "$(grep -c 'maximum sessions-per-caller is 3' "$BATS_TEST_TMPDIR/made")" = 21 ] || {
		sort "$BATS_TEST_TMPDIR/made" | uniq -c
		return 1
	}
	[ "$(as b lodger run -- echo served)" = served ]
	# All of the machine's: then nobody is, until one is destroyed.
	policy "maximum sessions $(find /run/lodger/sessions -mindepth 1 -maxdepth 1 | wc -l)"
	run as b lodger create
	exits 125
	says 'maximum sessions is'
	as a lodger destroy --all
	[ "$(as b lodger run -- echo served)" = served ]
}

# log_caught SCRIPT: runs it where what is sent to /dev/log is caught, and prints that.
log_caught() {
	local made=
	[ -e /dev/log ] || { touch /dev/log && made=1; }
	elsewhere '
		timeout 600 socat -u "UNIX-RECV:$T/log.socket,mode=666" "OPEN:$T/log,creat,append" 2>/dev/null &
		until [ -S $T/log.socket ]; do sleep 0.05; done
		mount --bind $T/log.socket /dev/log
		'"$1"'
		sleep 0.3; kill %1' || { [ -z "$made" ] || rm -f /dev/log; return 1; }
	[ -z "$made" ] || rm -f /dev/log
	tr '<' '\n' <"$BATS_TEST_TMPDIR/log" | grep .
}

@test "a line of the log says who, what and how it ended, and nothing of it is the caller's to write" {
	local uid
	uid=$(id -u "$USERS-a")
	# Newlines, escapes, forged heads, in all that a caller can hand over: bytes of a request, names.
	run log_caught '
		# The queue is short: one line after the other.
		logged() {
			local before after=0
			before=$(grep -ao lodger-helper $T/log | wc -l)
			"$@" >/dev/null || true
			for i in {1..200}; do
				after=$(grep -ao lodger-helper $T/log | wc -l)
				[ "$after" -le "$before" ] || break
				sleep 0.05
			done
		}
		for hex in 0a3c303e666f726765640a 08010a3c303e666f726765641b5b33316d 1b5d303b61079b33316d 08012a0b0a3c303e666f72676564; do
			logged as a "$HOST_PROBES/rawhelper" --hex=$hex
		done
		logged as a "$HOST_PROBES/rawhelper" --destroy=4294967295
		as a bash -c "exec -a \$'\''\e[33mX\n<0>forged'\'' $HELPER" </dev/null || true
		as a "$HOST_PROBES/rawhelper" --create --arg=$'\''\n<0>forged'\'' >/dev/null
		logged as a lodger create; logged as a lodger destroy --all
		# One line for each that had ended, none for none.
		as a lodger collect >/dev/null
		logged as a lodger create --ttl 1s; sleep 1.5; logged as a lodger collect'
	exits 0
	[ "$(grep -c ' refused: ' <<<"$output")" = 5 ]
	[ "$(grep -c ' done: ' <<<"$output")" = 4 ]
	run ! grep -vE "^8[56]>lodger-helper\[[0-9]+\]: uid $uid (request|create|destroy|collect) (refused|done): [[:print:]]+$" <<<"$output"
	# Control: what a caller says itself is caught as it is.
	rm "$BATS_TEST_TMPDIR"/log*
	run log_caught 'as a bash -c "printf \"<0>forged\" | socat -u - UNIX-SENDTO:/dev/log"'
	says '0>forged'
}

@test "a log that is full, deaf or gone holds up nothing" {
	run elsewhere '
		mkdir $T/dev; touch $T/plain; [ ! -e /dev/log ] || mount --bind $T/plain /dev/log; as a lodger run -- echo works'
	says works
	run log_caught 'kill -STOP %1; for i in {1..30}; do as a lodger run -- echo works; done; kill -CONT %1'
	says works
}
