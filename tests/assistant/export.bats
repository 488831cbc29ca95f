# lodger export: recordings to chats, trees and scripts, and back; what is refused, and whose names are
# replaced. All recordings but one are made by hand: it needs no session.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # scripts for other shells; bats' own

load ../lib/lodger

setup() {
	HOME_A=/home/$USERS-a
	WORK=$(as a mktemp -d)
}

teardown() {
	as a rm -rf "$WORK"
}

# export_a ARGUMENT…: lodger export, called by user a in $WORK.
export_a() {
	as a sh -c 'cd "$1" && shift && exec lodger export "$@"' sh "$WORK" "$@"
}

# record NAME EVENT…: makes a recording in $WORK/NAME. An EVENT is the JSON without its time.
record() {
	local name=$1 event
	shift
	as a mkdir "$WORK/$name"
	for event; do
		printf '{"time":1,%s\n' "${event#\{}"
	done | as a sh -c 'cat >"$1"' sh "$WORK/$name/events.jsonl"
}

START='{"event":"start","version":1,"lodger":"0.1.0","session":"lodger-7","assistant":"exec","model":"m","prompt":"Be good.","limits":{},"columns":80,"rows":24}'
FINISH='{"event":"finish","reason":"assistant","detail":""}'

# typed ID TEXT [OUTPUT [EVENT]]: the events of a command, as arguments for record, in $EVENTS.
typed() {
	local id=$1 text=$2 output=${3-} event=${4-}
	EVENTS+=("$(jq -nc --argjson id "$id" --arg text "$text" '{event: "command", id: $id, text: $text}')")
	[ -z "$event" ] || EVENTS+=("$event")
	EVENTS+=("$(jq -nc --argjson id "$id" --arg text "$output" '{event: "output", id: $id, text: $text}')")
	EVENTS+=('{"event":"end","id":'"$id"',"end":"done","status":0,"seconds":0.5,"dropped":0}')
}

# listened ID LINE, told ID TEXT: the same for the two commands of talk.
listened() {
	typed "$1" assistant_listen "$2"$'\n' "$(jq -nc --arg text "$2" '{event: "say", role: "user", text: $text}')"
}

told() {
	typed "$1" "assistant_tell \"$2\"" '' "$(jq -nc --arg text "$2" '{event: "tell", text: $text}')"
}

# The conversation that the project's first issue shows.
example() {
	EVENTS=()
	listened 1 'Hi, can you find the square root of fifty for me? I want the exact symbolic value, not an approximation.'
	told 2 'Sure, the exact value is '
	typed 3 'nix-shell -p python39Packages.sympy'
	typed 4 "python -c \"import sympy; print(sympy.simplify('sqrt(50)'))\"" $'5*sqrt(2)\n'
	told 5 'five times the square root of two. Is there anything else I can help with?'
	listened 6 'Nope, thanks!'
	told 7 'Okay, have a good rest of your day!'
	record "$1" "$START" "${EVENTS[@]}" "$FINISH"
}

@test "the example is a chat with the messages and calls that it was" {
	example r
	run --separate-stderr export_a r
	exits 0
	[ "${#lines[@]}" = 1 ]
	[ -z "$stderr" ]
	jq -e '[.messages[] | [.role, .content, .tool_calls[0].function.arguments]] == [
		["system", "Be good.", null],
		["user", "Hi, can you find the square root of fifty for me? I want the exact symbolic value, not an approximation.", null],
		["assistant", "Sure, the exact value is ", "{\"command\":\"nix-shell -p python39Packages.sympy\"}"],
		["tool", "", null],
		["assistant", null, "{\"command\":\"python -c \\\"import sympy; print(sympy.simplify('"'sqrt(50)'"'))\\\"\"}"],
		["tool", "5*sqrt(2)\n", null],
		["assistant", "five times the square root of two. Is there anything else I can help with?", null],
		["user", "Nope, thanks!", null],
		["assistant", "Okay, have a good rest of your day!", null]]' <<<"$output"
	# Each result is that of the call before it.
	jq -e '[.messages[] | .tool_calls[0].id // empty] == [.messages[] | .tool_call_id // empty]
		and .tools[0].function.name == "shell" and .metadata.finish == "assistant"' <<<"$output"
	# A file of events and standard input are the same.
	[ "$(export_a r/events.jsonl)" = "$output" ]
	[ "$(export_a - <"$WORK/r/events.jsonl")" = "$output" ]
}

@test "a chat and a script of it are the same chat again" {
	example r
	local chat
	chat=$(export_a r)
	[ "$(export_a --from chat - <<<"$chat")" = "$chat" ]
	export_a --from chat --format script - <<<"$chat" >"$BATS_TEST_TMPDIR/script"
	[ "$(export_a - <"$BATS_TEST_TMPDIR/script")" = "$chat" ]
	jq -se '[.[] | select(.event == "command") | .text][1] == "assistant_tell '"'Sure, the exact value is '"'"' \
		"$BATS_TEST_TMPDIR/script"
	jq -se 'all(.time == 0) and .[-1].event == "finish"' "$BATS_TEST_TMPDIR/script"
}

@test "trees are of Open-Assistant's form, and what begins alike is one of them" {
	example r
	EVENTS=()
	listened 1 'Hi, can you find the square root of fifty for me? I want the exact symbolic value, not an approximation.'
	told 2 'No.'
	record s "$START" "${EVENTS[@]}" "$FINISH"
	run --separate-stderr export_a --format tree --lang en r s r
	exits 0
	[ "${#lines[@]}" = 1 ]
	# As pydantic has it in oasst_data/schemas.py: these fields and no others, of these types.
	python3 - "$output" <<'END'
import json, sys, uuid
tree = json.loads(sys.argv[1])
assert set(tree) == {"message_tree_id", "tree_state", "prompt", "origin"}
fields = {"message_id": str, "parent_id": (str, type(None)), "user_id": type(None), "text": str, "role": str,
          "lang": str, "review_count": type(None), "review_result": type(None), "deleted": bool,
          "rank": type(None), "synthetic": (bool, type(None)), "model_name": (str, type(None)),
          "emojis": type(None), "replies": list, "labels": type(None), "events": type(None),
          "tree_state": type(None)}
def check(node, parent, role):
    assert set(node) == set(fields), set(node) ^ set(fields)
    for name, kind in fields.items():
        assert isinstance(node[name], kind), name
    uuid.UUID(node["message_id"])
    assert node["parent_id"] == parent and node["role"] == role and node["lang"] == "en"
    assert node["model_name"] == (None if role == "prompter" else "m")
    for reply in node["replies"]:
        check(reply, node["message_id"], "assistant" if role == "prompter" else "prompter")
check(tree["prompt"], None, "prompter")
assert tree["message_tree_id"] == tree["prompt"]["message_id"] and tree["tree_state"] == "ready_for_export"
first, second = tree["prompt"]["replies"]
assert first["text"] == """> assistant_tell "Sure, the exact value is "
> nix-shell -p python39Packages.sympy
> python -c "import sympy; print(sympy.simplify('sqrt(50)'))"
5*sqrt(2)
> assistant_tell "five times the square root of two. Is there anything else I can help with?\""""
assert first["replies"][0]["text"] == "Nope, thanks!" and second["replies"] == []
assert second["text"] == '> assistant_tell "No."'
END
}

@test "the caller's names and paths are replaced, in what is no text too, unless they are to be kept" {
	EVENTS=()
	listened 1 "I am $USERS-a on $(uname -n), see $HOME_A/notes and $WORK/x"
	typed 2 'ls /home/lodger-7 /home/lodger-77' "$USERS-ab"
	EVENTS+=('{"event":"command","id":3,"text":"cat x"}'
		'{"event":"output","id":3,"base64":"'"$(printf '\377%s' "$HOME_A" | base64 -w0)"'"}'
		'{"event":"end","id":3,"end":"done","status":0,"seconds":0,"dropped":0}')
	record r "$START" "${EVENTS[@]}" "$FINISH"
	run --separate-stderr export_a r
	exits 0
	jq -e '.messages[1].content == "I am user on host, see /home/user/notes and /work/x"
		and .messages[2].tool_calls[0].function.arguments == "{\"command\":\"ls /home/lodger-1 /home/lodger-77\"}"
		and (.metadata.binary[0].base64 | @base64d | endswith("/home/user"))' <<<"$output"
	jq -e --arg text "$USERS-ab" '.messages[3].content == $text' <<<"$output"
	# The line is what was said, and what assistant_listen printed.
	[[ $stderr == *"replaced: home directory 3, working directory 2, login name 2, host name 2, session 1"* ]]
	run --separate-stderr export_a --keep-names r
	exits 0
	jq -e --arg text "I am $USERS-a on $(uname -n), see $HOME_A/notes and $WORK/x" \
		'.messages[1].content == $text' <<<"$output"
	[[ $stderr != *replaced* ]]
}

@test "what is no recording is named with its line and left out, and the others are exported" {
	example r
	record s "$START" '{"event":"say","role":"user","text":"x"}'
	as a mkdir "$WORK/t"
	run --separate-stderr export_a s r t
	exits 1
	[ "${#lines[@]}" = 1 ]
	says 'lodger: s/events.jsonl:2: something is said before the first command' \
		'lodger: opening t/events.jsonl: No such file'
	run --separate-stderr export_a --from chat r
	exits 1
	says 'r is a directory'
	# What is hostile in it does not reach a terminal.
	record u "$START" '{"event":"\u001b[2J\u009b"}'
	run --separate-stderr export_a u
	exits 1
	says '\x1b[2J\xc2\x9b'
}

@test "--check writes no data, and tells good recordings from others" {
	example r
	record s "$START" '{"event":"command","id":1,"text":"ls"}'
	run --separate-stderr export_a --check r
	exits 0
	[ "$output" = 'r/events.jsonl: good: 7 commands, 2 lines of the person, 3 texts told' ]
	run --separate-stderr export_a --check s
	exits 1
	[ -z "$output" ]
	says 's/events.jsonl: there is no finish: the recording was cut off'
	# As far as it goes, with that said.
	run --separate-stderr export_a s
	exits 0
	says 'there is no finish' 'of 1 commands the end is not known'
	jq -e '.metadata.calls[0].end == "unknown" and .metadata.finish == null' <<<"$output"
}

@test "--system replaces what the system says" {
	example r
	printf 'You are Lodger.\n' | as a sh -c 'cat >"$1/p"' sh "$WORK"
	printf '\377' | as a sh -c 'cat >"$1/q"' sh "$WORK"
	run --separate-stderr export_a --system p r
	exits 0
	jq -e '.messages[0] == {role: "system", content: "You are Lodger.\n"}' <<<"$output"
	run --separate-stderr export_a --system q r
	exits 125
	says 'q is no text in UTF-8'
	run --separate-stderr export_a --system none r
	exits 125
	says 'opening none: No such file'
}

@test "options that do not go together, or mean nothing, are refused" {
	local arguments text
	example r
	while IFS='|' read -r arguments text; do
		# shellcheck disable=SC2086  # words
		run --separate-stderr export_a $arguments r
		exits 125
		says "$text"
	done <<-END
		--format x|--format: 'x' is none of chat, tree, script
		--from x|--from: 'x' is none of recording, chat
		--format tree --system r|only --format chat has what the system says
		--lang en|only --format tree has languages
		--format tree --lang e1|'e1' is no language tag
		--format tree --lang en_US|'en_US' is no language tag
	END
	run --separate-stderr export_a --format script r r
	exits 1
	says 'a script is of one conversation'
	run --separate-stderr export_a
	exits 125
}

@test "the same recordings are the same bytes, in ASCII alone" {
	EVENTS=()
	listened 1 'Grüße, 世界'
	record r "$START" "${EVENTS[@]}" "$FINISH"
	example s
	for format in chat tree; do
		run --separate-stderr export_a --format $format r s
		exits 0
		[ "$(export_a --format $format r s)" = "$output" ]
		[ "$(tr -d '[:print:]\n' <<<"$output" | wc -c)" = 0 ]
	done
	export_a r | jq -e '.messages[1].content == "Grüße, 世界"'
}

@test "a replay of an exported conversation prints what the conversation printed" {
	as a sh -c 'cat >"$1/transcript"' sh "$WORK" <<'END'
> assistant_listen
Hi
> assistant_tell "Sure, "
> assistant_tell "it's "'"$5"'
> mkdir d; cd d
> for i in 1 2
>> do echo "$i: ${PWD##*/}" | tee -a 'a b'
>> done
> printf '\377\0\n'
> false
> y=$(assistant_listen); echo "got $y"
> assistant_tell "that is $y"
> head -n 1
> typed in
> cat <<E
>> a "b" 'c' \\ $((6*7))
>> E
> seq 1 100000
> assistant_listen
END
	printf 'Hi\nmore ü\n' | as a sh -c 'cat >"$1/lines"' sh "$WORK"
	as a sh -c 'cd "$1" && lodger assistant --replay transcript --user-exec "cat lines" --record first \
		--command-output 1K' sh "$WORK" >"$BATS_TEST_TMPDIR/out" 2>&1 || [ $? = 6 ] || { cat "$BATS_TEST_TMPDIR/out" && false; }
	export_a first >"$BATS_TEST_TMPDIR/chat" 2>"$BATS_TEST_TMPDIR/err"
	# All of it is in there.
	jq -e '(.messages | map(.content // "")) as $said | ["Hi", "Sure, it'"'"'s \"$5\"", "typed in\n"] - $said == []
		and (.metadata.calls | map(.talk // [] | map(.text)) | flatten) == ["more ü", "that is more ü"]
		and any(.metadata.calls[]; .end == "waiting") and any(.metadata.calls[]; .dropped > 100000)
		and .metadata.binary[0].base64 == "/wAK"' "$BATS_TEST_TMPDIR/chat"
	export_a --from chat --format script - <"$BATS_TEST_TMPDIR/chat" | as a sh -c 'cat >"$1/script"' sh "$WORK"
	# Its exit code is 6 if anything printed is another.
	run as a sh -c 'cd "$1" && lodger assistant --replay script --record second --command-output 1K' sh "$WORK"
	exits 0
	diff <(export_a second 2>/dev/null | jq 'del(.metadata.detail)') <(jq 'del(.metadata.detail)' "$BATS_TEST_TMPDIR/chat")
}
