# The tree itself: format, scripts, manuals, sizes, who includes whom. Needs no installed Lodger.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	# A release unpacked from an archive has no git.
	mapfile -t FILES < <(git -c safe.directory='*' ls-files 2>/dev/null || find . -type f -not -path './build/*')
}

files() {
	printf '%s\n' "${FILES[@]}" | grep "$1"
}

@test "C is formatted by .clang-format" {
	# Other versions break lines elsewhere.
	[[ $(clang-format --version) == *"version 14."* ]] || skip "clang-format is not version 14"
	files '\.[ch]$' | xargs clang-format --dry-run -Werror
}

@test "scripts pass shellcheck" {
	local file scripts=()
	for file in "${FILES[@]}"; do
		[[ $file == *.bats || $(head -c 32 "$file" | head -1 | tr -d '\0') =~ ^#!.*sh ]] && scripts+=("$file")
	done
	[ "${#scripts[@]}" -gt 20 ]
	printf '%s\0' "${scripts[@]}" | xargs -0 -n 8 -P "$(nproc)" shellcheck --severity=warning
}

@test "in no test stands a check that errexit passes over: two in a line, or a bare ! before the end" {
	awk 'function finding(text) { print FILENAME ":" FNR ": " text; found = 1 }
		FNR == 1 { negated = "" }
		negated != "" && !/^\t*}/ { finding("not the last: " negated) }
		{ negated = "" }
		/^\t+! [^-]/ && !/\|\|/ { negated = $0 }
		/^\t+\[.*\] && / && !/\|\|| \{$|&&$|&& (echo|continue|return|break)/ && last_of[FILENAME] != "" { finding("two: " $0) }
		/^@test / { last_of[FILENAME] = $0 }
		/; [!] / && !/(if|while|until) ! |\|\|/ { finding("within a line: " $0) }
		END { exit found }' tests/*/*.{bats,bash}
}

@test "manuals pass mandoc" {
	run mandoc -T lint man/*.[158]
	# What is not installed where this runs is no fault of the text.
	run grep -v -e 'referenced manual not found' -e 'mandoc.db lacks' <<<"$output"
	[ -z "$output" ]
}

@test "every command and option of lodger is in its manual" {
	local command option manual
	for command in $(build/lodger help | awk '/^  [a-z]/ { print $1 }'); do
		grep -q "^\.It Cm $command\b" man/lodger.1
		manual=man/lodger-$command.1
		[ -e "$manual" ] || manual=man/lodger.1
		for option in $(build/lodger help "$command" | grep -o '^ .*--[a-z]*' | grep -o '[a-z]*$'); do
			grep -q "^\.It Fl \(. , Fl \)\?-$option\b" man/lodger.1 "$manual"
		done
	done
}

@test "the helper is within its budget of 1,200 lines, and no file is longer than 600" {
	local lines
	lines=$(make -s lines)
	[[ $lines =~ ^([0-9]+)\ in\ helper/ ]]
	[ "${BASH_REMATCH[1]}" -gt 100 ]
	[ "${BASH_REMATCH[1]}" -le 1200 ]
	wc -l "${FILES[@]}" | awk '$2 != "total" && $2 != "LICENSE" && $1 > 600 { print; long = 1 } END { exit long }'
}

@test "helper and client include from proto and themselves alone" {
	# What is included by quotes, whose file must be in one of the folders.
	only_from() {
		local folder=$1 name
		shift
		for name in $(cat "$folder"/*.[ch] | sed -n 's/^#include "\(.*\)"/\1/p' | grep -v 'pb-c\.h$' | sort -u); do
			[ -n "$(find "$@" -maxdepth 1 -name "$name")" ] || {
				echo "$folder includes $name"
				return 1
			}
		done
	}
	only_from helper helper proto
	only_from proto proto
	only_from client/agent client/agent proto
	only_from client/gate client/gate client/lib proto
	only_from client/proxy client/proxy client/lib proto
	only_from client/lib client/lib proto
	only_from client/cli client/cli client/lib proto
	only_from client/assistant client/assistant client/cli client/lib proto
}

@test "every test file that SECURITY.md names is there" {
	local file
	for file in $(grep -o '[a-z]*\.bats' SECURITY.md | sort -u); do
		ls tests/*/"$file"
	done
}

@test "the programs are hardened: PIE, full RELRO, no executable stack, canaries, fortified, CET marks" {
	local program
	for program in build/lodger build/lodger-get build/lodger-packages build/lodger-assistant build/lodger-helper \
		build/lodger-agent build/lodger-gate build/lodger-relay build/lodger-talk; do
		readelf -h "$program" | grep -q 'Type: *DYN'
		readelf -lW "$program" | grep -q GNU_RELRO
		readelf -dW "$program" | grep -q BIND_NOW
		readelf -lW "$program" | grep -q 'GNU_STACK.* RW '
		readelf -sW "$program" | grep -q __stack_chk_fail
		readelf -sW "$program" | grep -q '__[a-z]*_chk'
		objdump -d "$program" --disassemble=main | grep -q endbr64
	done
	# What runs as root, as a session's first process or on what sessions send loads no library.
	for program in build/lodger-helper build/lodger-agent build/lodger-gate build/lodger-relay; do
		run -0 readelf -dW "$program"
		[[ $output != *NEEDED* ]]
	done
}

@test "handlers of signals set a flag, and helper and agent have none" {
	local file handler handlers=0
	# Both wait for signals, or take the default.
	run ! grep -hE 'sa_handler|sa_sigaction|SA_SIGINFO' helper/*.c client/agent/*.c
	run ! grep -hoE '\<signal\([^;]*' <(cat helper/*.c client/agent/*.c | grep -vE '\<signal\([A-Za-z]+, SIG_(IGN|DFL)\)|^\s*//')
	for file in client/lib/*.c client/cli/*.c client/assistant/*.c; do
		for handler in $(grep -oE 'sa_handler = \w+' "$file" | sed 's/.*= //'; grep -oE '\<signal\(\w+, \w+' "$file" | sed 's/.*, //' | grep -v '^SIG_'); do
			# From its head to its closing brace: no call of any function.
			sed -n "/^static void $handler(/,/^}/p" "$file" >"$BATS_TEST_TMPDIR/handler"
			[ -s "$BATS_TEST_TMPDIR/handler" ]
			run ! grep -E '\w+\(' <(tail -n +2 "$BATS_TEST_TMPDIR/handler" | sed 's|//.*||')
			handlers=$((handlers + 1))
		done
	done
	[ "$handlers" -gt 0 ]
}

@test "the attack tables name tests that exist, and the table of defences is what the defences say" {
	local file line name
	. tests/lib/tables.bash
	diff <(table_get tests/attack/README.md defences) <(tests/attack/defences --table)
	# In these tables a test is named as `folder/file.bats: its description`, several between <br>.
	sed 's/ <br> /\n/g' tests/attack/*.md | grep -o '[a-z]*/[a-z_]*\.bats: [^|`]*' | sed 's/ *$//' | sort -u >"$BATS_TEST_TMPDIR/named"
	[ -s "$BATS_TEST_TMPDIR/named" ]
	while IFS= read -r line; do
		file=tests/${line%%: *} name=${line#*: }
		grep -qxF "@test \"$name\" {" "$file" || { echo "not there: $line" && return 1; }
	done <"$BATS_TEST_TMPDIR/named"
}

@test "what each defence takes out stands exactly once in its file, which compiles without it" {
	[ "$(cat tests/attack/*.defences | grep -c '^test: ')" -gt 50 ]
	tests/attack/defences --compile
}
