# lodger assistant: who plays whom, what they are told, what ends it, and what is recorded.
# shellcheck disable=SC1010,SC2016,SC2030,SC2031,SC2034,SC2154  # `done` as a word; for other shells; bats' own

load assistant

# assistant OPTION…: as user a; the person says what PERSON holds.
assistant() {
	run --separate-stderr as a lodger assistant "$@" <<<"${PERSON-}"
}

# The assistant of the example: types one line after the other, and waits for what came.
example_assistant() {
	file example <"$BATS_TEST_DIRNAME/example.transcript"
	file play <<-'E'
		# Standard input begins with what the assistant is told.
		while read -r mark rest; do [ "$mark" != = ] || break; done
		grep '^> ' "$1" | cut -c 3- | while IFS= read -r line; do
			printf '%s\n' "$line"
			while IFS= read -r came <&3; do [ "${came%% *}" != = ] || break; done
		done
	E
}

@test "the example, replayed, is the example to the letter, and so is its recording's transcript" {
	file example <"$BATS_TEST_DIRNAME/example.transcript"
	assistant --replay "$WORK/example" --record "$WORK/record"
	exits 0
	[ -z "$stderr" ]
	diff "$WORK/example" - <<<"$output"
	diff "$WORK/example" "$WORK/record/transcript.txt"
	# And the recording, and the script that is made of it.
	assistant --replay "$WORK/record" --record "$WORK/again"
	exits 0
	diff "$WORK/example" "$WORK/again/transcript.txt"
	as a lodger export --format script "$WORK/record" | file script
	assistant --replay "$WORK/script"
	exits 0
	diff "$WORK/example" - <<<"$output"
}

@test "the example between a scripted assistant and a scripted person" {
	example_assistant
	file person <<-'E'
		echo "Hi, can you find the square root of fifty for me? I want the exact symbolic value, not an approximation."
		read -r reply
		printf '%s\n' "$reply" >"$1"
		echo "Nope, thanks!"
		read -r reply
		printf '%s\n' "$reply" >>"$1"
	E
	assistant --exec "exec 3<&0; bash $WORK/play $WORK/example" --user-exec "sh $WORK/person $WORK/replies" --record "$WORK/record"
	exits 0
	diff "$WORK/example" "$WORK/record/transcript.txt"
	diff "$WORK/replies" - <<-'E'
		Sure, the exact value is five times the square root of two. Is there anything else I can help with?
		Okay, have a good rest of your day!
	E
}

@test "both players in JSON lines: texts of several lines, in either direction, are what they were" {
	file person <<-'E'
		import json, sys
		with open(sys.argv[1], "w") as replies:
		    print(json.dumps({"say": 'the first, "quoted" \\n'}), flush=True)
		    for say in ["two\tand é", "three"]:
		        reply = json.loads(sys.stdin.readline())
		        assert list(reply) == ["reply"]
		        print(json.dumps(reply["reply"]), file=replies, flush=True)
		        print(json.dumps({"say": say}), flush=True)
	E
	OPTIONS=(--user-exec "/usr/bin/python3 $WORK/person $WORK/replies" --record "$WORK/record")
	typed assistant_listen $'for i in a b\ndo\n\tassistant_tell "$i"\ndone' assistant_listen \
		$'assistant_tell \'x\ny \\ "z"\'' assistant_listen assistant_listen
	exits 0
	[ -z "$stderr" ]
	came 1 done 0 $'the first, "quoted" \\n\n'
	came 2 done 0 ''
	came 3 done 0 $'two\tand é\n'
	came 5 done 0 $'three\n'
	came 6 done 1 $'assistant_listen: the person has gone\n'
	[ "$(jq -sc . "$WORK/replies")" = '["ab","x\ny \\ \"z\""]' ]
	[ "$(jq -sc '[.[] | select(.event == "say") | .text]' "$WORK/record/events.jsonl")" = \
		'["the first, \"quoted\" \\n","two\tand é","three"]' ]
}

@test "a replay that prints something else says so, and which command it was" {
	file transcript <<<$'> echo a\na\n> echo b\nc\n> echo d\ne'
	assistant --replay "$WORK/transcript"
	exits 6
	says '2 commands printed something else' 'the first is number 2'
	[ "$output" = $'> echo a\na\n> echo b\nb\n> echo d\nd' ]
}

@test "the person at standard input: lines in turn, replies put together, and the end told" {
	PERSON=$'one\ntwo'
	OPTIONS=(--record "$WORK/record")
	typed assistant_listen 'assistant_tell a; assistant_tell "b  c" d' assistant_listen assistant_listen 'assistant_tell' 'exit 3'
	exits 0
	came 1 done 0 $'one\n'
	came 2 done 0 ''
	came 3 done 0 $'two\n'
	came 4 done 1 $'assistant_listen: the person has gone\n'
	came 5 done 2
	came 6 gone 3
	[ "$output" = 'ab  c d' ]
	[ "$(jq -r 'select(.event == "finish") | .reason' "$WORK/record/events.jsonl")" = assistant ]
}

@test "a listener that is given up gets no line, and two at once get one each" {
	file person <<<'sleep 2; printf "{\"say\": \"%s\"}\n" one two three'
	OPTIONS=(--user-exec "sh $WORK/person" --record "$WORK/record")
	typed 'timeout 0.5 assistant_listen; echo $?' 'assistant_listen >a & assistant_listen >b & wait' 'sort a b' \
		"python3 -c 'import subprocess; print(subprocess.run([\"assistant_listen\"], capture_output=True).stdout)'"
	came 1 done 0 $'124\n'
	came 3 done 0 $'one\ntwo\n'
	came 4 done 0 $'b\'three\\n\'\n'
	[ "$(jq -r 'select(.event == "say") | .text' "$WORK/record/events.jsonl" | xargs)" = 'one two three' ]
}

@test "waiting for the person is not the command's time, and no waiting for input" {
	file person <<<'sleep 3; echo "{\"say\": \"late\"}"'
	OPTIONS=(--command-timeout 1s --user-exec "sh $WORK/person")
	typed 'assistant_listen; sleep 100' 'echo there'
	came 1 timeout 130
	printed 1 late
	came 2 done 0 $'there\n'
}

@test "what is told to the person is harmless at a terminal" {
	typed "assistant_tell \$'\\033[31mred\\007\\302\\233x\\377 caf\\303\\251'"
	[ "$output" = '\x1b[31mred\x07\xc2\x9bx\xff café' ]
}

@test "each limit ends it, with a code of its own, and says which option" {
	OPTIONS=(--turns 2)
	typed a b c
	exits 3
	says --turns
	OPTIONS=(--total-output 1k --command-output 600)
	typed 'seq 1000' 'seq 1000' 'seq 1000'
	exits 4
	says --total-output
	[ "$(wc -l <"$WORK/texts.results")" = 2 ]
	OPTIONS=(--total-output 1k --record "$WORK/told")
	typed 'for i in {1..100}; do assistant_tell "$(printf %0100d $i)" || break; done' 'assistant_tell more'
	exits 4
	says --total-output
	[ "$(jq -c 'select(.event == "tell")' "$WORK/told/events.jsonl" | wc -l)" = 10 ]
	grep -q 'everything has been said that may be' "$WORK/told/transcript.txt"
	OPTIONS=(--total-output 5 --record "$WORK/empty")
	typed 'for i in {1..9}; do assistant_tell "" || break; done 2>/dev/null' 'assistant_tell ""'
	exits 4
	[ "$(jq -c 'select(.event == "tell")' "$WORK/empty/events.jsonl" | wc -l)" = 5 ]
	OPTIONS=(--timeout 1s --record "$WORK/record")
	typed 'sleep 100'
	exits 124
	says --timeout
	[ "$(jq -r 'select(.event == "finish") | .reason' "$WORK/record/events.jsonl")" = time ]
	OPTIONS=(--timeout 1s --user-exec 'sleep 100')
	typed 'assistant_listen'
	exits 124
	assistant --timeout 1s --exec 'sleep 100'
	exits 124
}

@test "a session that ends, a signal, and an assistant that will not see that the person has gone" {
	OPTIONS=(--ttl 1s --record "$WORK/record")
	typed 'sleep 100'
	exits 5
	says 'the session has ended'
	run --separate-stderr as a timeout --preserve-status -s INT 1 lodger assistant --exec 'sleep 100' --record "$WORK/second" </dev/null
	exits 130
	[ "$(jq -r 'select(.event == "finish") | .reason' "$WORK/second/events.jsonl")" = interrupted ]
	OPTIONS=(--user-exec true --record "$WORK/third")
	typed assistant_listen assistant_listen assistant_listen assistant_listen
	exits 0
	[ "$(jq -r 'select(.event == "finish") | .reason' "$WORK/third/events.jsonl")" = person ]
}

@test "programs that play: lines, an assistant that reads nothing, one that writes nonsense, none" {
	assistant --exec 'echo "echo a; printf b; false"; while read -r line; do case $line in "| a" | "+ b" | "= done 1 0") echo "echo $line >>$HOME/seen" ;; esac; done' \
		--turns 4
	exits 3
	assistant --exec 'exec <&-; seq -f "echo %.0f" 100' --record "$WORK/record"
	exits 0
	[ "$(grep -c '^> echo' "$WORK/record/transcript.txt")" = 100 ]
	assistant --json-lines --exec 'echo nonsense'
	exits 125
	says '{"command": TEXT}'
	assistant --exec /no/such/program
	exits 0
	says 'not found'
	assistant --exec 'head -c 2000000 /dev/zero | tr "\0" x'
	exits 125
	says mebibyte
}

@test "options that do not go together are refused, and a recording is never written over" {
	assistant
	exits 125
	says '--exec, --api, --human and --replay'
	assistant --exec true --human
	exits 125
	assistant --human --json-lines
	exits 125
	assistant --exec true --model x
	exits 125
	says '--api'
	file transcript <<<'nonsense'
	assistant --replay "$WORK/transcript"
	exits 125
	assistant --exec true --record "$WORK/record"
	exits 0
	[ "$(stat -c %a "$WORK/record")" = 700 ]
	assistant --exec true --record "$WORK/record"
	exits 125
	says 'without a recording'
}

@test "a recording has the lines as they were typed, bytes as they came, and a film that fits" {
	OPTIONS=(--record "$WORK/record" --env A=b)
	typed 'echo $A; assistant_tell x' $'echo 1\necho 2' "printf '\\377\\0'" 'echo é' 'seq 100000'
	(
		cd "$WORK/record"
		[ "$(jq -r .event events.jsonl | head -7 | xargs)" = 'start command tell output end command output' ]
		jq -se '.[0] | .version == 1 and .assistant == "exec" and .limits.pids > 0 and .columns == 80 and (.prompt | length > 0)' events.jsonl
		[ "$(jq -r 'select(.event == "output" and .id == 3) | .base64' events.jsonl)" = /wA= ]
		jq -se 'map(select(.event == "end" and .id == 5)) | .[0] | .dropped == 588895 - 65536 and .seconds > 0' events.jsonl
		jq -se '.[-1].event == "finish" and .[-2].event == "usage" and .[-2].cpu_usec > 0' events.jsonl
		{
			printf '%s\n' '> echo $A; assistant_tell x' b '> echo 1' '>> echo 2' 1 2 "> printf '\\377\\0'"
			printf '\377\0\n'
			printf '%s\n' '> echo é' é '> seq 100000' 1 2
		} >beginning
		head -c "$(stat -c %s beginning)" transcript.txt | cmp - beginning
		jq -se '.[0].version == 2 and .[0].width == 80 and (.[1:] | all(length == 3 and (.[1] == "o" or .[1] == "i")))' terminal.cast
		jq -se '[.[1:][] | select(.[1] == "o")] | map(.[2]) | join("") | contains("1\r\n2\r\n")' terminal.cast
	)
}
