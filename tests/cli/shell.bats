# lodger shell without a terminal, and its options; on a terminal: ../session/terminal.bats.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # scripts for other shells; bats' own

load cli

@test "a shell reads commands from what is no terminal, and exits as they say" {
	run --separate-stderr as a lodger shell <<<'echo $LODGER_SESSION $0; tty; exit 7'
	exits 7
	[[ ${lines[0]} =~ ^lodger-[1-9][0-9]*\ bash$ ]]
	[ "${lines[1]}" = "not a tty" ]
	[ -z "$stderr" ]
	[ "$(sessions)" = 0 ]
	run --separate-stderr as a lodger shell < <(echo 'echo one; false')
	exits 1
	[ "$output" = one ]
	run --separate-stderr as a lodger shell </dev/null
	succeeds
	[ -z "$output" ]
	run --separate-stderr as a bash -c 'lodger shell <&-'
	succeeds
}

@test "a shell in a session that there is leaves it" {
	create a
	run --separate-stderr as a lodger shell "$SESSION" <<<'echo kept >file; echo $LODGER_SESSION'
	succeeds
	[ "$output" = "$SESSION" ]
	[ "$(in_session a "$SESSION" 'cat file')" = kept ]
}

@test "the commands of a shell read what follows them" {
	run --separate-stderr as a lodger shell <<<$'read x\nvalue\necho got-$x\ncat\nrest'
	succeeds
	[ "$output" = $'got-value\nrest' ]
}

@test "limits are for a session that is made, and have their effect there" {
	run --separate-stderr as a lodger shell --memory 100M --pids 20 --cpu 50 --disk 3M --inodes 300 \
		--ttl 60 --net none <<<'df -B 1M --output=size,itotal ~ | tail -1 | xargs'
	succeeds
	[ "$output" = '3 300' ]
	create a
	local words
	for words in '--memory 100M' '--pids 20' '--cpu 50' '--disk 3M' '--inodes 300' '--ttl 60' \
		'--net host' --usage; do
		# shellcheck disable=SC2086  # words
		refuses "shell: limits and --usage are for a session that is made; $SESSION exists already" \
			shell $words "$SESSION"
	done
	refuses 'creating a session: pids of 257 asked for' shell --pids 257
	refuses "--disk: 'x' is not a size" shell --disk x
	works a "$SESSION"
}

@test "--env, --dir, --timeout and --usage are as in run" {
	run --separate-stderr as a lodger shell --env A=1 --dir /usr --usage <<<'echo $A; pwd; exit 3'
	exits 3
	[ "$output" = $'1\n/usr' ]
	[[ $stderr =~ ^lodger:\ lodger-[0-9]+\ used:\ CPU\ time\  ]]
	run --separate-stderr as a lodger shell --timeout 1s <<<'echo out; sleep 88041'
	exits 124
	[ "$output" = out ]
	refuses "--env: 'A' is not NAME=VALUE" shell --env A
	refuses "--timeout: '0' is too small" shell --timeout 0
	refuses 'cannot enter the directory "/no/such"' shell --dir /no/such
	create a
	run --separate-stderr as a lodger shell --env A=1 --dir /usr --timeout 9s "$SESSION" <<<'echo $A; pwd'
	succeeds
	[ "$output" = $'1\n/usr' ]
}

@test "-p has packages in the shell, and commands are read from what is no terminal" {
	run --separate-stderr as a lodger shell -p jq -p lua <<<$'jq -n 6*7\nread x\nvalue\necho $x\nlua -v\nexit 4'
	exits 4
	[ "${lines[0]} ${lines[1]}" = '42 value' ]
	says 'Lua 5'
	refuses "'(jq)' is not the name of a package" shell -p '(jq)'
	run --separate-stderr as a lodger shell -p no-such-package <<<'echo ran'
	fails "-p: the channel has no package 'no-such-package'"
}

@test "on a terminal a shell gets one of its own" {
	run as a timeout 300 script -qec 'lodger shell --dir /usr' /dev/null \
		< <(sleep 1; printf 'tty; pwd; echo $((6 * 7)) $-; exit 6\n'; sleep 3)
	exits 6
	output=${output//$'\r'/}
	says $'/dev/pts/0\n' $'/usr\n'
	grep -qE '42 [A-Za-z]*i' <<<"$output"
}
