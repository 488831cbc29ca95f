# lodger exec: into which session, and its options there.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # scripts for other shells; bats' own

load cli

@test "a word that is not the name of a session is refused by every command that takes one" {
	local word
	for word in '' 1 lodger lodger- lodger-0 lodger-01 lodger--1 lodger-+1 lodger-1x 'lodger-1 ' ' lodger-1' \
		Lodger-1 lodger_1 lodger-1/ lodger-1/../2 ../1 /run/lodger/sessions/1 lodger-65536 \
		lodger-4294967297 lodger-99999999999999999999 lodger-0x1 lodger-١; do
		run --separate-stderr as a lodger exec "$word" -- echo ran
		fails 'is not the name of a session; they are called lodger-N, and lodger list shows yours'
		[[ $word == *١ || $stderr == *": '$word' is"* ]]
	done
	local text="'lodger-x' is not the name of a session"
	refuses "$text" shell lodger-x
	refuses "$text" show lodger-x
	refuses "$text" destroy lodger-x
	refuses "$text" put lodger-x /etc/hostname .
	refuses "$text" get lodger-x file .
}

@test "a session that is gone, or never was, is said not to be" {
	destroyed
	refuses "connecting to $SESSION: there is no such session; lodger list shows yours" \
		exec "$SESSION" -- true
	refuses "connecting to $SESSION: there is no such session" shell "$SESSION"
	refuses "connecting to $SESSION: there is no such session" put "$SESSION" /etc/hostname .
	refuses "connecting to $SESSION: there is no such session" get "$SESSION" file .
}

@test "a session that has ended is said to have" {
	ended a
	refuses "connecting to $SESSION: the session has ended" exec "$SESSION" -- true
	refuses 'the session has ended (destroyed, over its time to live, or out of memory)' \
		shell "$SESSION"
	refuses "the session has ended" put "$SESSION" /etc/hostname .
	refuses "the session has ended" get "$SESSION" file .
}

@test "a session of somebody else is said to be" {
	create b
	refuses "connecting to $SESSION: it is not your session" exec "$SESSION" -- true
	refuses "connecting to $SESSION: it is not your session" shell "$SESSION"
	refuses "connecting to $SESSION: it is not your session" put "$SESSION" /etc/hostname .
	refuses "connecting to $SESSION: it is not your session" get "$SESSION" file .
	works b "$SESSION"
}

@test "exec takes all of a job's options together" {
	create a
	in_session a "$SESSION" 'mkdir "sub dir"'
	run --separate-stderr as a env TERM=vt100 lodger exec -t --timeout 30s --env A=1 --env B= \
		--dir 'sub dir' -p jq "$SESSION" -- sh -c 'pwd; echo "$A-$B-$TERM"; jq -Mn 6*7; tty' </dev/null
	exits 0
	output=${output//$'\r'/}
	[ "$output" = "/home/$SESSION/sub dir"$'\n1--vt100\n42\n/dev/pts/0' ]
}

@test "exec refuses an option's value as run does" {
	create a
	refuses "--env: '1=x' is not NAME=VALUE" exec --env 1=x "$SESSION" echo ran
	refuses "--timeout: 'soon' is not a time" exec --timeout soon "$SESSION" echo ran
	refuses "--dir: the directory's name is empty" exec --dir= "$SESSION" echo ran
	refuses "'(jq)' is not the name of a package" exec -p '(jq)' "$SESSION" echo ran
	refuses 'cannot enter the directory "no"' exec --dir no "$SESSION" echo ran
}

@test "a directory that the command may not enter is named" {
	create a
	in_session a "$SESSION" 'mkdir closed; chmod 0 closed; touch file; ln -s loop loop'
	refuses 'cannot enter the directory "closed": Permission denied' exec --dir closed "$SESSION" true
	refuses 'cannot enter the directory "file": Not a directory' exec --dir file "$SESSION" true
	refuses 'cannot enter the directory "loop": Too many levels' exec --dir loop "$SESSION" true
}

@test "exec --timeout ends its command and leaves the session" {
	create a
	run --separate-stderr as a lodger exec --timeout=1 "$SESSION" -- sh -c 'echo out; sleep 88021'
	exits 124
	[ "$output" = out ]
	works a "$SESSION"
	run as a lodger exec "$SESSION" -- pgrep -f '^sleep 88021'
	exits 1
}

@test "what cannot be run is named, and its exit code tells why" {
	create a
	in_session a "$SESSION" 'echo text >text; mkdir directory'
	run -127 --separate-stderr as a lodger exec "$SESSION" -- no-such-command
	says 'lodger: starting the command: ' 'no-such-command'
	refuses 'argv names no command' exec "$SESSION" -- ''
	run -126 --separate-stderr as a lodger exec "$SESSION" -- ./text
	says 'lodger: starting the command: ' './text' 'Permission denied'
	run -126 --separate-stderr as a lodger exec "$SESSION" -- ./directory
	says './directory'
	run -127 --separate-stderr as a lodger exec "$SESSION" -- $'no\e[31m'
	says 'cannot execute "no?[31m"'
	[[ $stderr != *$'\e'* ]]
}

@test "too long a command line is refused with the most that there can be" {
	create a
	local word
	word=$(head -c 131000 /dev/zero | tr '\0' x)
	refuses "starting 'true': command and environment take 262" exec "$SESSION" -- true "$word" "$word"
	says 'are the most; pass long input through standard input or lodger put'
	refuses 'command and environment take' exec --env A="$word" --env B="$word" "$SESSION" -- true
	works a "$SESSION"
}

@test "a command killed for the session's memory limit is explained to whoever ran it" {
	create a --memory 16M
	run --separate-stderr as a lodger exec "$SESSION" -- sh -c 'exec tail /dev/zero'
	exits 137
	says "lodger: $SESSION has been at its memory limit, and processes were killed for it"
}

@test "a client whose session does not answer is ended by a signal, and the session destroyed" {
	create a
	local agent status=0
	agent=$(pgrep -u "$((UID_FIRST - 1 + $(session_number "$SESSION")))" -o)
	kill -STOP "$agent"
	# Into files: the agent would hold a pipe that it was handed.
	as a timeout -k 5 1 lodger exec "$SESSION" -- echo ran >"$BATS_TEST_TMPDIR/out" 2>&1 || status=$?
	# Not 137, for the second signal, which cannot be ignored.
	[ "$status" = 124 ]
	[ ! -s "$BATS_TEST_TMPDIR/out" ]
	as a timeout -k 5 20 lodger destroy "$SESSION" >"$BATS_TEST_TMPDIR/out"
	grep -q "^$SESSION destroyed" "$BATS_TEST_TMPDIR/out"
}
