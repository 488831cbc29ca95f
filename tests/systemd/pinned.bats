# A pinned channel where systemd runs the daemon and the gate: a set of the tests' own (channel/set) is pinned,
# built, and used by sessions of ordinary users. Only on a machine that has no channel, which is what it has
# afterwards; tests/vm has such machines.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # scripts for other shells; each test is a subshell; bats' own

load ../lib/lodger
load ../channel/set

STATE=/var/lib/lodger
ROOTS=/nix/var/nix/gcroots/lodger

# unfit: what this machine lacks, or has, if anything. Not skip in setup_file: bats 1.8 counts that as a failure.
unfit() {
	[ -d /run/systemd/system ] || { echo 'systemd is not the init of this machine' && return; }
	[ -e /etc/systemd/system/lodger-nix-daemon.service ] || { echo 'the units are not installed' && return; }
	[ -z "$(ls -A "$STATE" 2>/dev/null)" ] || { echo 'there is a channel, or what is left of one' && return; }
	[ -d /nix/store ] || echo 'there is no store'
}

setup_file() {
	UNFIT=$(unfit)
	export UNFIT
	[ -z "$UNFIT" ] || return 0
	systemctl start lodger-nix-daemon.service lodger-gate.socket
	set_make "$BATS_FILE_TMPDIR/set" 1.0
	sum "$BATS_FILE_TMPDIR/set" >"$BATS_FILE_TMPDIR/sum"
	lodger-channel pin "$BATS_FILE_TMPDIR/set" --sha256 "$(cat "$BATS_FILE_TMPDIR/sum")"
	lodger-channel add hello uses two
	lodger-channel build >"$BATS_FILE_TMPDIR/built" 2>&1
	# One that began with no channel builds nothing.
	grep -qF 'the package daemon starts anew' "$BATS_FILE_TMPDIR/built"
}

# What it built stays in the store until the next collection.
teardown_file() {
	[ -e "$BATS_FILE_TMPDIR/sum" ] || return 0
	rm -rf "${STATE:?}"/* "$ROOTS"
	systemctl try-restart lodger-nix-daemon.service
}

setup() {
	[ -z "$UNFIT" ] || skip "$UNFIT"
}

teardown() {
	lodger_teardown
	[ -n "${BATS_TEST_COMPLETED-}" ] || {
		echo "output: ${output-}"
		journalctl --quiet --unit=lodger-nix-daemon.service --unit=lodger-gate.service --output=cat --lines=20
	}
}

@test "pinned: what is listed is found, run and told of by an ordinary user" {
	run as a lodger run -p hello -p uses -- sh -c 'hello; uses; readlink -f "$(command -v hello)"'
	exits 0
	says $'hello 1.0\nhello 1.0\n/nix/store/'
	run as a lodger packages
	says hello uses two
	[ "$(as a lodger which two)" != '' ]
	# By nobody's asking for the package.
	run as a lodger run -- sh -c two
	exits 0
	says two
	run as a lodger doctor
	says 'answers sessions, and knows the channel'
}

@test "pinned: a session has built what the closure names, by the unit's daemon in its sandbox, and nothing else" {
	local compiler
	compiler=$(env NIX_REMOTE=local nix-store --query --outputs "$(grep -- -compiler- "$STATE/channel/closure")")
	# Nothing listed needs it to run.
	env NIX_REMOTE=local nix-store --delete "$compiler"
	create a
	run in_session a "$SESSION" 'nix-build --no-out-link "<nixpkgs>" -A compiler'
	exits 0
	[ "${lines[-1]}" = "$compiler" ]
	[ "$(stat -c %u "$compiler")" = 0 ]
	run in_session a "$SESSION" 'nix-build --no-out-link "<nixpkgs>" -A sandbox'
	[ "$status" != 0 ]
	says 'lodger: building /nix/store/'
}

@test "pinned: a newer one is for commands that begin afterwards, and rollback for those after that" {
	create a
	in_session a "$SESSION" 'nix-shell -p hello --run hello' | grep -qx 'hello 1.0'
	background as a lodger exec "$SESSION" -- bash -c 'until [ -e go ]; do sleep 0.2; done; nix-shell -p hello --run hello' \
		>"$BATS_TEST_TMPDIR/before"
	set_make "$BATS_TEST_TMPDIR/newer" 2.0
	lodger-channel pin "$BATS_TEST_TMPDIR/newer" --sha256 "$(sum "$BATS_TEST_TMPDIR/newer")"
	lodger-channel build
	run as a lodger run -p hello -- hello
	[ "$output" = 'hello 2.0' ]
	run in_session a "$SESSION" ': >go; nix-shell -p hello --run hello'
	[ "$output" = 'hello 2.0' ]
	until_true 60 grep -qx 'hello 1.0' "$BATS_TEST_TMPDIR/before"
	lodger-channel rollback
	run as a lodger run -p hello -- hello
	[ "$output" = 'hello 1.0' ]
	lodger-channel status
}

@test "pinned: daemon and gate that are killed are there again, and a session that goes on finds them" {
	local pid
	create a
	in_session a "$SESSION" 'nix-shell -p hello --run hello'
	pid=$(systemctl show --property=MainPID --value lodger-gate.service)
	kill -9 "$pid"
	kill -9 "$(systemctl show --property=MainPID --value lodger-nix-daemon.service)"
	hello() { [ "$(in_session a "$SESSION" 'nix-shell -p hello --run hello')" = 'hello 1.0' ]; }
	until_true 60 hello
	[ "$(systemctl show --property=MainPID --value lodger-gate.service)" != "$pid" ]
}
