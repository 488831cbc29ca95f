# What the tests of lodger assistant share.
# shellcheck shell=bash disable=SC2154  # bats' own

load ../lib/lodger

# What user a may read and write.
setup() {
	WORK=$(mktemp -d /tmp/lodger-assistant.XXXXXX)
	chown "$USERS-a" "$WORK"
	PLANTED+=("$WORK")
	install -m 755 "$BATS_TEST_DIRNAME/typist" "$WORK/typist"
	OPTIONS=()
}

# file NAME: standard input, for user a.
file() {
	cat >"$WORK/$1"
	chmod 644 "$WORK/$1"
}

# typed TEXT…: one assistant types them, with OPTIONS; the person says what PERSON holds.
typed() {
	jq -n '$ARGS.positional' --args -- "$@" | file texts
	run --separate-stderr as a lodger assistant "${OPTIONS[@]}" --json-lines --exec "$WORK/typist $WORK/texts" \
		<<<"${PERSON-}"
}

# came N END STATUS [OUTPUT]: of the Nth text (from 1) came just that.
came() {
	local result
	result=$(sed -n "$1p" "$WORK/texts.results" | jq -c '[.end, .status, .output]')
	[ "$(jq -r '.[0]' <<<"$result")" = "$2" ] && [ "$(jq -r '.[1]' <<<"$result")" = "$3" ] &&
		{ [ $# -lt 4 ] || [ "$(jq '.[2]' <<<"$result")" = "$(jq -n '$x' --arg x "$4")" ]; } || {
		printf 'of text %s came %s, not %s %s %q\n%s\n%s\n' "$1" "$result" "$2" "$3" "${4-}" "$output" "$stderr"
		return 1
	}
}

# printed N TEXT…: the output of the Nth has all of them in it.
printed() {
	local all text
	all=$(sed -n "$1p" "$WORK/texts.results" | jq -r .output)
	shift
	for text; do
		[[ $all == *"$text"* ]] || { printf 'not printed: %s\n%s\n' "$text" "$all" && return 1; }
	done
}
