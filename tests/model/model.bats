# The model of sessions, verified over all its states, and the flaws that it must find. Needs no installed
# Lodger. Three sets of bounds, since all at once are too many states: see README.md.

bats_require_minimum_version 1.5.0

setup() {
	command -v spin >/dev/null || skip "spin is not installed"
	MODEL=$BATS_TEST_DIRNAME/session.pml
	cd "$BATS_TEST_TMPDIR" || return 1
}

# verify FLAG…: looks at every state of the model so compiled. Prints what the verifier says; fails when it
# was not done with all states, or found a fault.
verify() {
	spin -a "$@" "$MODEL" >/dev/null || return 2
	gcc "${OPTIMIZE:--O2}" -w -DSAFETY -DCOLLAPSE -DMEMLIM=2000 -o pan pan.c || return 2
	./pan -m100000 -w24 | grep -v '^Depth='
	! grep -q . ./*.trail 2>/dev/null
}

holds() {
	run verify "$@"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"errors: 0"* && $output != *"Search not completed"* && $output != *"max search depth"* ]]
}

# flaw NAME: what is left out is found. Most are found before an optimized verifier were compiled.
flaw() {
	OPTIMIZE=${OPTIMIZE:--O0} run verify -DNUMBERS=1 "-DFLAW_$1"
	[ "$status" -eq 1 ]
	echo "$output"
	[[ $output == *"errors: 1"* ]]
}

@test "two helpers, one number, all that CREATE and DESTROY do: no fault in any state" {
	holds -DNUMBERS=1 -DHELPERS=2
}

@test "three helpers at once, one number: no fault in any state" {
	holds -DNUMBERS=1 -DHELPERS=3 -DPLAIN
}

@test "two helpers, two numbers: no fault in any state" {
	holds -DNUMBERS=2 -DHELPERS=2 -DPLAIN
}

@test "a lock on an unlinked file that is taken for one is found (control)" {
	flaw LINK_COUNT
}

@test "a record that is removed after its lock is found (control)" {
	flaw UNLINK_ORDER
}

@test "a session's lock that is taken after the allocation lock was given back is found (control)" {
	flaw LOCK_LATE
}

@test "a CREATE that gives up where somebody looks at its lock is found (control)" {
	OPTIMIZE=-O1 flaw LOCK_TRIED
}

@test "a leader that is let go before its record is written is found (control)" {
	flaw GO_EARLY
}

@test "a destroy that opens the cgroup after the record is found (control)" {
	flaw CGROUP_LATE
}

@test "a destroy that trusts what it read before it had the lock is found (control)" {
	flaw DESTROY_BLIND
}

@test "a destroy that waits for the allocation lock with a session's lock held is found (control)" {
	flaw LOCK_ORDER
}

@test "every function that the model names is in the code" {
	local name names
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	names=$(grep -o '//.*' "$MODEL" | grep -o '\b[a-z]\+\(_[a-z]\+\)\+\b' | sort -u)
	[ "$(wc -l <<<"$names")" -gt 20 ]
	for name in $names; do
		grep -qw "$name" helper/*.[ch] proto/*.[ch] || {
			echo "$name"
			return 1
		}
	done
}
