# The installed gate, as sessions meet it: their nix works through it, and what they may not do is
# refused with a sentence that their nix prints. What each refusal would have done without the gate is seen
# in gate.bats.

load ../lib/lodger

setup_file() {
	[ -S /run/lodger/packages/daemon-socket/socket ] || skip 'no gate listens here'
}

teardown() {
	lodger_teardown
}

# refused WORDS COMMAND…: the session's nix fails, and prints the gate's words.
refused() {
	local words=$1
	shift
	run as a lodger exec "$SESSION" -- "$@"
	[ "$status" != 0 ]
	says "lodger: $words"
}

BUILD='derivation { name = "x"; system = builtins.currentSystem; builder = "/bin/sh"; args = [ "-c" "echo >$out" ]; }'
FETCH='derivation { name = "secret"; system = "builtin"; builder = "builtin:fetchurl"; url = "http://127.0.0.1:1/";
	outputHashMode = "flat"; outputHashAlgo = "sha256"; outputHash = "0000000000000000000000000000000000000000000000000000000000000007"; }'

@test "evaluation and small additions work in a session" {
	create a
	[ "$(as a lodger exec "$SESSION" -- nix-instantiate --eval -E '6 * 7')" = 42 ]
	in_session a "$SESSION" 'echo text >file; nix-store --query --references "$(nix-store --add file)"; nix-instantiate -E '"'$BUILD'"
}

@test "builds, fetches, collection, deletion and repair are refused in words" {
	create a
	refused 'building /nix/store/' nix-build --no-out-link -E "$BUILD"
	refused 'building /nix/store/' nix-build --no-out-link -E "$FETCH"
	says 'fetched from elsewhere'
	refused 'building /nix/store/' nix-instantiate --eval --read-write-mode -E "builtins.readFile ($BUILD)"
	refused 'removing anything from the store' nix-store --gc
	refused 'removing anything from the store' nix-store --delete /nix/store/00000000000000000000000000000000-x
	refused 'verifying or repairing' nix-store --verify
	refused 'building /nix/store/' nix-build --no-out-link -E "$BUILD" --option sandbox false --option build-users-group '' \
		--option substituters http://127.0.0.1:1/ --option builders 'ssh://root@localhost'
	works a "$SESSION"
}

@test "a session adds as much as it may, and the next one with its own account" {
	create a
	refused 'adding' bash -c 'head -c 3M /dev/urandom >big; nix-store --add big'
	run in_session a "$SESSION" 'for i in $(seq 100); do head -c 1M /dev/urandom >some; nix-store --add some || exit; done; echo all'
	[ "$status" != 0 ]
	says 'lodger: adding'
	create b
	in_session b "$SESSION" 'head -c 1M /dev/urandom >some; nix-store --add some'
}

@test "nobody of the host reaches gate or daemon, and the gate holds nothing" {
	local pid
	run as a ls /run/lodger/packages/
	[ "$status" != 0 ]
	# Of the processes of that user, the one that listens.
	pid=$(pgrep -u lodger-gate -x -o lodger-gate) || skip 'systemd has not started it yet'
	shows_none() {
		awk -v what="$1" '$1 == what { print $2 }' "/proc/$pid/status" | grep -qx 0000000000000000
	}
	shows_none CapEff: && shows_none CapPrm: && shows_none CapBnd:
	grep -q '^NoNewPrivs:.1' "/proc/$pid/status"
}
