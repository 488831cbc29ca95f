# Models behind an API, as lodger fill has them: what goes over the wire, and what a server may do. The
# server is chatserver. What an answer may look like byte by byte is in ../unit/assistant_answer_test.c.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # scripts for other shells; bats' own

load chat

teardown() {
	serve_end
	lodger_teardown
}

# ask TEXT [OPTION…]: has user a fill what the server's model writes about it.
ask() {
	local text=$1
	shift
	run --separate-stderr as a lodger fill --api "$URL" --model tiny "$@" <<<"$text"
}

# key TEXT: a file with it that a alone can read.
key() {
	KEY=$BATS_TEST_TMPDIR/key
	printf '%s\n' "$1" >"$KEY"
	chown "$USERS-a" "$KEY"
	chmod 400 "$KEY"
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/test
}

@test "a model's text is stopped at the colon, gets the result, and goes on" {
	serve '{"text": "It is {echo 5; x=2:6} I guess", "linger": 60}' '{"text": "} or {echo $x:"}' '{"text": " sharp."}'
	ask 'How much is it?'
	exits 0
	[ "$output" = 'It is {echo 5; x=2:5} or {echo $x:2} sharp.' ]
	[ -z "$stderr" ]
	asked_is 3
	[ "$(asked '.[0].hung_up')" = true ]
	[ "$(asked 'map(.path) | unique[]')" = /v1/chat/completions ]
	[ "$(asked 'map(.body.model) | unique[]')" = tiny ]
	[ "$(asked '.[0].body.messages | map(.role) | join(" ")')" = 'system user' ]
	[ "$(asked '.[0].body.messages[1].content')" = 'How much is it?' ]
	[ "$(asked '.[2].body.messages[2:] | map(.role) | join(" ")')" = 'assistant user assistant user' ]
	[ "$(asked '.[2].body.messages[2].content')" = 'It is {echo 5; x=2:' ]
	[ "$(asked '.[2].body.messages[3].content | split("\n")[-1]')" = '5}' ]
	[ "$(asked '.[2].body.messages[4].content')" = ' or {echo $x:' ]
}

@test "a model is stopped at the end of a work block" {
	serve '{"text": "Well.\n<work>\n```python\nx = 6 * 7\nx\n```\n</work>\n<output>\n43"}' '{"text": "\nSo {echo done:"}' '{"text": "!"}'
	ask 'Compute.'
	exits 0
	[ "$output" = $'Well.\n<work>\n```python\nx = 6 * 7\nx\n```\n</work>\n<output>\n42\n</output>\nSo {echo done:done}!' ]
	asked_is 3
	[ "$(asked '.[1].body.messages[3].content | endswith("\n<output>\n42\n</output>")')" = true ]
}

@test "a model that goes on with its own message is given it, and one that completes, the whole text" {
	serve '{"text": "It is {echo 5:"}' '{"text": "."}'
	ask 'How much?' --style prefill
	exits 0
	[ "$output" = 'It is {echo 5:5}.' ]
	asked_is 2
	[ "$(asked '.[1].body.messages[-1] | .role + .content')" = 'assistantIt is {echo 5:5}' ]
	[ "$(asked '.[1].body | .continue_final_message, .add_generation_prompt')" = $'true\nfalse' ]
	[ "$(asked '.[0].body | has("continue_final_message")')" = false ]
	serve_end
	serve '{"text": " and {echo 6:7}"}' '{"text": "."}'
	ask 'It is {echo 5:}' --style completions --prompt-file /dev/null --max-tokens 99
	exits 0
	[ "$output" = $'It is {echo 5:5}\n and {echo 6:6}.' ]
	asked_is 2
	[ "$(asked 'map(.path) | unique[]')" = /v1/completions ]
	[ "$(asked '.[0].body.prompt')" = 'It is {echo 5:5}' ]
	[ "$(asked '.[1].body.prompt')" = $'It is {echo 5:5}\n and {echo 6:6}' ]
	[ "$(asked '.[0].body.max_tokens')" = 99 ]
}

@test "a model is told how it works, what there is and its limits, or what a file says" {
	serve '{"text": "ok"}' '{"text": "ok"}'
	ask 'x' --command-timeout 7s --turns 9 --memory 64M --pids 33
	exits 0
	asked_is 1
	system=$(asked '.[0].body.messages[0].content')
	[[ $system == *'<work>'* && $system == *'no network'* && $system == *'time of a command 7s'* && $system == *'commands in all 9'* ]]
	[[ $system == *'memory, files included, 64M'*'processes 33'* ]]
	printf 'Be brief.' >"$BATS_TEST_TMPDIR/prompt"
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/test
	ask 'x' --prompt-file "$BATS_TEST_TMPDIR/prompt"
	asked_is 2
	[ "$(asked '.[1].body.messages[0].content')" = 'Be brief.' ]
}

@test "the key is in the request and nowhere else" {
	key sk-geheim
	serve '{"text": "{env | grep -c geheim; cat /proc/[0-9]*/environ 2>/dev/null | grep -ac geheim:"}' '{"text": "."}' '{"text": "{env | grep -c geheim:"}' '{"text": "."}' '{"mode": "denies"}'
	ask x --key-file "$KEY"
	exits 0
	[ "$output" = $'{env | grep -c geheim; cat /proc/[0-9]*/environ 2>/dev/null | grep -ac geheim:0\n0 [exit status 1]}.' ] ||
		[ "$output" = $'{env | grep -c geheim; cat /proc/[0-9]*/environ 2>/dev/null | grep -ac geheim:0\n0\n[exit status 1]}.' ]
	run --separate-stderr as a env MY_KEY=sk-geheim lodger fill --api "$URL" --key-env MY_KEY <<<x
	exits 0
	[ "$output" = '{env | grep -c geheim:0 [exit status 1]}.' ]
	# A server that says the key back.
	ask x --key-file "$KEY"
	failed 'status 401: \x1b[31mwrong: Bearer *********; --key-file or --key-env'
	says_not geheim
	asked_is 5
	[ "$(asked 'map(.key) | unique[]')" = 'Bearer sk-geheim' ]
	[ "$(asked 'map(.body) | tostring | contains("geheim: ")')" = false ]
}

@test "keys that are none, and URLs that are no API's, are refused before anything runs" {
	serve
	ask x --key-file /no/such
	failed "the API's key: opening /no/such: No such file or directory"
	ask x --key-env NO_SUCH_VARIABLE
	failed "the API's key: the variable NO_SUCH_VARIABLE is not set"
	ask x --key-env A --key-file B
	failed '--key-file and --key-env are one too many'
	ask x --style loud
	failed "--style: 'loud' is none of chat, prefill and completions"
	local url
	for url in ftp://localhost/v1 localhost:80/v1 file:///etc/passwd '' 'http://'; do
		URL=$url ask x
		failed
	done
	URL=http://user:secret@127.0.0.1/v1 ask x
	failed 'has a user or password in it'
	says_not secret
	URL='http://127.0.0.1/v1?x=1' ask x
	failed "has something behind a '?'"
	run --separate-stderr as a lodger fill --model tiny <<<x
	failed 'are for a model behind --api'
}

@test "a URL without a path is that of /v1, and a slash at its end does not count" {
	serve '{"text": "a"}' '{"text": "b"}'
	URL=${URL%/v1} ask x
	[ "$output" = a ]
	URL=$URL/ ask x
	[ "$output" = b ]
}

@test "no answer leads elsewhere" {
	serve '{"text": "stolen"}'
	local other=$URL heard=$HEARD elsewhere=$SERVER
	key sk-geheim
	serve "{\"mode\": \"redirect\", \"to\": \"${other/127.0.0.1/localhost}/chat/completions\"}"
	ask x --key-file "$KEY"
	kill "$elsewhere"
	failed "it leads to ${other/127.0.0.1/localhost}/chat/completions, where nothing is sent"
	[ ! -e "$heard" ]
}

@test "a busy server is asked again, as often and as late as is sensible" {
	serve '{"mode": "status", "status": 429, "retry_after": "1"}' '{"mode": "status", "status": 503}' '{"text": "ok"}' \
		'{"mode": "status", "status": 429, "retry_after": "3600", "text": "quota"}' '{"mode": "status", "status": 500, "text": "broken"}'
	ask x
	exits 0
	[ "$output" = ok ]
	asked_is 3
	ask x
	failed 'wants to be asked again in 3600 seconds; that is too long'
	ask x
	failed 'status 500: broken'
	asked_is 5
}

@test "a server that stays busy is given up, also at the end of the time" {
	local busy='{"mode": "status", "status": 429, "retry_after": "50", "text": "slow down"}'
	local now='{"mode": "status", "status": 503, "text": "no room"}'
	serve "$busy" "$now" "$now" "$now" "$now" "$now"
	ask x --timeout 1s
	failed_with 124 'the time was over'
	ask x
	failed 'status 503: no room'
	asked_is 6
}

@test "an answer that is cut off, wrong or none is a failure that says what it is, and what came stays" {
	serve '{"mode": "cut", "text": "It is"}' '{"mode": "garbage", "text": "It is"}' '{"mode": "error", "text": "It is"}' \
		'{"mode": "page"}' '{"mode": "slam"}' '{"mode": "status", "status": 404, "text": "no such model"}' '{"mode": "headers"}'
	ask x
	failed 'broke off its answer after 5 bytes'
	[ "$output" = 'It is' ]
	ask x
	failed 'sent what is not JSON' '\x1b]0;title\x07'
	ask x
	failed 'says: the model fell over'
	ask x
	failed 'answered with text/html, not with events or JSON'
	ask x
	failed "asking $URL: "
	ask x
	failed 'status 404: no such model; is --model one of'
	ask x
	failed 'headers'
	serve_end
	ask x
	failed 'is the server running, and --api right?'
}

@test "an answer without end is cut" {
	serve '{"mode": "flood"}' '{"mode": "pings"}' '{"mode": "line"}'
	run --separate-stderr as a bash -c "lodger fill --api $URL <<<x | wc -c"
	says 'sent more than 1048576 bytes of text in one answer'
	[ "$output" -le 1048576 ]
	# Without a bound it would go on for ever.
	ask x --timeout 100s
	failed 'hardly any text'
	ask x
	failed 'an event of more than 1048576 bytes'
}

@test "a slow server has as long as --timeout, and a silent one, too" {
	serve '{"mode": "slow", "text": "one two three four five six seven", "pause": 0.5}' '{"mode": "silent"}' '{"mode": "slow", "text": "ok", "pause": 1}'
	ask x --timeout 2s
	failed_with 124 'the time was over before'
	[[ $output == one* && $output != *seven ]]
	ask x --timeout 2s
	failed_with 124 'the time was over before'
	[ -z "$output" ]
	ask x --timeout 60s
	exits 0
	[ "$output" = ok ]
}

@test "other forms of a good answer are taken, and an odd end is said" {
	serve '{"mode": "document", "text": "{echo 1:"}' '{"mode": "length", "text": " then"}' '{"mode": "calls", "text": "x"}'
	ask x
	exits 0
	[ "$output" = '{echo 1:1} then' ]
	[ "$stderr" = "lodger: the model's answer ended at its limit of tokens; --max-tokens gives it more" ]
	ask x
	exits 0
	[ "$stderr" = 'lodger: the model ended its answer with "tool_calls"' ]
}

@test "a model's text is made harmless on a terminal" {
	command -v script >/dev/null || skip "script is not installed"
	serve '{"mode": "bell"}'
	run as a script -qec "echo x | LC_ALL=C.UTF-8 lodger fill --api $URL" /dev/null
	[ "$output" = '\x1b]0;title\x07\x1b[2J\xc2\x9b31m' ]
}

@test "a model that runs commands without end is stopped by the limits" {
	serve '{"text": "{echo 1:"}' '{"text": "{echo 2:"}' '{"text": "{echo 3:"}'
	ask x --turns 2
	[ "$output" = '{echo 1:1}{echo 2:2}{echo 3:' ]
	failed_with 3 '2 commands have run'
}

# talk LINE [OPTION…]: has user a talk with the server's model, saying that one line.
talk() {
	local line=$1
	shift
	run --separate-stderr as a lodger assistant --api "$URL" --model tiny "$@" <<<"$line"
}

@test "a model plays the assistant: it types, is told what came of it, and ends" {
	serve '{"text": "assistant_listen"}' '{"text": "cd /tmp; x=5"}' '{"text": "echo $PWD $x; false"}' '{"text": "assistant_tell five"}' '{"text": "exit"}'
	talk 'How much is it?'
	exits 0
	[ "$output" = five ]
	asked_is 5
	[ "$(asked '.[0].body.messages | map(.role) | join(" ")')" = 'system user' ]
	[ "$(asked '.[1:] | map(.body.messages[-1].content) | tojson')" = '["How much is it?\n","[no output]","/tmp 5\n[exit status 1]","[no output]"]' ]
	[ "$(asked '.[4].body.messages[2:] | map(select(.role == "assistant").content) | tojson')" = '["assistant_listen","cd /tmp; x=5","echo $PWD $x; false","assistant_tell five"]' ]
	[[ $(asked '.[0].body.messages[0].content') == *'assistant_tell "TEXT"'*'time in all 1h00m'* ]]
}

@test "Markdown, prompt signs, thoughts and dreams of a model are not typed" {
	serve '{"text": "Let me see:\n```bash\nassistant_tell one\nassistant_tell \" two\"\n```\nThat does it."}' \
		'{"text": "> assistant_tell \" three\"\n(dreamt)\n> assistant_tell no", "linger": 60}' '{"text": "<think>\nls\n</think>\n\n$ assistant_tell \" four\"\n"}' '{"text": " \n"}'
	talk x
	exits 0
	[ "$output" = 'one two three four' ]
	asked_is 4
	[ "$(asked '.[1].hung_up')" = true ]
	[[ $(asked '.[2].body.messages[-2].content') != *" no" ]]
}

@test "a model of the assistant that fails, or is cut off, ends the conversation with a word" {
	serve '{"text": "assistant_tell hello"}' '{"mode": "cut", "text": "assistant_tell by"}' '{"mode": "length", "text": "echo"}' \
		'{"mode": "calls"}' '{"mode": "status", "status": 400, "text": "too long"}' '{"mode": "silent"}'
	talk x
	exits 125
	[ "$output" = hello ]
	says 'broke off its answer after 17 bytes of text'
	talk x
	exits 125
	says "the model's answer was cut off at its limit of tokens; --max-tokens gives it more"
	talk x
	exits 125
	says 'the model ended its answer with "tool_calls" and no text'
	talk x
	exits 125
	says 'status 400: too long'
	talk x --timeout 2s
	exits 124
	says 'its time was over'
}

@test "the assistant's key is not in its session, nor with its person, nor in a recording" {
	key sk-geheim
	serve '{"text": "env | grep -c geheim"}' '{"text": "exit"}' '{"text": "assistant_listen"}' '{"text": "exit"}'
	talk x --key-file "$KEY" --record recording
	exits 0
	asked_is 2
	[ "$(asked '.[1].body.messages[-1].content')" = $'0\n[exit status 1]' ]
	[ "$(asked '.[1].key')" = 'Bearer sk-geheim' ]
	run ! as a grep -rq 'sk-geheim' recording
	as a rm -r recording
	run --separate-stderr as a env MY_KEY=sk-geheim OTHER=seen lodger assistant --api "$URL" --model tiny \
		--key-env MY_KEY --user-exec 'env >person; echo "{\"say\": \"x\"}"'
	exits 0
	[ "$(asked '.[3].key')" = 'Bearer sk-geheim' ]
	as a grep -qx OTHER=seen person
	run ! as a grep -q 'geheim' person
	as a rm person
}
