# Frama-C's Eva on what the helper does with bytes that it did not write itself: no overflow, no access out
# of bounds, nothing uninitialized, no other undefined behaviour, for any input. A new alarm is a failure;
# so is a statement that the analysis never came to, since nothing is proven of that. Needs no installed
# Lodger. The drivers, and what each leaves out, are in eva/ and README.md.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	command -v frama-c >/dev/null || skip "frama-c is not installed"
	[[ $(frama-c -version) == 25.* ]] || skip "frama-c is not version 25"
	make -s build/proto/helper.pb-c.h
	# Frama-C has a C library of its own; this header alone is the machine's.
	ln -s "$(pkg-config --variable=includedir libprotobuf-c 2>/dev/null || echo /usr/include)/protobuf-c" \
		"$BATS_TEST_TMPDIR/protobuf-c"
	INCLUDES="-Itests/static/eva -Itests/static/eva/include -Iproto -Ibuild/proto -I$BATS_TEST_TMPDIR"
}

# eva DRIVER FLAGS [OPTION…]
eva() {
	local driver=$1 flags=$2
	shift 2
	frama-c -machdep gcc_x86_64 -c11 -cpp-extra-args="-D_GNU_SOURCE $INCLUDES $flags" \
		"tests/static/eva/$driver.c" -eva -eva-no-results "$@"
}

# Says so when the analysis was whole and found nothing.
clean() {
	run -0 eva "$1" "" "${@:2}"
	grep -E -A3 'eva:alarm|coverage|alarms? generated' <<<"$output"
	[[ $output == *" 0 alarms generated"* && $output == *"100% of the logical properties reached have been proven"* ]]
	# All statements of all functions that were reached, and no function of the code was not.
	[[ $output == *"functions analyzed (out of "*"100% coverage"*"statements reached"*"100% coverage"* ]]
}

planted() {
	run eva "$1" -DPLANTED "${@:2}"
	[[ $output == *"eva:alarm"* ]]
}

FRAME=(-eva-slevel 20000)
REQUEST=(-eva-slevel 5000)
SESSION=(-eva-slevel 500)
POLICY=(-eva-slevel 50 -eva-partition-value "words_taken,word_new" -eva-split-return full)

@test "framing: Eva raises no alarm" {
	clean frame "${FRAME[@]}"
}

@test "framing: Eva finds a byte too many (control)" {
	planted frame "${FRAME[@]}"
}

@test "request checks: Eva raises no alarm" {
	clean request "${REQUEST[@]}"
}

@test "request checks: Eva finds a number too many (control)" {
	planted request "${REQUEST[@]}"
}

@test "names and records: Eva raises no alarm" {
	clean session "${SESSION[@]}"
}

@test "names and records: Eva finds a byte too many (control)" {
	planted session "${SESSION[@]}"
}

@test "policy: Eva raises no alarm" {
	clean policy "${POLICY[@]}"
}

@test "policy: Eva finds a word with nothing before it (control)" {
	planted policy "${POLICY[@]}"
}
