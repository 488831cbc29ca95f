# lodger packages and lodger which: what the channel has, on the host and in a session.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # scripts for other shells; bats' own

load packages

@test "packages lists what is in the channel's table, all of it local" {
	run --separate-stderr as a lodger packages
	succeeds
	[[ ${lines[0]} =~ ^ATTRIBUTE\ +VERSION\ +FETCH\ \ DESCRIPTION$ ]]
	[ "${#lines[@]}" -gt 20 ]
	[ "$(tail -n +2 <<<"$output" | awk '{ print $1, $2, $3 }')" = \
		"$(cut -f 1,2 "$CHANNEL/packages.tsv" | awk -F '\t' '{ print $1, $2, "local" }'
			awk -F '\t' '{ print $1, "-", "-" }' "$CHANNEL/more.tsv")" ]
	grep -qE '^jq +[0-9][^ ]* +local  JSON processor$' <<<"$output"
}

@test "packages --json has the same with path and size" {
	run --separate-stderr as a lodger packages --json
	succeeds
	[ "$(jq -r '.[] | [.attribute, .version, .path, .description, (.size | tostring)] | @tsv' <<<"$output")" = \
		"$(cut -f 1-3,5-6 "$CHANNEL/packages.tsv")" ]
	jq -e 'all(.local == true and .size > 0)' <<<"$output"
}

@test "sizes are those of what would be fetched" {
	local attribute
	for attribute in jq lua gcc python3; do
		[ "$(as a lodger packages --json | jq ".[] | select(.attribute == \"$attribute\").size")" = \
			"$(NIX_REMOTE=local nix-store --query --size "$(tree $attribute)")" ]
	done
}

# found PATTERN: the attributes that it finds.
found() {
	as a lodger packages --json "$1" | jq -r '.[].attribute' | xargs
}

@test "a pattern fits anywhere in attribute or description, whatever the case" {
	[ "$(found jq)" = jq ]
	[ "$(found JSON)" = jq ]
	[ "$(found 'json PROC')" = jq ]
	[[ $(found sympy) == *python3Packages.sympy* && $(found sympy) != *mpmath* ]]
	[ "$(found 'lua5_?')" = lua5_4 ]
	[ "$(found 'j[p-r]')" = jq ]
	[[ $(found 'python3*sym') == *python3Packages.sympy* ]]
	[ "$(found 'J*or')" = jq ]
	[ -z "$(found no-such-thing)" ]
	[ -z "$(found 'lua5_??')" ]
	[ -z "$(found $'\xff')" ]
	[ "$(found '')" = "$(cut -f 1 "$CHANNEL/packages.tsv" | xargs)" ]
	run --separate-stderr as a lodger packages no-such-thing
	succeeds
	[ "${#lines[@]}" = 1 ]
}

@test "what is not in the store comes last, with its size, and not with --cached" {
	export FIRST
	FIRST=$(another_channel "s|^jq\t\([^\t]*\)\t[^\t]*\(.*\)\t[0-9]*$|jq\t\1\t$ABSENT\2\t1572864|
		s|^bash\t\([^\t]*\)\t[^\t]*\(.*\)\t[0-9]*$|bash\t\1\t$ABSENT\2|")
	# What the channel could have besides would come after it.
	FIRST+=$'\n'"mount --bind /dev/null $CHANNEL/more.tsv"
	run --separate-stderr elsewhere 'eval "$FIRST"; as a lodger packages'
	succeeds
	[[ ${lines[-2]} =~ ^bash\ .*\ \?\ \  && ${lines[-1]} =~ ^jq\ .*\ 1\.5M\ \  ]]
	[ "$(grep -c ' local ' <<<"$output")" = $((${#lines[@]} - 3)) ]
	run --separate-stderr elsewhere 'eval "$FIRST"; as a lodger packages --json "[jb][qa]*"'
	succeeds
	jq -e '.[-1] | .attribute == "jq" and .local == false and .size == 1572864' <<<"$output"
	jq -e '.[-2] | .attribute == "bash" and .local == false and .size == null' <<<"$output"
	run --separate-stderr elsewhere 'eval "$FIRST"; as a lodger packages --cached'
	succeeds
	[ "$(tail -n +2 <<<"$output" | awk '{ print $1 }')" = \
		"$(cut -f 1 "$CHANNEL/packages.tsv" | grep -vx -e jq -e bash)" ]
}

@test "what a channel says of itself is printed printable" {
	export FIRST
	FIRST=$(another_channel $'s|\tJSON processor\t|\t\e[31mJ\xe9S\xc3\xa9\t|')
	run --separate-stderr elsewhere 'eval "$FIRST"; as a lodger packages'
	succeeds
	says '\x1b[31mJ\xe9S\xc3\xa9'
	[[ $output != *$'\e'* ]]
	run --separate-stderr elsewhere 'eval "$FIRST"; as a lodger packages --json'
	succeeds
	jq -e '.[] | select(.attribute == "jq").description == "\\x1b[31mJ\\xe9S\\xc3\\xa9"' <<<"$output"
}

@test "which shows who has a command, in the index and no more, and marks the one that is taken" {
	local command
	for command in lua python gcc ls awk '[' x86_64-linux-gnu-gcc; do
		run --separate-stderr as a lodger which "$command" --json
		succeeds
		[ "$(jq -r '.[].attribute' <<<"$output" | sort)" = "$(sqlite3 "$CHANNEL/programs.sqlite" \
			"select package from Programs where name = '$command' and system = '$SYSTEM'" | sort)" ]
		jq -e '[.[].taken] == [true] + [.[1:][] | false]' <<<"$output"
		[ -x "$(jq -r '.[0].program' <<<"$output")" ]
	done
	[ "$(as a lodger which ls --json | jq -r '.[].attribute')" = coreutils ]
	[ "$(as a lodger which python --json | jq -r '.[0].attribute')" = python3 ]
	run --separate-stderr as a lodger which lua
	succeeds
	[[ ${lines[0]} =~ ^\ \ ATTRIBUTE\ +VERSION\ +FETCH\ \ PROGRAM$ ]]
	[[ ${lines[1]} =~ ^\*\ lua\ .*\ local\ \ "$(tree lua)/bin/lua"$ ]]
	[[ ${lines[2]} =~ ^\ \ lua5_4\ .*\ local\ \  ]]
	[ "${#lines[@]}" = 3 ]
}

@test "which of what nobody has exits with 1" {
	local word
	for word in no-such-command JQ 'l%' "' or '1'='1" 'lua ' $'\xff' -- '*'; do
		run --separate-stderr as a lodger which -- "$word"
		exits 1
		[ -z "$output" ]
		says 'no package of the channel has a program'
		run --separate-stderr as a lodger which --json -- "$word"
		exits 1
		[ "$output" = '[]' ]
	done
	run --separate-stderr as a lodger which $'\e[31m'
	exits 1
	says "a program '\\x1b[31m'"
	for word in '' . .. / /bin/ls bin/lua "$(head -c 256 /dev/zero | tr '\0' a)"; do
		run --separate-stderr as a lodger which "$word"
		exits 1
		says 'is not the name of a program'
	done
}

@test "the order: a pin, the store, the command's own name, the shorter, the alphabet" {
	# taken SED [PIN]: who is taken for lua, with another table.
	taken() {
		export FIRST PIN=${2-}
		FIRST=$(another_channel "$1")
		elsewhere 'eval "$FIRST"; as a env LODGER_PINS="$PIN" lodger which lua --json' |
			jq -r '.[0].attribute'
	}
	[ "$(taken '')" = lua ]
	# Both are absent: the name counts. One is: the store does.
	[ "$(taken "s|^\(lua\t[^\t]*\)\t[^\t]*|\1\t$ABSENT|; s|^\(lua5_4\t[^\t]*\)\t[^\t]*|\1\t$ABSENT|")" = lua ]
	[ "$(taken "s|^\(lua\t[^\t]*\)\t[^\t]*|\1\t$ABSENT|")" = lua5_4 ]
	[ "$(taken '' lua=lua5_4)" = lua5_4 ]
	[ "$(taken "s|^\(lua5_4\t[^\t]*\)\t[^\t]*|\1\t$ABSENT|" 'awk=gawk lua=lua5_4')" = lua5_4 ]
	[ "$(taken '' jq=lua5_4)" = lua ]
	# By name alone python3 is the shortest for python, then python39, then the other set's.
	[ "$(as a lodger which python --json | jq -r '.[].attribute' | awk '{ print length($1), $1 }')" = \
		"$(as a lodger which python --json | jq -r '.[].attribute' | awk '{ print length($1), $1 }' |
			LC_ALL=C sort -k 1,1n -k 2,2)" ]
	run --separate-stderr as a env LODGER_PINS=lua=jq lodger which lua
	exits 0
	says "'lua' is pinned to jq (LODGER_PINS), which does not have it"
	[[ $output != *'* '* ]]
}

@test "both need no privilege and no group" {
	run --separate-stderr as c lodger packages
	succeeds
	[ "$output" = "$(as a lodger packages)" ]
	run --separate-stderr as c lodger which lua
	succeeds
}

@test "a session says the same of the same channel" {
	create a
	local words
	for words in packages 'packages --json' 'packages --cached sym' 'which lua' 'which --json python'; do
		# shellcheck disable=SC2086  # words
		run --separate-stderr as a lodger exec "$SESSION" -- lodger $words
		succeeds
		# shellcheck disable=SC2086  # words
		[ "$output" = "$(as a lodger $words)" ]
	done
	run --separate-stderr as a lodger exec "$SESSION" -- lodger which no-such-command
	exits 1
}

@test "without a channel both say so, and what to do" {
	mkdir "$BATS_TEST_TMPDIR/empty"
	local words
	for words in packages 'which lua'; do
		export WORDS=$words
		run --separate-stderr elsewhere 'mount --bind "$T/empty" /var/lib/lodger; as a lodger $WORDS'
		fails 'there is no channel: /var/lib/lodger/channel does not lead to a package set' lodger-channel
	done
	create a
	run --separate-stderr as a lodger exec --env NIX_PATH=/x "$SESSION" -- lodger packages
	fails 'there is no channel: NIX_PATH does not say nixpkgs='
	run --separate-stderr as a lodger exec --env NIX_PATH=nixpkgs="$(tree jq)" "$SESSION" -- lodger packages
	fails "reading the channel's packages: $(tree jq)/packages.tsv: No such file"
	# Another channel of the session's own choice is as good.
	run --separate-stderr as a lodger exec --env NIX_PATH=x=/y:nixpkgs="$CHANNEL":z "$SESSION" -- lodger which lua
	succeeds
}

@test "a channel without an index says who can make it anew" {
	: >"$BATS_TEST_TMPDIR/nothing"
	chmod 644 "$BATS_TEST_TMPDIR/nothing"
	export CHANNEL
	run --separate-stderr elsewhere 'mount --bind "$T/nothing" "$CHANNEL/programs.sqlite"; as a lodger which lua'
	exits 125
	says "looking for 'lua' in $CHANNEL/programs.sqlite: "
	run --separate-stderr elsewhere 'mount --bind "$T/nothing" "$CHANNEL/programs.sqlite"; as a lodger packages jq'
	succeeds
}

@test "an installation without lodger-packages says what is missing" {
	[ -z "${CLIENT_DIRECTORY-}" ] || skip 'only the installed client has a program of its own for this'
	mkdir "$BATS_TEST_TMPDIR/empty"
	run --separate-stderr elsewhere 'mount --bind "$T/empty" /usr/local/libexec/lodger; as a lodger packages'
	fails 'packages: starting /usr/local/libexec/lodger/lodger-packages: No such file or directory' \
		'install Lodger again'
}

@test "command on the host is refused, and says what there is instead" {
	refuses 'command: programs are had on demand in sessions alone' command lua -v
	says 'lodger which' 'lodger run -p'
}
