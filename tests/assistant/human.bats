# lodger assistant --human: a person at a terminal plays the assistant, and the same or a program the person.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154  # for other shells; bats' own

load assistant

teardown() {
	as a tmux -S "$WORK/tmux" kill-server 2>/dev/null || true
	lodger_teardown
}

# human OPTION…: starts it in a terminal of its own.
human() {
	as a tmux -S "$WORK/tmux" -f /dev/null new-session -d -x 100 -y 30 \
		"LC_ALL=C.UTF-8 lodger assistant --human $*; echo ended with \$?; sleep 1000"
}

screen() {
	as a tmux -S "$WORK/tmux" capture-pane -p
}

shows() {
	[[ $(screen) == *"$1"* ]]
}

# sees TEXT: waits for it.
sees() {
	until_true 10 shows "$1" || { echo "not seen: $1" && screen && return 1; }
}

keys() {
	as a tmux -S "$WORK/tmux" send-keys "$@"
}

@test "a person demonstrates: prompts, output as it comes, the conversation, and a recording" {
	human "--record $WORK/record"
	sees '>'
	keys 'assistant_listen' Enter
	sees 'you:'
	keys 'What is 6*7?' Enter
	sees $'you: What is 6*7?\nWhat is 6*7?\n>'
	keys 'echo $((6*7)); sleep 1; echo é' Enter
	sees $'42\né\n>'
	keys 'assistant_tell "it is 42"' Enter
	sees 'it is 42'
	keys 'cat' Enter
	sees '> cat'
	sleep 0.5
	keys 'to cat' Enter
	sees $'to cat\nto cat'
	keys -l '^D'
	keys Enter
	keys 'exit 3' Enter
	sees 'ended with 0'
	[ "$(jq -r 'select(.event == "start") | .assistant' "$WORK/record/events.jsonl")" = human ]
	[ "$(jq -r 'select(.event == "say" or .event == "tell") | .text' "$WORK/record/events.jsonl")" = $'What is 6*7?\nit is 42' ]
	[ "$(jq -r 'select(.event == "command") | .text' "$WORK/record/events.jsonl" | tail -3)" = $'to cat\n^D\nexit 3' ]
}

@test "^C ends a command, and at the prompt the conversation" {
	human
	sees '>'
	keys 'sleep 100' Enter
	sleep 1
	keys C-c
	sleep 1
	keys 'echo st"i"ll' Enter
	sees $'\nstill\n'
	keys C-c
	sees 'ended with 130'
}

@test "a program can be the person, and the end of the input ends it" {
	human "--user-exec 'echo hello; cat'"
	sees '>'
	keys 'assistant_listen' Enter
	sees $'\nhello\n'
	shows you: && return 1
	keys C-d
	sees 'ended with 0'
}
