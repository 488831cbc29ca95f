# What the tests of the command line share beside ../lib/lodger.bash.
# shellcheck shell=bash disable=SC2016,SC2034,SC2154  # for eval; for those who load it; bats' own

load ../lib/lodger

COMMANDS='create run exec shell list show destroy collect put get packages which assistant fill export command doctor help'

# fails TEXT…: fails unless `run --separate-stderr` got a failure of Lodger's own: 125, nothing on
# standard output, and on standard error one line of Lodger's in which all of them stand.
fails() {
	exits 125 || return
	[[ -z $output && $stderr == 'lodger: '* && $stderr != *$'\n'* ]] || {
		printf 'not one line of Lodger alone\noutput: %s\nstderr: %s\n' "$output" "$stderr"
		return 1
	}
	says "$@"
}

# refuses TEXT ARGUMENT…: fails unless `lodger ARGUMENT…`, called by user a, fails with TEXT.
refuses() {
	local text=$1
	shift
	run --separate-stderr as a lodger "$@" </dev/null
	fails "$text" || {
		printf 'arguments: %q\n' "$@"
		return 1
	}
}

# succeeds: fails unless `run --separate-stderr` got 0 and nothing on standard error.
succeeds() {
	exits 0 || return
	[ -z "$stderr" ] || {
		printf 'stderr: %s\n' "$stderr"
		return 1
	}
}

# elsewhere SCRIPT: runs it with bash as root in a mount namespace of its own, so that what it mounts
# is seen by what it starts and by nobody else. It has `as`, and $T for the test's directory.
elsewhere() {
	local script
	script="$(declare -f as)"$'\n'"set -e; $1"
	T=$BATS_TEST_TMPDIR USERS=$USERS unshare --mount bash -c "$script"
}

# ended a|b: makes a session that has ended by itself and sets SESSION to its name.
ended() {
	create "$1" --ttl 1s
	until_true 10 eval '[ "$(as a lodger show "$SESSION" --json | jq -r .state)" = ended ]'
}

# destroyed: makes a session of a's, destroys it, and sets SESSION to its name.
destroyed() {
	create a
	as a lodger destroy "$SESSION" >/dev/null
}

# sessions: how many a has.
sessions() {
	as a lodger list --json | jq length
}
