# Moments: what changes between a look and a use, and what comes at the same time.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell

load ../lib/lodger

setup() {
	leaves_nothing_start
	HERE=/home/$USERS-a/races
	rm -rf "$HERE"
}

teardown() {
	local left=0
	rm -rf "$HERE"
	lodger_teardown
	left_nothing || left=1
	return "$left"
}

@test "names that are swapped while their session is destroyed lead to nothing outside" {
	local before
	as a bash -c 'mkdir -p races/kept/sub; echo kept >races/kept/file; ln -s /etc races/kept/link'
	cp -p /etc/hostname "$BATS_TEST_TMPDIR/hostname"
	before=$(find "$HERE" /etc/passwd /etc/hostname /usr/bin/true -printf '%p %i %y %m %u %s %n\n')
	host_probe exchange
	for _ in 1 2 3 4 5 6; do
		create a
		probe a "$SESSION" exchange
		# Directories for links to what is exposed, in home and in what everybody writes to.
		in_session a "$SESSION" 'for at in . /tmp /var/tmp /dev/shm; do mkdir -p $at/d/sub; echo x >$at/d/file
			ln -s /etc $at/l; ln -s "'"$HERE"'/kept" $at/k; done'
		background as a lodger exec "$SESSION" -- bash -c './exchange d l & cd /tmp; ~/exchange d k & cd /var/tmp
			~/exchange d l & cd /dev/shm; ~/exchange d/file k & wait'
		until_true 10 in_session a "$SESSION" 'pgrep -c exchange | grep -q 4'
		as a timeout 25 lodger destroy "$SESSION"
	done
	[ "$before" = "$(find "$HERE" /etc/passwd /etc/hostname /usr/bin/true -printf '%p %i %y %m %u %s %n\n')" ]
	[ "$(cat "$HERE/kept/file")" = kept ]
	# Control: who looks at a name twice on the host finds two things there.
	as a mkdir -p races/one
	as a ln -s kept races/two
	background as a "$HOST_PROBES/exchange" races/one races/two
	until_true 30 eval '[ "$(for i in {1..20}; do stat -c %F "$HERE/one"; done | sort -u | wc -l)" = 2 ]'
}

@test "no link of a lodger's reaches a file of the host's" {
	create a
	run in_session a "$SESSION" 'for file in /etc/passwd /etc/hostname /usr/bin/true /etc/shadow; do ln $file . && echo linked; done
		ln -s /etc/passwd link; ln -P link link2; chown 0 link; chmod 777 link; echo x >>link; true'
	[[ $output != *linked* ]]
	[ "$(grep -c 'Invalid cross-device link\|not permitted' <<<"$output")" -ge 4 ]
	says 'Read-only file system'
	# Control: where it is one file system a link is made.
	in_session a "$SESSION" 'echo x >file && ln file file2'
}

@test "a hundred destroys of one session at once end it once, and all say so" {
	create a
	mkdir -m 777 "$BATS_TEST_TMPDIR/out"
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR/test"
	as a timeout 100 bash -c 'for i in {1..100}; do lodger destroy "$1" >"$2/$i" 2>&1 & pids+=($!); done
		for pid in "${pids[@]}"; do wait $pid || exit 1; done' - "$SESSION" "$BATS_TEST_TMPDIR/out"
	[ "$(cat "$BATS_TEST_TMPDIR"/out/* | grep -cE "^$SESSION (destroyed|is already gone)")" = 100 ]
	[ ! -e "/run/lodger/sessions/$(session_number "$SESSION")" ]
}

# In a pid namespace of its own, where numbers can be chosen (proc(5), ns_last_pid): a destroy that is
# held between reading a process's number and taking hold of the process; meanwhile the process ends and a
# stranger gets its number.
@test "a stranger that gets a session's process number during a destroy is not signalled" {
	[ -w /proc/sys/kernel/ns_last_pid ] || skip 'this kernel does not let numbers be chosen'
	create a
	run timeout 100 unshare --pid --fork --mount-proc bash -c '
		'"$(declare -f as)"'
		USERS='"$USERS"' number=$(session_number=$1; echo ${1#lodger-})
		session=$(as a lodger create)
		uid=$(('"$UID_FIRST"' - 1 + ${session#lodger-}))
		victim=$(ps -o pid= -u "$uid" | sort -n | head -1 | tr -d " ")
		[ -n "$victim" ] || exit 9
		# What stands still is the first pidfd_open(2).
		strace -f -qq -o '"$BATS_TEST_TMPDIR"'/trace -e trace=pidfd_open,pidfd_send_signal \
			-e inject=pidfd_open:delay_enter=4000000:when=1 '"$PROBES"'/rawhelper --destroy="${session#lodger-}" --seconds=60 \
			--program='"$HELPER"' >/dev/null 2>&1 &
		sleep 2
		kill -KILL "$victim"
		while [ -e "/proc/$victim" ]; do sleep 0.05; done
		for i in {1..2000}; do
			echo $((victim - 1)) >/proc/sys/kernel/ns_last_pid
			sleep 30 &
			[ $! != "$victim" ] || break
			kill $!
		done
		[ $! = "$victim" ] || exit 8
		sleep 4
		kill -0 "$victim" && echo lives
		kill -KILL "$victim"
	' - "$SESSION"
	echo "$output"
	cat "$BATS_TEST_TMPDIR/trace"
	says lives
}
