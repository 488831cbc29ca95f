# lodger list, show and destroy: what they print for people and for programs, and about which sessions.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # for eval; each test is a subshell; bats' own

load cli

# What list and show say of one session. A figure that this kernel does not keep is null.
SESSION_TYPES='def figure: . == null or (type == "number" and . >= 0 and . == floor);
	(.session | test("^lodger-[1-9][0-9]*$")) and (.uid | figure) and (.owner | type) == "string"
	and (.owner_uid | figure) and (.state | IN("live", "ended", "unclear"))
	and ([.created, .age, .remaining] | all(type == "number" and figure))
	and (.network | IN("none", "host"))
	and (.limits | keys) == ["cpu", "disk", "inodes", "memory", "pids", "ttl"]
	and (.limits | all(type == "number" and . > 0))
	and (.usage | keys) == ["cpu_usec", "memory", "memory_peak", "oom_kills", "pids", "pids_peak",
		"wall_usec"]
	and (.usage | all(figure))'
SESSION_KEYS='["age", "created", "limits", "network", "owner", "owner_uid", "remaining", "session",
	"state", "uid", "usage"]'

# line LABEL: what show says behind it, in $output.
line() {
	sed -n "s/^$(printf '%-16s' "$1") //p" <<<"$output"
}

@test "a list without sessions is a head line, or an empty array" {
	run --separate-stderr as a lodger list
	succeeds
	[ "${#lines[@]}" = 1 ]
	[ "$(xargs <<<"$output")" = 'SESSION OWNER UID STATE AGE TTL-LEFT MEMORY PIDS' ]
	run --separate-stderr as a lodger list --json
	succeeds
	[ "$output" = '[]' ]
}

@test "a list has one line for each session, in the order of their numbers" {
	create a --memory 100M --pids 20 --ttl 1h
	local first=$SESSION
	create a
	run --separate-stderr as a lodger list
	succeeds
	[ "${#lines[@]}" = 3 ]
	[[ ${lines[1]} == "$first "* && ${lines[2]} == "$SESSION "* ]]
	local pattern="^$first +$USERS-a +$((UID_FIRST - 1 + $(session_number "$first"))) +live +[0-9]+s "
	pattern+=' +(59m5[0-9]s|1h00m) +[0-9.]+[KM]?/100M +[0-9]+/20$'
	[[ ${lines[1]} =~ $pattern ]]
}

@test "list --json has all keys with their types, for every session" {
	create a
	create a --net none --disk 2M
	run --separate-stderr as a lodger list --json
	succeeds
	jq -e "length == 2 and all(keys == $SESSION_KEYS) and all($SESSION_TYPES)
		and all(.owner == \"$USERS-a\" and .owner_uid == $(id -u "$USERS-a") and .state == \"live\")
		and .[1].limits.disk == 2097152" <<<"$output"
}

@test "list and show tell the same of a session" {
	create a
	in_session a "$SESSION" 'head -c 1M /dev/zero >file'
	as a lodger list --json | jq -e '.[0].usage | .wall_usec > 0 and .memory > 0 and .pids >= 1'
	as a lodger show "$SESSION" --json | jq -e '.usage | .wall_usec > 0 and .memory > 0 and .pids >= 1'
}

@test "list --all has the sessions of all, each with its owner" {
	create a
	local mine=$SESSION
	create b
	run --separate-stderr as a lodger list --all
	exits 0
	grep -q "^$mine  *$USERS-a " <<<"$output"
	grep -q "^$SESSION  *$USERS-b " <<<"$output"
	run --separate-stderr as a lodger list
	[[ $output != *"$SESSION "* ]]
	run --separate-stderr as a lodger list --all --json
	exits 0
	jq -e "all(keys == $SESSION_KEYS) and all($SESSION_TYPES)
		and ([.[] | select(.session == \"$mine\" or .session == \"$SESSION\") | .owner]
		| sort) == [\"$USERS-a\", \"$USERS-b\"]" <<<"$output"
}

@test "list says how to remove what ended, on standard error, and destroyed ones are not listed" {
	destroyed
	ended a
	run --separate-stderr as a lodger list
	exits 0
	[[ ${lines[1]} =~ ^$SESSION\ .*\ ended\ .*\ 0s\  ]]
	[ "${#lines[@]}" = 2 ]
	[ "$stderr" = 'lodger: 1 of them ended by themselves; lodger collect removes what is left of them' ]
	run --separate-stderr as a lodger list --json
	succeeds
	jq -e "length == 1 and (.[0] | $SESSION_TYPES and .state == \"ended\" and .remaining == 0)" \
		<<<"$output"
}

@test "show tells its owner everything, one a line" {
	create a --memory 100M --pids 20 --cpu 50 --disk 10M --inodes 1000 --ttl 2h
	run --separate-stderr as a lodger show "$SESSION"
	succeeds
	[ "$(line session)" = "$SESSION" ]
	[ "$(line uid)" = "$((UID_FIRST - 1 + $(session_number "$SESSION")))" ]
	[ "$(line owner)" = "$USERS-a ($(id -u "$USERS-a"))" ]
	[ "$(line state)" = live ]
	[[ $(line created) == "$(date +%Y-%m-%d) "*:*:*' '[+-]* ]]
	[[ $(line age) =~ ^[0-9]s$ ]]
	[[ $(line 'ttl left') =~ ^(1h59m|2h00m)$ ]]
	[ "$(line jobs)" = 0 ]
	[ "$(line tied)" = no ]
	[ "$(line network)" = none ]
	[ "$(line 'memory limit')" = 100M ]
	[ "$(line 'process limit')" = 20 ]
	[ "$(line 'cpu limit')" = 50% ]
	[ "$(line 'disk limit')" = 10M ]
	[ "$(line 'inode limit')" = 1000 ]
	[ "$(line ttl)" = 2h00m ]
	local figure='^([0-9.]+[KMG]?|not kept by this kernel)$' label
	[[ $(line 'cpu time') =~ ^[0-9]+\.[0-9]{3}s$|^not\ kept ]]
	for label in 'memory now' 'memory peak' 'memory kills' 'processes now' 'processes peak'; do
		[[ $(line "$label") =~ $figure ]]
	done
	[ "${#lines[@]}" = 22 ]
}

@test "show --json has what list has, and what the agent says" {
	create a --ttl 600
	run --separate-stderr as a lodger show --json "$SESSION"
	succeeds
	jq -e "keys == ($SESSION_KEYS + [\"jobs\", \"tied\"] | sort) and $SESSION_TYPES
		and .jobs == 0 and .tied == false and .state == \"live\" and .session == \"$SESSION\"
		and .uid == $((UID_FIRST - 1 + $(session_number "$SESSION"))) and .limits.ttl == 600
		and (.created - now | fabs) < 60" <<<"$output"
	background as a lodger exec "$SESSION" -- sleep 88031
	until_true 10 eval '[ "$(as a lodger show "$SESSION" --json | jq .jobs)" = 1 ]'
	run --separate-stderr as a lodger show "$SESSION"
	[ "$(line jobs)" = 1 ]
}

@test "show tells others what everybody may know, and not how many jobs run" {
	create b
	run --separate-stderr as a lodger show "$SESSION"
	succeeds
	[ "$(line owner)" = "$USERS-b ($(id -u "$USERS-b"))" ]
	[ -z "$(line jobs)$(line tied)" ]
	run --separate-stderr as a lodger show "$SESSION" --json
	succeeds
	jq -e "keys == ($SESSION_KEYS + [\"jobs\", \"tied\"] | sort) and $SESSION_TYPES
		and .jobs == null and .tied == null and .state == \"live\"" <<<"$output"
}

@test "show of a session that ended says so, and what is left to do" {
	ended a
	run --separate-stderr as a lodger show "$SESSION"
	succeeds
	[ "$(line state)" = 'ended (lodger collect removes the rest)' ]
	[ "$(line 'ttl left')" = 0s ]
	[ -z "$(line jobs)" ]
	run --separate-stderr as a lodger show "$SESSION" --json
	succeeds
	jq -e "$SESSION_TYPES and .state == \"ended\" and .jobs == null and .remaining == 0" <<<"$output"
}

@test "show of a session that is not there says so" {
	destroyed
	refuses "showing $SESSION: there is no such session; lodger list shows yours" show "$SESSION"
	refuses "showing $SESSION: there is no such session; lodger list shows yours" \
		show --json "$SESSION"
}

@test "show of a session whose record is not finished says to try again" {
	create a
	local place
	place=/run/lodger/sessions/$(session_number "$SESSION")
	mkdir -p "$BATS_TEST_TMPDIR/place"
	: >"$BATS_TEST_TMPDIR/place/record"
	export S=$SESSION PLACE=$place
	run --separate-stderr elsewhere 'mount --bind "$T/place" "$PLACE"; as a lodger show "$S"'
	fails "showing $SESSION: it is just being made, or was never finished; try again"
	run --separate-stderr elsewhere 'mount --bind "$T/place" "$PLACE"; as a lodger list --json'
	succeeds
	[ "$output" = '[]' ]
}

@test "destroy tells what each session used" {
	create a
	in_session a "$SESSION" 'sleep 0.2'
	run --separate-stderr as a lodger destroy "$SESSION"
	succeeds
	local pattern="^$SESSION destroyed; it used: CPU time [0-9]+\.[0-9]{3}s, "
	pattern+='wall time [0-9]+\.[0-9]{3}s, peak memory [0-9.]+[KM]?, peak processes [0-9]+$'
	[[ $output =~ $pattern ]]
	[[ $output != *'wall time 0.0'* ]]
	run --separate-stderr as a lodger destroy "$SESSION"
	succeeds
	[ "$output" = "$SESSION is already gone" ]
}

@test "destroy --json has all keys with their types" {
	create a
	local first=$SESSION
	destroyed
	run --separate-stderr as a lodger destroy --json "$first" "$SESSION"
	succeeds
	jq -e "length == 2 and all(keys == [\"already_gone\", \"session\", \"usage\"])
		and .[0].session == \"$first\" and .[0].already_gone == false
		and (.[0].usage | keys) == [\"cpu_usec\", \"memory\", \"memory_peak\", \"oom_kills\", \"pids\",
			\"pids_peak\", \"wall_usec\"]
		and (.[0].usage | all(. == null or type == \"number\")) and .[0].usage.wall_usec > 0
		and .[1] == {session: \"$SESSION\", already_gone: true, usage: null}" <<<"$output"
}

@test "several sessions are destroyed at once, one named twice included" {
	create a
	local first=$SESSION
	create a
	run --separate-stderr as a lodger destroy "$first" "$SESSION" "$first"
	succeeds
	[[ ${lines[0]} == "$first destroyed;"* && ${lines[1]} == "$SESSION destroyed;"* ]]
	[ "${lines[2]}" = "$first is already gone" ]
	[ "$(sessions)" = 0 ]
}

@test "one wrong name on the command line spares all" {
	create a
	refuses "'nonsense' is not the name of a session" destroy "$SESSION" nonsense
	refuses "'' is not the name of a session" destroy "$SESSION" ''
	works a "$SESSION"
}

@test "a session of somebody else is not destroyed, and the others are" {
	create a
	local first=$SESSION
	create a
	local last=$SESSION
	create b
	run --separate-stderr as a lodger destroy "$first" "$SESSION" "$last"
	exits 125
	[ "$stderr" = "lodger: destroying $SESSION: $SESSION belongs to uid $(id -u "$USERS-b"), not to you" ]
	[[ ${lines[0]} == "$first destroyed;"* && ${lines[1]} == "$last destroyed;"* ]]
	works b "$SESSION"
	create a
	run --separate-stderr as b lodger destroy --json "$SESSION"
	exits 125
	[ "$output" = '[]' ]
	says 'not to you'
	works a "$SESSION"
}

@test "destroy --all destroys all of the caller's, ended ones too, and none is a success" {
	create b
	local other=$SESSION
	create a
	local first=$SESSION
	ended a
	run --separate-stderr as a lodger destroy --all --json
	succeeds
	jq -e "[.[].session] == [\"$first\", \"$SESSION\"] and all(.already_gone == false)" <<<"$output"
	run --separate-stderr as a lodger destroy --all
	succeeds
	[ -z "$output" ]
	run --separate-stderr as a lodger destroy --all --json
	succeeds
	[ "$output" = '[]' ]
	works b "$other"
}

@test "text and JSON are one document that ends in a newline" {
	create a
	local words
	for words in 'list --json' "show --json $SESSION" "destroy --json $SESSION" 'collect --json'; do
		# shellcheck disable=SC2086  # words
		as a lodger $words >"$BATS_TEST_TMPDIR/out"
		[ "$(jq -s length "$BATS_TEST_TMPDIR/out")" = 1 ]
		[ "$(tail -c 1 "$BATS_TEST_TMPDIR/out" | od -An -tx1 | xargs)" = 0a ]
	done
}
