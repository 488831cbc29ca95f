# lodger collect: what it counts, and that it needs the helper.
# shellcheck disable=SC2030,SC2031,SC2154  # each test is a subshell; bats' own

load cli

setup() {
	as a lodger collect >/dev/null
}

@test "without dead sessions it says so" {
	create a
	run --separate-stderr as a lodger collect
	succeeds
	[ "$output" = '0 dead sessions removed' ]
	run --separate-stderr as a lodger collect --json
	succeeds
	jq -e '. == {collected: 0}' <<<"$output"
	works a "$SESSION"
}

@test "it removes the dead, of whomever they are, and counts them" {
	create b
	local living=$SESSION
	create a --ttl 1s
	ended a
	run --separate-stderr as b lodger collect
	succeeds
	[ "$output" = '2 dead sessions removed' ]
	[ "$(sessions)" = 0 ]
	ended a
	run --separate-stderr as b lodger collect
	succeeds
	[ "$output" = '1 dead session removed' ]
	ended a
	run --separate-stderr as a lodger collect --json
	succeeds
	jq -e 'keys == ["collected"] and .collected == 1' <<<"$output"
	works b "$living"
}

@test "create removes the dead when it needs the room" {
	ended a
	policy 'maximum sessions-per-caller 1'
	create a
	[ "$(as a lodger list --json | jq -r '.[].session')" = "$SESSION" ]
}

@test "a policy that is not understood is named, with the line" {
	policy 'expose relative/path'
	refuses "collecting dead sessions: $POLICY, line $(wc -l <"$POLICY"): not an absolute path" collect
	refuses "line $(wc -l <"$POLICY")" collect --json
}
