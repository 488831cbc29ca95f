# What the tests of models share: a chat server (chatserver) with the answers that a test gives it.
# shellcheck shell=bash disable=SC2154  # bats' own

load ../lib/lodger

# serve [REPLY…]: starts a server that answers with these, {"text": …} each; sets URL, and HEARD, the
# file with what it was asked, a line of JSON each.
serve() {
	local directory=$BATS_TEST_TMPDIR/server-$RANDOM
	mkdir "$directory"
	printf '%s\n' "$@" >"$directory/replies"
	"$BATS_TEST_DIRNAME/chatserver" "$directory" 3>&- &
	SERVER=$!
	until_true 20 test -s "$directory/port"
	URL=http://127.0.0.1:$(cat "$directory/port")/v1
	HEARD=$directory/requests
}

# asked JQ-FILTER: prints what it makes of the array of all requests that are over.
asked() {
	jq -s -r "$1" "$HEARD"
}

# asked_is COUNT: waits until that many are over.
asked_is() {
	until_true 10 eval "[ \"\$(wc -l <'$HEARD' 2>/dev/null)\" = $1 ]"
}

serve_end() {
	[ -z "${SERVER-}" ] || kill "$SERVER"
}

# failed TEXT…, failed_with STATUS TEXT…: the last `run --separate-stderr` was a failure of Lodger's own, in
# whose one line of printable characters all of them stand.
failed() {
	failed_with 125 "$@"
}

failed_with() {
	exits "$1" || return
	shift
	[[ $stderr == 'lodger: '* && $stderr != *$'\n'* && ! $stderr =~ [^[:print:]] ]] || {
		printf 'not one line of Lodger alone: %q\n' "$stderr"
		return 1
	}
	says "$@"
}
