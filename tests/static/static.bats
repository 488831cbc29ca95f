# helper/ and proto/ through three static checkers, none of which may say a word; beside each, a planted
# bug that it must find. Needs no installed Lodger.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	make -s build/proto/helper.pb-c.h
	FLAGS=(-D_GNU_SOURCE '-DLODGER_LIBEXEC="x"' '-DLODGER_VERSION="x"' -Iproto -Ibuild/proto -Ihelper)
	SOURCES=(helper/*.c proto/*.c)
	[ "${#SOURCES[@]}" -gt 15 ]
}

# needs TOOL VERSION: other versions find otherwise, and nobody has looked at what yet.
needs() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
	[[ $("$1" --version) == *"$2"* ]] || skip "$1 is not version $2"
}

analyzer() {
	local file
	for file in "$@"; do
		gcc "${FLAGS[@]}" -std=gnu17 -O2 -Wall -Wextra -Werror -fanalyzer -c -o /dev/null "$file" || return 1
	done
}

# One file a time: several in one process make clang-analyzer-valist see ghosts.
tidy() {
	local file
	for file in "$@"; do
		clang-tidy --quiet "$file" -- "${FLAGS[@]}" -std=gnu17 2>/dev/null || return 1
	done
}

# unusedFunction is out: the client uses what nobody here does. missingIncludeSystem is out: cppcheck knows
# the C library by its own tables. For each machine type that proto/architecture.h knows.
check() {
	local machine
	for machine in __x86_64__ __aarch64__; do
		cppcheck --quiet --std=c11 --enable=all --error-exitcode=1 --library=tests/static/cppcheck.cfg \
			--suppress=unusedFunction --suppress=missingIncludeSystem -D"$machine" "${FLAGS[@]}" "$@" || return 1
	done
}

@test "gcc -fanalyzer finds nothing in helper/ and proto/" {
	needs gcc ") 12."
	analyzer "${SOURCES[@]}"
}

@test "gcc -fanalyzer finds what is planted (control)" {
	needs gcc ") 12."
	run ! analyzer tests/static/planted.c
	[[ $output == *-Werror=analyzer-double-free* ]]
}

@test "clang-tidy finds nothing in helper/ and proto/" {
	needs clang-tidy "version 14."
	tidy "${SOURCES[@]}"
}

@test "clang-tidy finds what is planted (control)" {
	needs clang-tidy "version 14."
	run ! tidy tests/static/planted.c
	[[ $output == *clang-analyzer-unix.Malloc* ]]
}

@test "cppcheck finds nothing in helper/ and proto/" {
	needs cppcheck " 2.10"
	check "${SOURCES[@]}"
}

@test "cppcheck finds what is planted (control)" {
	needs cppcheck " 2.10"
	run ! check tests/static/planted.c
	[[ $output == *doubleFree* ]]
}

@test "each check that .clang-tidy takes out has its reason beside it" {
	local check
	[ "$(grep -c '^  -[a-z]' .clang-tidy)" -gt 3 ]
	for check in $(sed -n 's/^  \(-[a-z][^,]*\),\?$/\1/p' .clang-tidy); do
		grep -q "^# $check: ..........*" .clang-tidy
	done
}

@test "no finding is suppressed inside the code" {
	run ! grep -rnE 'NOLINT|cppcheck-suppress|#pragma (GCC|clang) diagnostic' helper proto
}
