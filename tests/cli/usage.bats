# How a command line is read: help, version, and every way to write one that is wrong, which is
# said on standard error, in one line, with exit code 125, before anything is done.
# shellcheck disable=SC2030,SC2031,SC2086,SC2154  # each test is a subshell; words; bats' own

load cli

# Each command and its options, as --help lists them.
LIMITS='--memory --pids --cpu --disk --inodes --ttl --net'
JOB='--package --timeout --env --dir'
MODEL='--api --model --key-file --key-env --max-tokens'
BOUNDS='--prompt-file --turns --command-timeout --command-output --total-output'
declare -gA OPTIONS=(
	[create]="$LIMITS --no-auto --json" [run]="$LIMITS --no-auto $JOB --terminal --usage"
	[exec]="--no-auto $JOB --terminal" [shell]="$LIMITS --no-auto $JOB --usage" [list]='--all --json' [show]=--json [destroy]='--all --json'
	[collect]=--json [put]='--timeout --max' [get]='--timeout --max' [packages]='--cached --json'
	[which]=--json [command]='' [doctor]=--json [help]=''
	[assistant]="$LIMITS --no-auto ${JOB#* } --exec --json-lines --human --replay --user-exec --record $MODEL $BOUNDS"
	[fill]="$LIMITS --no-auto $JOB $MODEL --style $BOUNDS"
	[export]='--format --from --system --lang --check --keep-names'
)
# The value that an option takes.
declare -gA VALUES=(
	[--memory]=SIZE [--pids]=N [--cpu]=PERCENT [--disk]=SIZE [--inodes]=N [--ttl]=TIME
	[--net]='none|host' [--package]=PKG [--timeout]=TIME [--env]=NAME=VALUE [--dir]=DIR
	[--max]=SIZE [--exec]=PROGRAM [--replay]=FILE [--user-exec]=PROGRAM [--record]=DIR [--api]=URL [--model]=NAME
	[--key-file]=FILE [--key-env]=NAME [--max-tokens]=N [--prompt-file]=FILE [--turns]=N [--command-timeout]=TIME
	[--command-output]=SIZE [--total-output]=SIZE [--style]='chat|prefill|completions'
	[--format]='chat|tree|script' [--from]='recording|chat' [--system]=FILE [--lang]=TAG
)
# Arguments that are enough, for a session that does not exist.
declare -gA ARGUMENTS=(
	[run]=true [exec]='lodger-65535 true' [show]=lodger-65535 [destroy]=lodger-65535
	[put]='lodger-65535 a b' [get]='lodger-65535 a b' [which]=jq [command]=jq
	[export]=/nowhere
)

@test "without a command it says where help is" {
	refuses 'no command given; lodger help lists them'
}

@test "a version is one line with a number" {
	run --separate-stderr as a lodger --version
	succeeds
	[[ $output =~ ^lodger\ [0-9]+(\.[0-9]+)+[^[:space:]]*$ ]]
}

@test "help lists every command, and nothing else" {
	run --separate-stderr as a lodger help
	succeeds
	local help=$output command
	[ "${lines[0]}" = 'usage: lodger COMMAND [OPTION]... [ARGUMENT]...' ]
	[ "$(sed -n 's/^  \([a-z]*\)  .*/\1/p' <<<"$help" | xargs)" = "$COMMANDS" ]
	says 'lodger --version'
	for command in --help -h; do
		run --separate-stderr as a lodger $command
		succeeds
		[ "$output" = "$help" ]
	done
}

@test "each command has a help, which lists its options and is the same however it is asked for" {
	local command help
	for command in $COMMANDS; do
		run --separate-stderr as a lodger help $command
		succeeds
		help=$output
		[[ ${lines[0]} == "usage: lodger $command [OPTION]..."* ]]
		[ "$(sed -n 's/^  [ -].[ ,] \(--[a-z-]*\).*/\1/p' <<<"$help" | tr '\n' ' ')" = \
			"${OPTIONS[$command]:+${OPTIONS[$command]} }--help " ]
		# The summary is the one of the list of all.
		[ "${lines[1]}." = "$(as a lodger help | sed -n "s/^  $command  *//p").." ]
		for arguments in -h "--help ${ARGUMENTS[$command]-}"; do
			run --separate-stderr as a lodger $command $arguments
			succeeds
			[ "$output" = "$help" ]
		done
	done
}

@test "help shows the value of each option that takes one" {
	local command option
	for command in $COMMANDS; do
		run as a lodger $command --help
		for option in ${OPTIONS[$command]}; do
			# By the help's own layout, more than one blank may follow.
			grep -qF -- " $option${VALUES[$option]:+ ${VALUES[$option]}} " <<<"$output"
		done
	done
}

@test "an unknown command is named" {
	local word
	for word in lst cre Create 'list ' '' - -- --json -x /bin/sh ../list; do
		refuses "there is no command '$word'; lodger help lists them" "$word"
	done
	refuses "there is no command 'nonsense'; lodger help lists them" help nonsense
	refuses "there is no command ''" help ''
}

@test "an unknown option is named, whatever the command, and nothing is done" {
	local command option before
	before=$(sessions)
	for command in $COMMANDS; do
		for option in --nonsense -z; do
			refuses "$command: there is no option $option; see lodger $command --help" \
				$command $option ${ARGUMENTS[$command]-}
		done
	done
	refuses 'create: there is no option --nonsense=1' create --nonsense=1
	refuses 'create: there is no option --Json' create --Json
	refuses 'exec: there is no option -z' exec -tz lodger-65535 true
	[ "$(sessions)" = "$before" ]
}

@test "the options of one command are unknown to the others" {
	local command option
	# What each takes is what its help lists; here, every option once where it is unknown.
	for option in ${OPTIONS[shell]} --json --all --max --cached; do
		for command in list run exec doctor put; do
			[[ " ${OPTIONS[$command]} " != *" $option "* ]] || continue
			refuses "$command: there is no option $option" $command $option \
				${ARGUMENTS[$command]-}
			break
		done
	done
	refuses 'shell: there is no option -t' shell -t
	refuses 'create: there is no option -p' create -p jq
}

@test "an option without its value says what it needs" {
	local option command
	for option in "${!VALUES[@]}"; do
		# The first that has it.
		for command in shell get assistant fill export; do
			[[ " ${OPTIONS[$command]} " != *" $option "* ]] || break
		done
		refuses "$command: the option $option needs ${VALUES[$option]}; see lodger $command " \
			$command $option
	done
	refuses 'create: the option --net needs none|host' create --json --net
	refuses 'exec: the option -p needs PKG' exec -p
}

@test "an option that takes no value refuses one" {
	local words
	for words in 'list --all' 'destroy --all' 'show --json' 'run --terminal' 'run --usage' \
		'create --no-auto' 'packages --cached' 'help --help'; do
		set -- $words
		refuses "$1: the option $2 takes no value; see lodger $1 --help" "$1" "$2=yes"
		refuses "$1: the option $2 takes no value" "$1" "$2="
	done
}

@test "an ambiguous beginning of an option is no option, a clear one is" {
	refuses 'run: there is no option --t' run --t 5 true
	run --separate-stderr as a lodger list --js
	succeeds
	[ "$output" = '[]' ]
}

@test "missing arguments are said, with how it should be" {
	local command
	for command in run exec show put get which export command; do
		refuses "$command: something is missing; usage: lodger $command " $command
	done
	refuses 'usage: lodger run [--] COMMAND [ARG]...' run --
	refuses 'usage: lodger exec SESSION [--] COMMAND [ARG]...' exec lodger-1
	refuses 'usage: lodger put SESSION SOURCE... DEST' put lodger-1 a
	refuses 'usage: lodger get SESSION SOURCE... DEST' get lodger-1 a
	refuses 'usage: lodger show SESSION' show --json
	refuses 'usage: lodger which COMMAND' which --json
	refuses 'usage: lodger command NAME [ARG]...' command --
	refuses 'exec: no command given; usage: lodger exec SESSION [--] COMMAND' exec lodger-1 --
	local words
	for words in '' --json '--all lodger-1'; do
		refuses 'destroy: name the sessions, or give --all for all of yours' destroy $words
	done
}

@test "too many arguments are said, and nothing is done" {
	local before
	before=$(sessions)
	refuses 'create: too many arguments; usage: lodger create' create one
	refuses 'list: too many arguments; usage: lodger list' list lodger-1
	refuses 'collect: too many arguments' collect lodger-1
	refuses 'doctor: too many arguments' doctor x
	refuses 'show: too many arguments; usage: lodger show SESSION' show lodger-1 lodger-2
	refuses 'shell: too many arguments; usage: lodger shell [SESSION]' shell lodger-1 lodger-2
	refuses 'packages: too many arguments; usage: lodger packages [PATTERN]' packages a b
	refuses 'which: too many arguments; usage: lodger which COMMAND' which a b
	refuses 'assistant: too many arguments; usage: lodger assistant' assistant x
	refuses 'fill: too many arguments; usage: lodger fill [FILE]' fill a b
	refuses 'help: too many arguments; usage: lodger help [COMMAND]' help run exec
	refuses 'create: too many arguments' create ''
	[ "$(sessions)" = "$before" ]
}

@test "after -- nothing is an option" {
	refuses 'create: too many arguments' create -- --json
	refuses 'list: too many arguments' list -- --all
	refuses "'--all' is not the name of a session" destroy -- --all
	refuses "'--json' is not the name of a session" show -- --json
	refuses "there is no command '--help'" help -- --help
	run --separate-stderr as a lodger list --json --
	succeeds
	[ "$output" = '[]' ]
	# What follows a command is the command's.
	run --separate-stderr as a lodger run -- echo --help -h -- --json
	succeeds
	[ "$output" = '--help -h -- --json' ]
	run --separate-stderr as a lodger run echo --help -z -- -t
	succeeds
	[ "$output" = '--help -z -- -t' ]
	run -127 --separate-stderr as a lodger run -- --help
	says "--help"
}

@test "between session and command of exec one -- is passed over, and no more" {
	create a
	local words
	for words in 'echo x -- --help' '-- echo x -- --help'; do
		run --separate-stderr as a lodger exec "$SESSION" $words
		succeeds
		[ "$output" = 'x -- --help' ]
	done
	run --separate-stderr as a lodger exec -- "$SESSION" -- echo -t
	succeeds
	[ "$output" = -t ]
	run -127 --separate-stderr as a lodger exec "$SESSION" -- -- echo
	# Options come before the session: behind it they are the command's.
	run -127 --separate-stderr as a lodger exec "$SESSION" -t true
	says "-t"
}

@test "options may stand behind arguments, where no command follows" {
	create a
	run --separate-stderr as a lodger show "$SESSION" --json
	succeeds
	[ "$(jq -r .session <<<"$output")" = "$SESSION" ]
	run --separate-stderr as a lodger destroy "$SESSION" --json
	succeeds
	[ "$(jq -r '.[].session' <<<"$output")" = "$SESSION" ]
}

@test "of an option that is given twice the later one counts" {
	run --separate-stderr as a lodger create --pids 10 --json --pids=20 --json
	succeeds
	[ "$(jq .limits.pids <<<"$output")" = 20 ]
	refuses "--pids: 'x' is not a number" create --pids x --pids 20
}

@test "a message shows control characters of the command line, and does not send them" {
	refuses "there is no command '\\x1b[31mred\\x0a\\x07'" $'\e[31mred\n\a'
	refuses "create: there is no option --\\x1b" create $'--\e'
	refuses "'\\xc3\\xa9\\x0d' is not the name of a session" show $'é\r'
	refuses "--env: '\\x1b]0;x\\x07' is not NAME=VALUE" run --env $'\e]0;x\a' true
	refuses "there is no command 'a\\\\b'" 'a\b'
}

@test "very long words are no more than refused" {
	local long
	long=$(head -c 100000 /dev/zero | tr '\0' x)
	refuses "there is no command 'xxx" "$long"
	refuses "there is no option --xxx" list "--$long"
	refuses "'xxx" show "$long"
	refuses "--memory: 'xxx" create --memory "$long"
	refuses "'xxx" run -p "$long" true
	[ "${#stderr}" -lt 4200 ]
}
