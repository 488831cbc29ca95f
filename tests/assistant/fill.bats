# lodger fill: what stands in a text is run while it passes, in one session, and its output put behind it.
# The syntax byte by byte is in ../unit/assistant_fill_parse_test.c.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # scripts for other shells; bats' own

load ../lib/lodger

# fill TEXT [OPTION…]: has user a fill it.
fill() {
	local text=$1
	shift
	run --separate-stderr as a lodger fill "$@" <<<"$text"
}

# filled TEXT: the last fill gave exactly that, and said nothing.
filled() {
	exits 0 || return
	[[ $output == "$1" && -z $stderr ]] || {
		printf 'not: %s\noutput: %s\nstderr: %s\n' "$1" "$output" "$stderr"
		return 1
	}
}

# work LANGUAGE CODE: a block with one fence.
work() {
	printf '<work>\n```%s\n%s\n```\n</work>' "$1" "$2"
}

@test "a command in braces is completed with its output and the brace" {
	fill 'The square root of 49 is {python3 -c "import math; print(math.isqrt(49))":, and {echo {a,b}} stays.'
	filled 'The square root of 49 is {python3 -c "import math; print(math.isqrt(49))":7}, and {echo {a,b}} stays.'
	fill 'A brace that is there {echo once:} already, {seq 3:}.'
	filled $'A brace that is there {echo once:once} already, {seq 3:1\n2\n3}.'
}

@test "the output is there while the text is still being written" {
	run as a bash -c 'coproc lodger fill
		printf "It is {echo here:" >&"${COPROC[1]}"
		IFS= read -r -t 60 -d "}" -u "${COPROC[0]}" text
		echo "$text"
		printf " and so on\n" >&"${COPROC[1]}"
		read -r -t 60 -u "${COPROC[0]}" text
		echo "$text"'
	exits 0
	[ "$output" = $'It is {echo here:here\nand so on' ]
}

@test "text passes byte by byte, also what is no UTF-8" {
	head -c 30000 /dev/urandom | tr -d '{<' >"$BATS_TEST_TMPDIR/random"
	set -o pipefail
	as a lodger fill <"$BATS_TEST_TMPDIR/random" | cmp - "$BATS_TEST_TMPDIR/random"
}

@test "directory, variables, functions and files stay from one command to the next" {
	fill '{mkdir d && cd d:{x=7; f() { echo "f $x"; }:{pwd | sed "s|.*/||":{f:{echo "$x" >y; ls:'
	filled '{mkdir d && cd d:}{x=7; f() { echo "f $x"; }:}{pwd | sed "s|.*/||":d}{f:f 7}{echo "$x" >y; ls:y}'
}

@test "a failing command says so, and standard error is there too" {
	fill '{false:, {sh -c "echo no >&2; exit 3":, {(exit 4):'
	filled '{false:[exit status 1]}, {sh -c "echo no >&2; exit 3":no [exit status 3]}, {(exit 4):'
}

@test "work blocks run when they close, shell and Python, each with its state" {
	fill "$(work python $'x = 20\nx * 2')$(work sh 'y=5; echo $y')$(work py $'def f(n):\n\treturn n + x\nprint(f(1))')$(work '' 'echo $y')"
	filled "$(work python $'x = 20\nx * 2')"$'\n<output>\n40\n</output>'"$(work sh 'y=5; echo $y')"$'\n<output>\n5\n</output>'"$(work py $'def f(n):\n\treturn n + x\nprint(f(1))')"$'\n<output>\n21\n</output>'"$(work '' 'echo $y')"$'\n<output>\n5\n</output>'
}

@test "Python is where the shell is, with its variables" {
	fill '{mkdir d && cd d && export V=1:'"$(work python 'import os; os.path.basename(os.getcwd()), os.environ["V"]')"
	exits 0
	says "('d', '1')"
}

@test "fences of a block run in order up to the first that fails" {
	fill $'<work>\n```sh\necho 1\n```\n```python\n1/0\n```\n```sh\necho 3\n```\n</work>'
	exits 0
	says $'<output>\n1\nTraceback' 'ZeroDivisionError' $'\n[exit status 1]\n</output>'
	[ "$(grep -c '^3$' <<<"$output")" = 0 ]
	# What is wrong with a program is shown as it stands in there.
	says 'File "<work 1>", line 1' '1/0'
	says_not fill-python
}

@test "Python survives an error and a time-out, with what it has" {
	fill "$(work python 'x = 3')$(work python $'import time\ntime.sleep(60)')$(work python 'x')$(work python 'exit(7)')$(work python 'x + 1')" --command-timeout 3s
	exits 0
	says $'<output>\n3\n</output>' '[it ran for more than 3s, and was ended]' $'<output>\n[exit status 7]\n</output>' $'<output>\n4\n</output>'
}

@test "a command that takes too long, prints too much or wants input is ended, and the next one runs" {
	fill '{x=1; sleep 60:|{yes | head -c 100000:|{cat:|{echo $x:' --command-timeout 2s --command-output 1K
	exits 0
	says '{x=1; sleep 60:[it ran for more than 2s, and was ended]}' $'y\n[98976 more bytes were dropped]}|' \
		'{cat:[it wanted input, and was ended]}' '{echo $x:1}'
	[ "$(grep -c '^y$' <<<"$output")" = 511 ]
}

@test "a shell that ends is followed by a new one in the same session" {
	fill '{echo kept >file; x=1; exit:|{cat file; echo "x=$x":'
	filled $'{echo kept >file; x=1; exit:[the shell has ended; the next one begins anew]}|{cat file; echo "x=$x":kept\nx=}'
}

@test "output is no text to be run, and has nothing that a terminal obeys" {
	fill '{printf "\173echo ran:\n\033]0;title\007\302\2331m\377\303\251":'
	filled '{printf "\173echo ran:\n\033]0;title\007\302\2331m\377\303\251":{echo ran:'$'\n''\x1b]0;title\x07\xc2\x9b1m\xffé}'
}

@test "on a terminal the text itself is made harmless, too" {
	command -v script >/dev/null || skip "script is not installed"
	run as a script -qec "printf '\033[2J\302\2331m\303\251 {echo \"\303\251\":' | LC_ALL=C.UTF-8 lodger fill" /dev/null
	exits 0
	[ "$output" = '\x1b[2J\xc2\x9b1mé {echo "é":é}' ]
	run as a script -qec "printf '\303\251' | LC_ALL=C lodger fill" /dev/null
	[ "$output" = '\xc3\xa9' ]
}

@test "limits on commands, output and time end it, and say how to have more" {
	fill '{echo 1:{echo 2:{echo 3: rest' --turns 2
	exits 3
	[ "$output" = '{echo 1:1}{echo 2:2}{echo 3:' ]
	says '2 commands have run, and no more may; --turns allows more'
	fill '{seq 1000:{seq 1000:{echo 3: rest' --total-output 5K
	exits 4
	says 'the commands have printed 5120 bytes, and no more may; --total-output allows more'
	# Not a pipeline, which would be waited for whole.
	run --separate-stderr as a bash -c 'lodger fill --timeout 1s < <(echo hello; exec sleep 30 2>/dev/null 3>&-)'
	exits 124
	[ "$output" = hello ]
	says 'the time was over before the text'
	fill '{echo 1:{sleep 60:{echo 3:' --timeout 2s
	exits 124
	[[ $output == '{echo 1:1}{sleep 60:[it ran for more than '* ]]
}

@test "what is not complete at the end is not run, and that is said" {
	fill '{touch /tmp/"ran'
	exits 0
	says 'the text ends in the middle of a command, which was not run'
	fill $'<work>\n```sh\necho ran'
	exits 0
	says 'the text ends in the middle of a work block, which was not run'
	says_not $'\nran\n<'
}

@test "a file can be filled, with variables and a directory of the session" {
	echo '{echo "$WHO $PWD":' >"$BATS_TEST_TMPDIR/text"
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/test
	chmod 644 "$BATS_TEST_TMPDIR/text"
	run --separate-stderr as a lodger fill --env WHO=me --dir /usr "$BATS_TEST_TMPDIR/text"
	filled '{echo "$WHO $PWD":me /usr}'
	run --separate-stderr as a lodger fill /no/such
	exits 125
	says 'fill: opening /no/such: No such file or directory'
}

@test "it is all in a session of its own, which is gone afterwards" {
	fill '{id -u:{echo $LODGER_SESSION:{ls /home:'
	exits 0
	[[ $output =~ ^'{id -u:'([0-9]+)'}{echo $LODGER_SESSION:lodger-'([0-9]+)'}{ls /home:lodger-'([0-9]+)'}'$ ]]
	[ "${BASH_REMATCH[1]}" = $((UID_FIRST - 1 + BASH_REMATCH[2])) ]
	[ "$(as a lodger list --json | jq length)" = 0 ]
}

@test "packages of -p are there for all of it, and one that there is not ends it before it begins" {
	[ -d /nix/store ] && as a lodger packages python3Packages >/dev/null || skip "there is no channel"
	fill "{python -c 'import sympy; print(sympy.sqrt(50))':$(work python $'import sympy\nsympy.sqrt(8)')" -p python3Packages.sympy
	exits 0
	says ":5*sqrt(2)}" $'<output>\n2*sqrt(2)\n</output>'
	fill 'text' -p no.such.package
	exits 125
	[ -z "$output" ]
	says "-p: the channel has no package 'no.such.package'"
}
