# The soak itself: a few seconds of it are green, and what is planted is found.
# shellcheck disable=SC2154  # bats' own

load ../lib/lodger

setup() {
	[ -x "$TESTS/../build/tests/soak_agents" ] || skip 'build/tests/soak_agents is not built'
	cd "$TESTS/.." || return
	leaves_nothing_start
}

teardown() {
	local left=0
	left_nothing || left=1
	lodger_teardown
	return "$left"
}

soak() {
	SOAK_SEED=3 run timeout 300 tests/soak/run --taken --seconds 4 --sessions 32 "$@"
}

@test "a few seconds with few sessions: no failure, no leak" {
	soak
	exits 0
	[[ ${lines[-1]} =~ ^'soak: '[1-9][0-9]*' rounds, 0 failures, 0 leaks, SOAK_SEED=3'$ ]]
	[[ $output == *'agents that lived all the time'* ]]
}

# says_line PATTERN: fails unless a line of $output has it.
says_line() {
	grep -qE "$1" <<<"$output" || { printf 'not said: %s\n%s\n' "$1" "$output" && return 1; }
}

@test "what is planted is found: a wrong answer, and what a session or an agent might keep" {
	soak --plant answer --plant cgroup --plant descriptor --plant directory --plant process --plant record --plant session
	exits 1
	says_line 'rounds, 1 failures, [1-9][0-9]* leaks'
	says_line '^ +planted: expected status 0'
	says_line '^> /sys/fs/cgroup/.*/[0-9]+$'
	says_line '^> /run/lodger/sessions/[0-9]+/kept$'
	says_line '^> /run/userdb/lodger-[0-9]+\.user$'
	says_line '^> +[0-9]+ S.* sleep .*sleep 100000$'
	says_line '^LEAK: sessions that nobody holds'
	says_line '^LEAK: agent of lodger-[0-9]+ .* descriptors, a new one'
}

@test "one plant alone is enough for its exit status" {
	soak --plant cgroup
	exits 1
	says_line ', 0 failures, 1 leaks'
}
