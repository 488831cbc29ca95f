# The shell of lodger assistant: that a command's end and status are known, whatever the command does, and
# that the shell is there afterwards.
# shellcheck disable=SC1010,SC2016,SC2030,SC2031,SC2034,SC2154  # `done` as a word; for other shells; bats' own

load assistant

@test "status, directory, variables and functions stay from one command to the next" {
	typed 'echo hi; false' 'echo $?' 'cd /tmp; x=3; f() { echo f $1; }' 'pwd; f $x' '(exit 77)' 'echo $?' '-x' 'exit 9'
	exits 0
	came 1 done 1 $'hi\n'
	came 2 done 0 $'1\n'
	came 3 done 0 ''
	came 4 done 0 $'/tmp\nf 3\n'
	came 5 done 77 ''
	came 6 done 0 $'77\n'
	came 7 done 127 $'bash: -x: command not found\n'
	came 8 gone 9 ''
}

@test "several lines are one text; what is not ended is an error, and nothing waits for the rest" {
	typed $'cat <<E\n$((1 + 2))\nE\nfor i in a b; do\n\techo $i\ndone' "echo 'a" 'if true; then' $'cat <<E\nopen' 'echo )' \
		$'echo one\n\n# two\necho three \\\n  four' 'echo there'
	came 1 done 0 $'3\na\nb\n'
	came 2 done 2
	printed 2 'unexpected EOF'
	came 3 done 2
	came 4 done 0
	printed 4 open
	came 5 done 2
	printed 5 'syntax error'
	came 6 done 0 $'one\nthree four\n'
	came 7 done 0 $'there\n'
}

@test "a text of 100 kB, with every kind of character, arrives whole" {
	local text
	text=$(printf 'é€😀\t"$`\\!%.0s' {1..7000})
	typed "cat <<'E' | sha256sum
$text
E" 'echo !$'
	came 1 done 0 "$(sha256sum <<<"$text")"$'\n'
	came 2 done 0 $'!$\n'
}

@test "what reads the terminal waits, and gets the next text" {
	typed cat 'a line' '^D' "read -p 'name? ' n; echo \"got \$n\"" bob 'python3 -q' 'print(6 * 7)' 'import sys; sys.exit(3)' \
		'python3 -c "import select, sys; select.select([sys.stdin], [], []); print(input())"' polled dash 'echo $0' 'exit 7' \
		'cat' '^C' 'echo there'
	came 1 waiting 0 ''
	came 2 waiting 0 $'a line\n'
	came 3 done 0 ''
	came 4 waiting 0 'name? '
	came 5 done 0 $'got bob\n'
	came 6 waiting 0 '>>> '
	came 7 waiting 0 $'42\n>>> '
	came 8 done 3
	came 9 waiting 0 ''
	came 10 done 0 $'polled\n'
	came 11 waiting 0
	came 12 waiting 0
	printed 12 dash
	came 13 done 7
	came 14 waiting 0 ''
	came 15 done 130
	came 16 done 0 $'there\n'
}

@test "what takes its time without reading does not count as waiting" {
	typed 'sleep 2.5; echo slept' 'python3 -c "import time; time.sleep(1.5); print(1)"' 'mkfifo p; (sleep 1.5; echo x >p) & cat p; wait'
	came 1 done 0 $'slept\n'
	came 2 done 0 $'1\n'
	came 3 done 0
	printed 3 x
}

@test "a command past its time is ended, whatever it ignores, and the shell goes on" {
	OPTIONS=(--command-timeout 1s)
	typed 'x=kept' 'sleep 100' 'while :; do :; done' "sh -c \"trap '' INT TERM; while :; do sleep 1; done\"" 'kill -STOP $$' \
		'sleep 100 | cat; echo not reached' 'echo $x'
	came 2 timeout 130
	printed 2 'its time was over'
	came 3 timeout 130
	came 4 timeout 137
	came 5 timeout 130
	came 6 timeout 130
	[[ $(sed -n 6p "$WORK/texts.results") != *reached* ]]
	came 7 done 0 $'kept\n'
}

@test "a flood is cut, counted, and ended only when it does not end by itself" {
	OPTIONS=(--command-output 1k)
	typed 'seq 1 100000' 'yes' 'echo there'
	came 1 done 0
	[ "$(sed -n 1p "$WORK/texts.results" | jq '.dropped')" = $((588895 - 1024)) ]
	printed 1 '[587871 bytes dropped]'
	came 2 flood 130
	came 3 done 0 $'there\n'
}

@test "pagers print all, editors say what to do, and what takes the screen is ended" {
	typed 'seq 5 >n; less -N n' 'seq 3 | more -d' 'python3 -c "help(len)" | head -1' 'vi x' 'GIT_DIR=x git commit; $EDITOR y' \
		"printf '\\033[?1049h'; sleep 100" "printf '\\033[?1049h\\033[?1049l'; echo over" 'echo there'
	came 1 done 0 $'1\n2\n3\n4\n5\n'
	came 2 done 0 $'1\n2\n3\n'
	came 3 done 0
	printed 3 'Help on built-in function len'
	came 4 done 1
	printed 4 'no editor here'
	printed 5 'no editor here'
	came 6 screen 130
	came 7 done 0 $'over\n'
	came 8 done 0 $'there\n'
}

@test "a command that turns the terminal or the shell's prompt upside down" {
	typed 'stty raw echo' 'echo a' 'exec 3>&1 >/dev/null; echo hidden' 'exec >&3; echo seen' 'PROMPT_COMMAND=; false' 'echo $?' \
		'PS1="mine> "; PS2=; unset PROMPT_COMMAND' 'echo b' 'trap "echo trapped" DEBUG; trap - DEBUG; set -m; set -b' 'echo c' \
		'stty 0; stty intr x; stty -isig' 'sleep 0.1; echo d' 'exec bash' 'echo e'
	came 1 done 0
	came 2 done 0 $'a\n'
	came 3 done 0 ''
	came 4 done 0 $'seen\n'
	came 5 done 1 ''
	came 6 done 0 $'1\n'
	came 7 done 0
	came 8 done 0 $'b\n'
	came 10 done 0 $'c\n'
	came 12 done 0 $'d\n'
	came 13 done 0 ''
	came 14 done 0 $'e\n'
}

@test "binary output, and marks that a session makes up" {
	typed 'head -c 100000 /dev/urandom >r; cat r; echo; wc -c <r' "printf '\\0\\1\\377x\\n'" \
		"printf '\\033]7717;00000000000000000000000000000000;5\\007'; sleep 0.5; echo after" "printf '\\033]7717;'; echo" 'echo there'
	came 1 done 0
	came 2 done 0 $'\\x00\\x01\\xffx\n'
	came 3 done 0
	printed 3 after
	came 4 done 0
	came 5 done 0 $'there\n'
}

@test "shells in shells: exit comes back to the one before" {
	typed 'x=1; bash' 'echo $SHLVL ${x-none}' 'bash --norc' 'false' 'exit 4' 'echo $? $SHLVL' 'exit' 'echo $SHLVL $x' \
		'bash -i <<<"echo in; false; exit 3"' 'echo $?'
	came 1 done 0 ''
	came 2 done 0 $'2 none\n'
	came 3 done 0 ''
	came 4 done 1 ''
	came 5 done 4
	came 6 done 0 $'4 2\n'
	came 8 done 0 $'1 1\n'
	came 10 done 0 $'3\n'
}

@test "what runs in the background goes on, and what it prints comes with the next command" {
	typed '(sleep 0.5; echo later) & sleep 0.1' 'sleep 1' 'jobs; sleep 100 & disown' 'pgrep -x sleep | wc -l' 'exit'
	came 1 done 0
	printed 2 later
	came 4 done 0 $'1\n'
	exits 0
}

@test "everything else in the session may be ended, the shell's hand too" {
	typed 'pkill -9 lodger-talk; echo $?' 'echo there' 'pkill -STOP -x lodger-talk; echo $?' 'pkill -CONT -x lodger-talk'
	came 1 done 0 $'0\n'
	came 2 done 0 $'there\n'
	[ "$status" = 0 ]
}

@test "nested nix-shells, pure ones too, have marks and the conversation's words" {
	PERSON='from outside'
	typed 'nix-shell -p jq' 'jq -n 6*7; echo $IN_NIX_SHELL' 'nix-shell --pure -p lua' 'lua -e "print(1)"; false' 'assistant_listen' \
		'assistant_tell pure; echo $?' 'exit 5' 'echo $?; type -p lua || echo no lua' 'nix-shell -p lua --run "lua -e \"os.exit(6)\""' \
		'exit' 'echo ${IN_NIX_SHELL-out}'
	came 1 done 0 ''
	came 2 done 0 $'42\nimpure\n'
	came 3 done 0 ''
	came 4 done 1 $'1\n'
	came 5 done 0 $'from outside\n'
	came 6 done 0 $'0\n'
	came 7 done 5
	came 8 done 0
	printed 8 5
	came 9 done 6 ''
	came 10 done 6
	came 11 done 0 $'out\n'
	[[ $output == *pure* ]]
}
