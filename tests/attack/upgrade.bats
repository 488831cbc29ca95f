# Lodger is replaced while sessions live: what speaks another version says so, and sessions can still be
# ended. The other release is this one, built with other version numbers, in a mount namespace of its own.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell

load ../lib/lodger

setup_file() {
	export NEXT=$BATS_FILE_TMPDIR/next
	mkdir "$NEXT"
	(cd "$TESTS/.." && cp -a helper client proto tests share man Makefile build "$NEXT")
	sed -i -E 's/^(#define (HELPER|AGENT)_PROTOCOL_VERSION) 1U$/\1 2U/' "$NEXT/proto/protocol.h"
	[ "$(grep -c '_PROTOCOL_VERSION 2U' "$NEXT/proto/protocol.h")" = 2 ]
	make -s -j"$(nproc)" -C "$NEXT" all >&2
	# Where it may be set-user-ID, and reached by users.
	export PLACE=/var/tmp/lodger-next.$$
	install -d -m 755 "$PLACE"
	install -m 755 "$NEXT/build/lodger" "$PLACE"
	install -m 711 "$NEXT/build/lodger-agent" "$PLACE"
	install -o root -g lodger -m 4750 "$NEXT/build/lodger-helper" "$PLACE"
}

teardown_file() {
	rm -rf "$PLACE"
}

# with PROGRAM… -- SCRIPT: runs it where those programs are of the next release.
with() {
	local mounts='' program
	while [ "$1" != -- ]; do
		program=/usr/local/libexec/lodger/$1
		[ "$1" != lodger ] || program=/usr/local/bin/lodger
		mounts+="mount --bind $PLACE/$1 $program; "
		shift
	done
	run --separate-stderr env USERS="$USERS" timeout 100 unshare --mount bash -c "$(declare -f as)"$'\n'"set -e; $mounts $2"
}

setup() {
	create a
	S=$SESSION
	export S
}

@test "a session of before the upgrade: exec says what to do, and destroy does it" {
	with lodger lodger-helper lodger-agent -- 'as a lodger exec $S -- true'
	exits 125
	says 'speaks version 2' 'session version 1' 'destroy it and create a new one'
	with lodger lodger-helper lodger-agent -- 'as a lodger list; as a lodger show $S'
	exits 0
	says "$S" live
	with lodger lodger-helper lodger-agent -- 'as a lodger destroy $S; as a lodger run -- echo new-works'
	exits 0
	says destroyed new-works
	[ ! -e "/run/lodger/sessions/$(session_number "$S")" ]
}

@test "a session of the next release: the old client says what to do, and destroys it" {
	with lodger lodger-helper lodger-agent -- 'as a lodger create'
	exits 0
	local next=$output
	run as a lodger exec "$next" -- true
	exits 125
	says 'speaks version 1' 'session version 2'
	run as a lodger list
	says "$next"
	run as a lodger destroy "$next"
	exits 0
	works a "$S"
}

@test "a client and a helper of two releases refuse each other by name, and nothing is made" {
	local before
	before=$(ls /run/lodger/sessions)
	with lodger -- 'as a lodger create'
	exits 125
	says "version 2 of the helper's protocol" 'version 1'
	with lodger-helper -- 'as a lodger create'
	exits 125
	says "version 1 of the helper's protocol" 'version 2' 'was replaced'
	with lodger-helper -- 'as a lodger destroy $S'
	exits 125
	says "version 1 of the helper's protocol"
	[ "$before" = "$(ls /run/lodger/sessions)" ]
	works a "$S"
}

@test "a new helper with the agent that was there before: run fails, says why, and leaves nothing" {
	with lodger lodger-helper -- 'as a lodger run -- true'
	exits 125
	says 'version'
	with lodger-agent -- 'as a lodger run -- true'
	exits 125
	says 'version'
	[ "$(as a lodger list --json | jq length)" = 1 ]
	works a "$S"
}

@test "programs that are replaced while a session lives are not what its jobs see" {
	background as a lodger exec "$S" -- sleep 88611
	until_true 20 pgrep -f '^sleep 88611'
	with lodger-agent lodger-helper lodger -- 'as a lodger collect'
	exits 0
	works a "$S"
	pgrep -f '^sleep 88611'
}
