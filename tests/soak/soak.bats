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
	leaves_nothing_end || left=1
	lodger_teardown
	return "$left"
}

soak() {
	SOAK_SEED=3 run timeout 300 tests/soak/run --taken --seconds 3 --sessions 32 "$@"
}

# found PLANT PATTERN: the soak ends red, and says why; nothing else is wrong.
found() {
	soak --plant "$1"
	exits 1
	grep -E "$2" <<<"$output" || { printf '%s\n' "$output" && return 1; }
}

@test "a few seconds with few sessions: no failure, no leak" {
	soak
	exits 0
	[[ ${lines[-1]} =~ ^'soak: '[1-9][0-9]*' rounds, 0 failures, 0 leaks, SOAK_SEED=3'$ ]]
	[[ $output == *'agents that lived all the time'* ]]
}

@test "planted: a wrong answer" {
	found answer 'rounds, 1 failures, 0 leaks'
}

@test "planted: what is left of a session: a cgroup, a directory, a user record" {
	found cgroup '^> /sys/fs/cgroup/.*/[0-9]+$'
	found directory '^> /run/lodger/sessions/[0-9]+/kept$'
	found record '^> /run/userdb/lodger-[0-9]+\.user$'
}

@test "planted: a session that nobody holds, a process of a lodger's uid, a descriptor in an agent" {
	found session 'LEAK: sessions that nobody holds'
	found process '^> +[0-9]+ S.* sleep .*sleep 100000'
	found descriptor 'LEAK: agent of lodger-[0-9]+ .* descriptors, a new one'
}
