# A session from its beginning to its end: whose it is, who may use it, what ends it, and what is
# known of it outside.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell

load ../lib/lodger

uid_of() {
	echo $((UID_FIRST - 1 + $(session_number "$1")))
}

state_of() {
	as "$1" lodger list --json 2>/dev/null | jq -r ".[] | select(.session == \"$2\") | .state"
}

gone() {
	[ ! -e "/run/lodger/sessions/$(session_number "$1")" ]
}

@test "create prints a name, exec runs there, destroy ends it" {
	leaves_nothing_start
	create a
	run as a lodger exec "$SESSION" -- sh -c 'echo $LODGER_SESSION; id -u'
	exits 0
	[ "${lines[0]}" = "$SESSION" ]
	[ "${lines[1]}" = "$(uid_of "$SESSION")" ]
	run as a lodger destroy "$SESSION"
	exits 0
	says "$SESSION"
	run as a lodger exec "$SESSION" -- true
	exits 125
	says "$SESSION" 'no such session'
	leaves_nothing_end
}

@test "a session keeps its files from one command to the next, and takes them with it" {
	create a
	in_session a "$SESSION" 'echo kept >file; echo kept >/tmp/file'
	[ "$(in_session a "$SESSION" 'cat file /tmp/file' | uniq)" = kept ]
	as a lodger destroy "$SESSION"
	create a
	run in_session a "$SESSION" 'cat file /tmp/file; ls -A'
	[[ $output != *kept* ]]
}

@test "run leaves nothing, whatever its command did" {
	leaves_nothing_start
	as a lodger run -- true
	run as a lodger run -- sh -c 'exit 7'
	exits 7
	run as a lodger run -- sh -c 'setsid sleep 86711 & ipcmk -M 4096 >/dev/null; echo x >/tmp/x; mkfifo /tmp/f; exit 0'
	exits 0
	run as a lodger run -- no-such-command
	exits 127
	leaves_nothing_end
}

@test "another user can neither use nor destroy a session, nor can one outside the group" {
	create a
	local other command
	echo secret >"$BATS_TEST_TMPDIR/secret"
	in_session a "$SESSION" 'echo secret >secret'
	for other in b c; do
		for command in "exec $SESSION -- cat secret" "shell $SESSION" "get $SESSION secret ." "put $SESSION /etc/hostname ." \
			"destroy $SESSION"; do
			# shellcheck disable=SC2086  # words
			run as "$other" lodger $command </dev/null
			exits 125
			[[ $output != *secret$'\n'* && $output != secret ]]
			[ -n "$output" ]
		done
		run as "$other" bash -c "socat -u OPEN:/dev/null UNIX-CONNECT:/run/lodger/sessions/$(session_number "$SESSION")/socket,type=5"
		[ "$status" != 0 ]
		says 'ermission denied'
	done
	[ "$(in_session a "$SESSION" 'cat secret; ls')" = $'secret\nsecret' ]
	[ "$(state_of a "$SESSION")" = live ]
	# Control: the same calls by its owner.
	as a lodger get "$SESSION" secret .
	rm "/home/$USERS-a/secret"
	as a lodger destroy "$SESSION"
}

@test "another user is told whose a session is" {
	create a
	run as b lodger destroy "$SESSION"
	exits 125
	says "$SESSION" 'not to you'
	run as b lodger exec "$SESSION" -- true
	exits 125
	says "$SESSION"
}

@test "destroy --all ends all of the caller and none of anybody else" {
	create a
	local first=$SESSION
	create a
	create b
	run as a lodger destroy --all
	exits 0
	says "$first"
	works b "$SESSION"
	[ -z "$(as a lodger list | grep -o '^lodger-[0-9]*')" ]
}

@test "root may destroy the session of any user, and use none by name of another" {
	create a
	run "$PROBES/rawhelper" --destroy="$(session_number "$SESSION")"
	says 'code OK'
	gone "$SESSION"
}

@test "a session over its time to live ends, and collect removes it" {
	leaves_nothing_start
	# Long enough to look at it on an emulated machine, too.
	create a --ttl "$((${PATIENCE:-10} / 5))s"
	in_session a "$SESSION" 'setsid sleep 86721 >/dev/null 2>&1 & true'
	[ "$(state_of a "$SESSION")" = live ]
	run as a lodger exec "$SESSION" -- sleep 86722
	exits 125
	says 'time to live'
	until_true 10 eval '[ "$(state_of a "$SESSION")" = ended ]'
	[ -z "$(processes_of "$(uid_of "$SESSION")")" ]
	run as a lodger exec "$SESSION" -- true
	exits 125
	says ended
	as a lodger collect
	gone "$SESSION"
	leaves_nothing_end
}

@test "a session within its time to live is not collected" {
	create a --ttl 1h
	as a lodger collect
	as b lodger collect
	works a "$SESSION"
	run as a lodger show "$SESSION" --json
	jq -e '.remaining > 3500 and .remaining <= 3600 and .limits.ttl == 3600' <<<"$output"
}

@test "anybody may collect what is dead, of whomever it was" {
	create a --ttl 1s
	until_true 10 eval '[ "$(state_of a "$SESSION")" = ended ]'
	run as b lodger collect --json
	exits 0
	jq -e '.collected >= 1' <<<"$output"
	gone "$SESSION"
}

@test "destroying twice is a success both times, and says so" {
	create a
	as a lodger destroy "$SESSION"
	run as a lodger destroy "$SESSION"
	exits 0
	says "$SESSION" 'already gone'
	run as a lodger destroy "$SESSION" --json
	exits 0
	jq -e '.[0].already_gone' <<<"$output"
	run as b lodger destroy "$SESSION"
	exits 0
}

@test "what a killed helper left half made is gone at destroy, too, of whomever it was" {
	local number
	leaves_nothing_start
	create a
	# A number that no session has: as far as a helper gets before it writes the record.
	number=$((($(session_number "$SESSION") + 20000) % 65535 + 1))
	install -d -m 711 "/run/lodger/sessions/$number"
	touch "/run/lodger/sessions/$number/lock"
	run as b lodger destroy "lodger-$number"
	exits 0
	says 'already gone'
	[ ! -e "/run/lodger/sessions/$number" ]
	as a lodger destroy "$SESSION"
	leaves_nothing_end
}

@test "destroying while a command runs ends the command, and its client says why" {
	create a
	as a lodger exec "$SESSION" -- sh -c 'echo started; trap "" TERM HUP INT; while :; do sleep 1; done' \
		>"$BATS_TEST_TMPDIR/out" 2>&1 3>&- 4>&- &
	local client=$! code=0
	until_true 10 grep -q started "$BATS_TEST_TMPDIR/out"
	as a lodger destroy "$SESSION"
	wait "$client" || code=$?
	[ "$code" = 125 ] || [ "$code" = 137 ]
	if [ "$code" = 125 ]; then
		grep -q 'session ended while the command ran' "$BATS_TEST_TMPDIR/out"
	fi
	gone "$SESSION"
	[ -z "$(processes_of "$(uid_of "$SESSION")")" ]
}

@test "a fork bomb does not keep a session from being destroyed" {
	create a --pids 60
	probe a "$SESSION" forks
	background as a lodger exec "$SESSION" -- ./forks bomb
	until_true 10 eval '[ "$(ps -o pid= -u "$(uid_of "$SESSION")" | wc -l)" -gt 50 ]'
	run as a timeout 200 lodger destroy "$SESSION"
	exits 0
	gone "$SESSION"
	[ -z "$(processes_of "$(uid_of "$SESSION")")" ]
}

@test "stopped and detached processes do not keep a session from being destroyed" {
	create a
	in_session a "$SESSION" 'for i in 1 2 3; do setsid sh -c "trap \"\" TERM HUP INT; sleep 86731" >/dev/null 2>&1 & done
		sleep 86732 >/dev/null 2>&1 & kill -STOP $!; true'
	run as a timeout 200 lodger destroy "$SESSION"
	exits 0
	[ -z "$(processes_of "$(uid_of "$SESSION")")" ]
}

@test "a killed client ends the session that is tied to it" {
	local signal client session
	for signal in KILL TERM HUP INT; do
		# Not as a job of this shell, which would ignore SIGINT for it.
		as a bash -c "set -m; lodger run -- sh -c 'echo \$LODGER_SESSION; sleep 86741' & echo \$!; wait \$!" \
			>"$BATS_TEST_TMPDIR/out" 2>&1 3>&- 4>&- &
		# Two processes write to it, in any order.
		until_true 20 eval '[ "$(wc -l <"$BATS_TEST_TMPDIR/out")" = 2 ]'
		client=$(grep -x '[0-9]*' "$BATS_TEST_TMPDIR/out")
		session=$(grep -x 'lodger-[0-9]*' "$BATS_TEST_TMPDIR/out")
		[ "$(state_of a "$session")" = live ]
		as a kill -"$signal" "$client"
		until_true 10 eval '[ -z "$(processes_of "$(uid_of "$session")")" ]'
		[ "$(state_of a "$session")" != live ]
		wait || true
		as a lodger collect
		gone "$session"
	done
}

@test "a created session outlives its client, and the shell that called it" {
	local session
	session=$(as a bash -c 'lodger create')
	SESSION=$session
	sleep 0.5
	works a "$SESSION"
}

@test "a session whose processes were all killed from outside is still listed, and destroyed" {
	create a
	local pids
	pids=$(processes_of "$(uid_of "$SESSION")")
	# shellcheck disable=SC2086  # numbers
	kill -KILL $pids
	until_true 10 eval '[ "$(state_of a "$SESSION")" = ended ]'
	run as a lodger show "$SESSION"
	exits 0
	says ended
	run as a lodger destroy "$SESSION"
	exits 0
	gone "$SESSION"
}

@test "a session that runs out of memory as a whole can be destroyed" {
	create a --memory 16M --pids 40
	run as a timeout 600 lodger exec "$SESSION" -- sh -c 'for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=/tmp/$i bs=1M count=16 & done; wait'
	run as a timeout 200 lodger list
	exits 0
	run as a timeout 200 lodger show "$SESSION"
	run as a timeout 200 lodger destroy "$SESSION"
	exits 0
	gone "$SESSION"
}

@test "list and show tell whose a session is, and list shows only those of the caller" {
	create a
	local mine=$SESSION
	create b
	[ "$(as a lodger list --json | jq -r '.[].session')" = "$mine" ]
	run as a lodger list --all --json
	jq -e ".[] | select(.session == \"$SESSION\") | .owner == \"$USERS-b\" and .owner_uid == $(id -u "$USERS-b")" <<<"$output"
	jq -e ".[] | select(.session == \"$mine\") | .owner == \"$USERS-a\"" <<<"$output"
	run as b lodger show "$mine" --json
	exits 0
	jq -e ".owner == \"$USERS-a\" and .uid == $(uid_of "$mine")" <<<"$output"
}

@test "the host knows a lodger by name while it lives, and not afterwards" {
	grep -q '^passwd:.*systemd' /etc/nsswitch.conf && compgen -G '/lib/*/libnss_systemd.so.2' >/dev/null ||
		skip 'nss-systemd is not here'
	create a
	run getent passwd "$SESSION"
	exits 0
	[[ $output == "$SESSION:"*":$(uid_of "$SESSION"):$(uid_of "$SESSION"):"*nologin ]]
	[ "$(getent passwd "$(uid_of "$SESSION")" | cut -d: -f1)" = "$SESSION" ]
	[ "$(getent group "$SESSION" | cut -d: -f3)" = "$(uid_of "$SESSION")" ]
	background as a lodger exec "$SESSION" -- sleep 86751
	until_true 10 pgrep -f '^sleep 86751'
	[ "$(ps -o user:20= -p "$(pgrep -f '^sleep 86751')")" = "$SESSION" ]
	as a lodger destroy "$SESSION"
	run getent passwd "$SESSION"
	exits 2
	run getent passwd "$(uid_of "$SESSION")"
	exits 2
	run getent group "$SESSION"
	exits 2
}

@test "numbers are not used again at once" {
	create a
	local first=$SESSION
	as a lodger destroy "$first"
	create a
	[ "$(session_number "$SESSION")" -gt "$(session_number "$first")" ] || [ "$(session_number "$SESSION")" -lt 10 ]
}

@test "counts of the policy hold: for one caller, and for all together" {
	policy 'maximum sessions-per-caller 2'
	create a
	create a
	run as a lodger create
	exits 125
	says sessions-per-caller
	[ "$(as a lodger list | grep -c '^lodger-')" = 2 ]
	# Another caller has a count of its own.
	create b
	policy "maximum sessions $(find /run/lodger/sessions -mindepth 1 -maxdepth 1 | wc -l)"
	run as b lodger create
	exits 125
	says sessions
	# A dead one does not count: it is collected to make room.
	as b lodger destroy "$SESSION"
	create b --ttl 1s
	until_true 10 eval '[ "$(state_of b "$SESSION")" = ended ]'
	create b
	works b "$SESSION"
}
