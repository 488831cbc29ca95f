# What goes in and out of a command: bytes, exit codes, signals, and its end.
# shellcheck disable=SC2002,SC2016,SC2030,SC2031,SC2154  # scripts for other shells; each test is a subshell

load ../lib/lodger

setup() {
	create a
	S=$SESSION
	DATA=$BATS_TEST_TMPDIR/data
}

exec_sh() {
	as a lodger exec "$S" -- sh -c "$1"
}

@test "ten megabytes pass through pipes unchanged" {
	head -c 10485760 /dev/urandom >"$DATA"
	[ "$(cat "$DATA" | as a lodger exec "$S" -- cat | sha256sum)" = "$(sha256sum <"$DATA")" ]
	[ "$(cat "$DATA" | as a lodger exec "$S" -- sha256sum)" = "$(sha256sum <"$DATA")" ]
	[ "$(cat "$DATA" | as a lodger run -- cat | sha256sum)" = "$(sha256sum <"$DATA")" ]
}

@test "ten megabytes pass from file to file unchanged" {
	head -c 10485760 /dev/urandom >"$DATA"
	as a lodger exec "$S" -- cat <"$DATA" >"$DATA.out"
	cmp "$DATA" "$DATA.out"
	# Appended to, and by two commands to one descriptor.
	{ exec_sh 'echo one' && exec_sh 'echo two'; } >>"$DATA.out"
	[ "$(tail -c 8 "$DATA.out")" = $'one\ntwo' ]
	# A file that anybody could read or write is not handed in, but its bytes are.
	chmod 666 "$DATA"
	chmod 644 "$DATA.out"
	as a lodger exec "$S" -- cat <"$DATA" >"$DATA.out"
	cmp "$DATA" "$DATA.out"
}

@test "ten megabytes pass through sockets unchanged" {
	head -c 10485760 /dev/urandom >"$DATA"
	chmod 711 "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test"
	# socat's EXEC gives its program a socket pair as both.
	socat -t 20 STDIO EXEC:"setpriv --reuid=$USERS-a --regid=$USERS-a --init-groups lodger exec $S -- cat" \
		<"$DATA" >"$DATA.out"
	cmp "$DATA" "$DATA.out"
}

@test "standard output and error are separate, and together in order" {
	run --separate-stderr exec_sh 'echo out; echo err >&2'
	[ "$output" = out ]
	[ "$stderr" = err ]
	run bash -c "$(declare -f as); USERS=$USERS; as a lodger exec $S -- sh -c 'for i in 1 2 3; do echo out; echo err >&2; done' 2>&1"
	[ "$(tr '\n' ' ' <<<"$output")" = 'out err out err out err ' ]
}

@test "an empty and a missing standard input are the end of file" {
	[ "$(as a lodger exec "$S" -- wc -c </dev/null)" = 0 ]
	[ "$(as a sh -c "exec lodger exec $S -- wc -c <&-")" = 0 ]
	[ "$(exec_sh 'cat; echo end' <&-)" = end ]
	# Closed output is an error to who writes, not to Lodger.
	run as a bash -c "lodger exec $S -- sh -c 'echo x || exit 3' >&- 2>&-"
	[ "$status" != 0 ]
}

@test "a reader that goes away ends the writer" {
	run as a bash -c "lodger exec $S -- yes | head -n 1; echo \${PIPESTATUS[0]}"
	[ "${lines[0]}" = y ]
	[ "${lines[1]}" = 141 ]
	until_true 5 eval '! exec_sh "pgrep -x yes"'
}

@test "a pipe stays open as long as the command, and no longer" {
	# Output comes while the command still runs.
	run as a timeout 200 bash -c "coproc lodger exec $S -- sh -c 'echo first; read x; echo got-\$x'
		read -r -u \${COPROC[0]} line; echo \"\$line\"; echo hello >&\${COPROC[1]}; cat <&\${COPROC[0]}"
	exits 0
	says first got-hello
	# A here-document does not hang.
	run as a timeout 200 bash -c "lodger exec $S -- cat <<END
line
END"
	exits 0
	says line
}

@test "exit codes are those of the command" {
	local code
	for code in 0 1 2 42 100 123 124 125 126 127 128 130 137 200 254 255; do
		run -"$code" exec_sh "exit $code"
		run -"$code" as a lodger run -- sh -c "exit $code"
	done
}

@test "what cannot be found or executed is 127 and 126" {
	run -127 as a lodger exec "$S" -- no-such-command
	says no-such-command
	run -127 as a lodger exec "$S" -- /no/such/command
	run -127 as a lodger run -- no-such-command
	run -126 as a lodger exec "$S" -- /etc/passwd
	says /etc/passwd
	run -126 as a lodger exec "$S" -- /usr
	exec_sh 'echo "#!/no/such/interpreter" >script; chmod +x script'
	run -127 as a lodger exec "$S" -- ./script
	exec_sh 'chmod -x script'
	run -126 as a lodger exec "$S" -- ./script
	run -126 as a lodger run -- /etc/passwd
}

@test "a command that a signal ended is 128 and the signal" {
	local signal
	for signal in HUP INT QUIT ABRT KILL SEGV TERM USR1 XCPU; do
		run -$((128 + $(kill -l $signal))) exec_sh "kill -$signal \$\$"
	done
	run -137 as a lodger run -- sh -c 'kill -KILL $$'
}

@test "signals to the client reach the command" {
	local signal
	for signal in HUP INT TERM USR1 USR2 QUIT; do
		exec_sh "rm -f ready"
		# Not as a job of this shell, which would ignore SIGINT and SIGQUIT for it.
		run as a bash -c "set -m; lodger exec $S -- bash -c 'trap \"echo got-$signal; exit 33\" $signal; touch ready
				while :; do sleep 0.05; done' & client=\$!
			for i in {1..200}; do lodger exec $S -- test -e ready && break; done
			kill -$signal \$client; wait \$client"
		exits 33
		says "got-$signal"
	done
	# With its default action, it ends the command.
	run as a bash -c "set -m; lodger exec $S -- sleep 86611 & client=\$!
		for i in {1..200}; do lodger exec $S -- pgrep -f '^sleep 86611' >/dev/null && break; done
		kill -TERM \$client; wait \$client"
	exits 143
}

@test "stopping the client stops the command, and it goes on" {
	run as a timeout 600 bash -c "set -m; lodger exec $S -- sleep 86621 & client=\$!
		state() { lodger exec $S -- sh -c 'ps -o stat= -p \$(pgrep -f \"^sleep 86621\")'; }
		for i in {1..200}; do [[ \$(state) == S* ]] && break; done
		kill -TSTP \$client; for i in {1..200}; do [[ \$(state) == T* ]] && echo stopped && break; done
		kill -CONT \$client; for i in {1..200}; do [[ \$(state) == S* ]] && echo goes-on && break; done
		kill -TERM \$client; wait \$client"
	exits 143
	says stopped goes-on
}

@test "a client that is killed ends its command, not the session" {
	run as a bash -c "set -m; lodger exec $S -- sh -c 'sleep 86631; sleep 86632' & client=\$!
		for i in {1..200}; do lodger exec $S -- pgrep -f '^sleep 86631' >/dev/null && break; done
		kill -KILL \$client; wait \$client"
	until_true 10 eval '! exec_sh "pgrep -f ^sleep.8663"'
	works a "$S"
}

@test "a time limit ends the whole job: detached children, too, that hold the pipes" {
	local started=$SECONDS
	run as a timeout 600 lodger exec --timeout 1s "$S" -- bash -c 'trap "" TERM HUP INT; echo out
		setsid sleep 86641 & (setsid bash -c "trap \"\" TERM HUP; sleep 86642; sleep 86643" &)
		nohup sleep 86644 >/dev/null 2>&1 & for i in 1 2 3; do (sleep 86645 & sleep 86646) & done; sleep 86647'
	exits 124
	says out
	[ $((SECONDS - started)) -lt 300 ]
	run exec_sh 'pgrep -fa "^sleep 8664"'
	[ -z "$output" ]
	works a "$S"
}

@test "a time limit leaves alone what other commands started, and what is in time" {
	exec_sh 'nohup sleep 86651 >/dev/null 2>&1 &'
	run as a lodger exec --timeout 1s "$S" -- sleep 86652
	exits 124
	exec_sh 'pgrep -f "^sleep 86651"'
	run as a lodger exec --timeout 60s "$S" -- sh -c 'exit 5'
	exits 5
	run as a lodger run --timeout 1s -- sleep 86653
	exits 124
	run as a lodger shell --timeout 1s "$S" <<<'sleep 86654'
	exits 124
}

@test "a time limit that a command obeys gives it time to clean up" {
	run as a lodger exec --timeout 1s "$S" -- bash -c 'trap "echo cleaned >cleaned; exit 3" TERM; sleep 86661 & wait'
	exits 124
	[ "$(exec_sh 'cat cleaned')" = cleaned ]
}

@test "a background server outlives the command that started it, and answers the next" {
	probe a "$S" sockets
	run as a timeout 200 lodger exec "$S" -- sh -c 'nohup ./sockets listen tcp 4721 >log 2>&1 & echo started'
	exits 0
	until_true 10 exec_sh 'grep -q listening log'
	run exec_sh './sockets connect tcp 4721; sleep 0.2; cat log'
	says connected accepted
	# One that keeps its output open does not hold up the end of the command that started it. (Into
	# a file: whoever reads a pipe to its end waits for all who hold it, as without Lodger.)
	as a timeout 600 lodger exec "$S" -- sh -c 'setsid sleep 86671 & echo started' \
		>"$BATS_TEST_TMPDIR/output" 2>&1
	grep -qx started "$BATS_TEST_TMPDIR/output"
	exec_sh 'pgrep -f "^sleep 86671"'
}

@test "a command may run in another directory and with variables of its own" {
	run as a lodger exec --dir /tmp --env A=1 --env 'B=two words' --env HOME=/tmp/x "$S" -- sh -c 'pwd; echo $A-$B-$HOME'
	exits 0
	[ "${lines[0]}" = /tmp ]
	[ "${lines[1]}" = '1-two words-/tmp/x' ]
	run as a lodger exec --dir /no/such "$S" -- true
	exits 125
	says /no/such
}

@test "arguments arrive as they are" {
	local odd=$'a b\tc\nd "e" \x27f\x27 $HOME * \\ \x01\xff'
	run as a lodger exec "$S" -- printf '<%s>' "$odd" '' -- --help
	exits 0
	[ "$output" = "<$odd><><--><--help>" ]
	run as a lodger exec "$S" printf '<%s>' -x
	[ "$output" = '<-x>' ]
	# The longest that one packet takes, and one that is longer.
	run as a lodger exec "$S" -- sh -c 'echo ${#1}' sh "$(head -c 100000 /dev/zero | tr '\0' x)"
	[ "$output" = 100000 ]
	run as a lodger exec "$S" -- true "$(head -c 131000 /dev/zero | tr '\0' x)" "$(head -c 131000 /dev/zero | tr '\0' x)"
	exits 125
	[ -n "$output" ]
}

@test "many commands at once in one session, each with its own streams" {
	local i pids=()
	for i in $(seq 20); do
		as a lodger exec "$S" -- sh -c "sleep 0.3; echo $i; exit $i" >"$BATS_TEST_TMPDIR/out.$i" 3>&- 4>&- &
		pids+=($!)
	done
	for i in $(seq 20); do
		status=0
		wait "${pids[i - 1]}" || status=$?
		[ "$status" = "$i" ]
		[ "$(cat "$BATS_TEST_TMPDIR/out.$i")" = "$i" ]
	done
}
