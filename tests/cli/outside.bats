# A user outside the group lodger: each command says so, and does nothing.
# shellcheck disable=SC2030,SC2031,SC2154  # each test is a subshell; bats' own

load cli

NOT_IN_GROUP='you are not in the group lodger, which may use it; an administrator can add you
(adduser USER lodger), then log in again'
NOT_IN_GROUP=${NOT_IN_GROUP//$'\n'/ }

# turned_away TEXT ARGUMENT…: fails unless `lodger ARGUMENT…`, called by user c, fails with TEXT.
turned_away() {
	local text=$1
	shift
	run --separate-stderr as c lodger "$@" </dev/null
	fails "$text"
}

@test "what needs the helper names the group, and who can let one in" {
	create a
	turned_away "creating a session: $NOT_IN_GROUP" create
	turned_away "creating a session: $NOT_IN_GROUP" create --json
	turned_away "creating a session: $NOT_IN_GROUP" run -- echo ran
	turned_away "creating a session: $NOT_IN_GROUP" run --usage -p jq -- echo ran
	turned_away "creating a session: $NOT_IN_GROUP" run -t -- echo ran
	turned_away "creating a session: $NOT_IN_GROUP" shell
	turned_away "destroying $SESSION: $NOT_IN_GROUP" destroy "$SESSION"
	turned_away "collecting dead sessions: $NOT_IN_GROUP" collect
	turned_away "collecting dead sessions: $NOT_IN_GROUP" collect --json
	works a "$SESSION"
}

@test "destroy --json prints that none was" {
	create a
	run --separate-stderr as c lodger destroy --json "$SESSION"
	exits 125
	[ "$output" = '[]' ]
	[ "$stderr" = "lodger: destroying $SESSION: $NOT_IN_GROUP" ]
}

@test "the sessions of others are not for use" {
	create a
	turned_away "connecting to $SESSION: it is not your session" exec "$SESSION" -- echo ran
	turned_away "connecting to $SESSION: it is not your session" shell "$SESSION"
	turned_away "connecting to $SESSION: it is not your session" put "$SESSION" /etc/hostname .
	turned_away "connecting to $SESSION: it is not your session" get "$SESSION" file .
	works a "$SESSION"
}

@test "a wrong command line is said before anything about groups" {
	turned_away "--memory: 'x' is not a size" create --memory x
	turned_away 'run: something is missing' run
	turned_away "'x' is not the name of a session" destroy x
	turned_away "'(jq)' is not the name of a package" run -p '(jq)' true
}

@test "what only reads works: help, version, list, show" {
	create a
	run --separate-stderr as c lodger help
	succeeds
	run --separate-stderr as c lodger --version
	succeeds
	run --separate-stderr as c lodger list --json
	succeeds
	[ "$output" = '[]' ]
	run --separate-stderr as c lodger list --all --json
	exits 0
	jq -e "any(.session == \"$SESSION\")" <<<"$output"
	run --separate-stderr as c lodger show "$SESSION" --json
	succeeds
	jq -e '.state == "live" and .jobs == null and .tied == null' <<<"$output"
	run --separate-stderr as c lodger destroy --all
	succeeds
}

@test "doctor names the group as what is missing, and what to do" {
	run --separate-stderr as c lodger doctor
	exits 1
	[ -z "$stderr" ]
	grep -qE '^FAILED   group +you are not in the group lodger \(in this login\)$' <<<"$output"
	grep -qE '^ +-> an administrator can add you: adduser USER lodger; then log in again$' <<<"$output"
}
