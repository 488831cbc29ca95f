# Commands on demand: a command that a session does not have is had from the package that has it, from
# wherever it is called. `lua` is one that machines do not have themselves.
# shellcheck disable=SC2016,SC2030,SC2031,SC2089,SC2090,SC2154  # scripts for other shells; bats' own

load packages

SAID='lodger: lua is from lua'

setup() {
	local directory
	for directory in /usr/local/bin /usr/bin /bin /usr/local/games /usr/games; do
		[ ! -e "$directory/lua" ] || skip "this machine has a lua of its own"
	done
}

# has_it COMMAND…: fails unless that, run in a session of a's, prints 42 on standard output, and on
# standard error just the line that lua has been had.
has_it() {
	run --separate-stderr as a lodger run -- "$@"
	exits 0 && [ "$output" = 42 ] && [ "$stderr" = "$SAID" ] || {
		printf 'command: %s\noutput: %s\nstderr: %s\n' "$*" "$output" "$stderr"
		return 1
	}
}

@test "directly, from sh, bash, xargs, env, find and a script" {
	has_it lua -e 'print(6 * 7)'
	has_it sh -c 'lua -e "print(6 * 7)"'
	has_it sh -c 'exec lua -e "print(6 * 7)"'
	has_it bash -c 'x=$(lua -e "print(6 * 7)"); echo "$x"'
	has_it sh -c 'echo "print(6 * 7)" >x; echo x | xargs lua'
	has_it env A=1 lua -e 'print(6 * 7)'
	has_it find /etc/passwd -exec lua -e 'print(6 * 7)' ';'
	has_it bash -c 'printf "%s\n" "#!/usr/bin/env lua" "print(6 * 7)" >x; chmod +x x; ./x'
	has_it sh -c 'nohup lua -e "print(6 * 7)" 2>&1 | tail -1 >x; lua -e "print(6 * 7)"'
}

@test "from make, with and without a shell in between" {
	local make
	make=$(tree gnumake)/bin/make
	has_it bash -c "printf 'all:\n\t@lua -e \"print(6*7)\"\n' | $make -s -f -"
	has_it bash -c "printf 'all:\n\t@lua x\n' >makefile; echo 'print(6 * 7)' >x; $make -s"
}

@test "from python, which is had on demand too" {
	local python
	python=$(tree python3)/bin/python3
	has_it "$python" -c 'import subprocess; subprocess.run(["lua", "-e", "print(6 * 7)"], check=True)'
	has_it "$python" -c 'import os; os.execvp("lua", ["lua", "-e", "print(6 * 7)"])'
	has_it "$python" -c 'import shutil, subprocess
assert shutil.which("lua").endswith("/commands/lua")
subprocess.run("lua -e \"print(6 * 7)\"", shell=True, check=True)'
	# A python of the store finds its own files, though it was called by a link, and starts others.
	run --separate-stderr as a lodger run -- "$CHANNEL/commands/python" -c 'import os, subprocess, sys
print(sys.prefix == os.path.dirname(os.path.dirname(sys.executable)), sys.executable, flush=True)
subprocess.run(["lua", "-e", "print(6 * 7)"])'
	exits 0
	[ "${lines[0]}" = "True $(tree python3)/bin/python" ]
	[ "${lines[1]}" = 42 ]
	[ "$stderr" = $'lodger: python is from python3\n'"$SAID" ]
}

@test "in nix-shell -p, its --run, and one inside the other, but not with --pure" {
	run --separate-stderr as a lodger run -p jq -- lua -e 'print(6 * 7)'
	exits 0
	[ "$output" = 42 ]
	says "$SAID"
	has_it nix-shell -p jq --run "nix-shell -p gnumake --run \"lua -e 'print(6 * 7)'\""
	run --separate-stderr as a lodger shell -p jq <<<'lua -e "print(6 * 7)"'
	exits 0
	[ "$output" = 42 ]
	says "$SAID"
	run -127 --separate-stderr as a lodger run -- nix-shell --pure -p jq --run 'lua -v'
	# The shell's own package comes before.
	run --separate-stderr as a lodger run -p lua -- lua -e 'print(6 * 7)'
	succeeds
	[ "$output" = 42 ]
}

@test "in an interactive bash on a terminal, and in a login shell" {
	run as a timeout 300 script -qec 'lodger shell' /dev/null \
		< <(sleep 2; printf 'lua -e "print(6 * 7 * 1000)"\nno-such-command; echo status $?; exit 6\n'; sleep 3)
	exits 6
	output=${output//$'\r'/}
	says "$SAID"$'\n'42000 'no-such-command: command not found' 'status 127'
	[ -e /etc/profile.d/lodger.sh ]
	has_it bash -lc 'lua -e "print(6 * 7)"'
	has_it sh -lc 'lua -e "print(6 * 7)"'
}

@test "a name that no package has is bash's and sh's own to complain about" {
	run -127 --separate-stderr as a lodger run -- bash -c no-such-command
	[ "$stderr" = 'bash: line 1: no-such-command: command not found' ]
	run -127 --separate-stderr as a lodger run -- sh -c no-such-command
	[[ $stderr == sh:*no-such-command*'not found' ]]
	run -127 --separate-stderr as a lodger run -- no-such-command
	says 'starting the command: cannot execute "no-such-command": No such file'
}

@test "what a session has itself is not taken from a package" {
	run --separate-stderr as a lodger run -- bash -c 'ls -d /; type -P ls; type -P sed'
	succeeds
	[ "$output" = $'/\n/usr/bin/ls\n/usr/bin/sed' ]
	# The name is one of the index's all the same.
	[ -L "$CHANNEL/commands/ls" ]
}

@test "arguments, standard input, exit code and signals pass as they are" {
	local odd=$'a b\n\'"$HOME `id` \\ * \xff'
	run --separate-stderr as a lodger run -- lua -e 'for i = 1, #arg do io.write("<", arg[i], ">") end' \
		/dev/null "$odd" '' -- --help
	exits 0
	[ "$output" = "<$odd><><--><--help>" ]
	run --separate-stderr as a lodger run -- lua -e 'print(io.read("a"))' <<<input
	[ "${lines[0]}" = input ]
	run --separate-stderr as a lodger run -- lua -e 'os.exit(77)'
	exits 77
	run --separate-stderr as a lodger run -- bash -c 'lua -e "os.execute(\"kill -TERM \" .. io.open(\"/proc/self/stat\"):read(\"n\"))"'
	exits 143
	# One process: nothing stays in between.
	run --separate-stderr as a lodger run -- bash -c 'lua -e "io.read()" <&0 & sleep 2; ps -eo args; kill $!' \
		< <(sleep 4)
	[ "$(grep -c 'lua -e io.read' <<<"$output")" = 1 ]
}

@test "a program is started with the signals that its caller left it" {
	local script='for line in io.lines("/proc/self/status") do
		if line:match("^SigIgn") then print(line:match("%x+$")) end end'
	run --separate-stderr as a lodger run -- env SCRIPT="$script" sh -c 'lua -e "$SCRIPT"; lodger command lua -e "$SCRIPT"
		trap "" PIPE USR1; lua -e "$SCRIPT"; lodger command lua -e "$SCRIPT"'
	exits 0
	[ "$output" = $'0000000000000000\n0000000000000000\n0000000000001200\n0000000000001200' ]
}

@test "an empty environment, and another argv[0], are enough" {
	has_it env -i "$CHANNEL/commands/lua" -e 'print(6 * 7)'
	has_it env -i PATH="$CHANNEL/commands" lua -e 'print(6 * 7)'
	has_it bash -c 'exec -a something-else lua -e "print(6 * 7)"'
	has_it bash -c 'exec -a "" lua -e "print(6 * 7)"'
	has_it bash -c 'cd "$0/commands" && ./lua -e "print(6 * 7)"' "$CHANNEL"
	has_it lodger command lua -e 'print(6 * 7)'
	has_it bash -c 'lua -e "print(6 * 7)"; exec 2>&-; lua -v >/dev/null'
}

# off OPTION… -- COMMAND…: fails unless `lodger OPTION… -- COMMAND…` ends with 127, nothing on standard
# output, and the names of the packages.
off() {
	run -127 --separate-stderr as a lodger "$@"
	[ -z "$output" ] &&
		says "'lua' is not found, and not to be had on demand (LODGER_AUTO=0); packages that have it: lua; nix-shell -p lua gets it"
}

@test "--no-auto names the packages and runs nothing, with exit code 127" {
	off run --no-auto -- lua -v
	off run --no-auto -- sh -c 'lua -v'
	off run --no-auto -- bash -c 'lua -v'
	off run --no-auto -- "$(tree python3)/bin/python3" -c 'import subprocess, sys; sys.exit(subprocess.run(["lua", "-v"]).returncode)'
	off run --no-auto -- lodger command lua
	off run --no-auto -p jq -- lua -v
	run --separate-stderr as a lodger run --no-auto -p lua -- lua -e 'print(6 * 7)'
	succeeds
	run -127 --separate-stderr as a lodger shell --no-auto <<<'lua -v'
	says 'packages that have it: lua'
	create a
	off exec --no-auto "$SESSION" -- lua -v
	run --separate-stderr as a lodger exec "$SESSION" -- lua -e 'print(6 * 7)'
	exits 0
	[ "$stderr" = "$SAID" ]
}

@test "create --no-auto counts for all of the session's jobs" {
	create a --no-auto
	off exec "$SESSION" -- lua -v
	off exec "$SESSION" -- sh -c 'lua -v'
	run -127 --separate-stderr as a lodger shell "$SESSION" <<<'lua -v'
	# It is a setting, not a boundary.
	run --separate-stderr as a lodger exec --env LODGER_AUTO=1 "$SESSION" -- lua -e 'print(6 * 7)'
	exits 0
	[ "$output" = 42 ]
	# Other sessions are without it.
	has_it lua -e 'print(6 * 7)'
}

@test "the policy can have it off, for all or for a group" {
	local group
	policy 'auto no'
	off run -- lua -v
	create a
	off exec "$SESSION" -- lua -v
	policy 'auto yes'
	has_it lua -e 'print(6 * 7)'
	group=$(id -g "$USERS-a")
	policy "group $((group + 100000)) auto no"
	has_it lua -e 'print(6 * 7)'
	policy "group $group auto no"
	off run -- lua -v
	run --separate-stderr as b lodger run -- lua -e 'print(6 * 7)'
	exits 0
	policy 'auto maybe'
	run --separate-stderr as a lodger run -- true
	fails 'not a line of a policy'
}

@test "a pin decides, and one to a package that does not have the command is an error" {
	run --separate-stderr as a lodger run --env LODGER_PINS='jq=jq lua=lua5_4' -- lua -e 'print(6 * 7)'
	exits 0
	[ "$output" = 42 ]
	[ "$stderr" = 'lodger: lua is from lua5_4' ]
	run -127 --separate-stderr as a lodger run --env LODGER_PINS=lua=jq -- lua -v
	[ -z "$output" ]
	says "'lua' is pinned to jq (LODGER_PINS), which does not have it; lodger which"
	run -127 --separate-stderr as a lodger run --env "LODGER_PINS=lua=;x \$(id) lua=../../x" -- lua -v
	says "'lua' is pinned to ../../x"
}

@test "others that have it are named, each tree once" {
	export FIRST
	# Another tree with a bin/lua is not there; for the line, another path is enough.
	FIRST=$(another_channel "s|^\(lua5_4\t[^\t]*\)\t[^\t]*|\1\t$ABSENT|")
	run --separate-stderr elsewhere 'eval "$FIRST"; as a lodger run -- lua -e "print(6 * 7)"'
	exits 0
	[ "$output" = 42 ]
	[ "$stderr" = 'lodger: lua is from lua (also in: lua5_4)' ]
	# All names of python are of one tree.
	run --separate-stderr as a lodger run -- "$CHANNEL/commands/python" -c ''
	[ "$stderr" = 'lodger: python is from python3' ]
}

@test "what cannot be fetched says why, with exit code 125" {
	export FIRST
	FIRST=$(another_channel "s|^\(lua[^\t]*\t[^\t]*\)\t[^\t]*|\1\t$ABSENT|; s|\t[0-9]*$|\t2097152|")
	run --separate-stderr elsewhere 'eval "$FIRST"; as a lodger run -- lua -v'
	exits 125
	[ -z "$output" ]
	says 'lodger: lua is from lua, to be fetched (2M)' 'lodger: nix-store: ' "$ABSENT" \
		"lodger: getting lua: nix-store could not get $ABSENT"
}

# A tree in the place of lua's, whose program is SCRIPT.
other_lua() {
	mkdir -p "$BATS_TEST_TMPDIR/tree/bin"
	printf '#!/bin/sh\n%s\n' "$1" >"$BATS_TEST_TMPDIR/tree/bin/lua"
	chmod -R 755 "$BATS_TEST_TMPDIR/tree"
	FIRST="mount --bind \"\$T/tree\" $(tree lua)"
	export FIRST
}

@test "a program that calls itself by its name comes to an end" {
	local script
	for script in 'exec lua "$@"' 'lua "$@"' 'exec lodger command lua "$@"'; do
		other_lua "$script"
		run --separate-stderr elsewhere 'eval "$FIRST"; as a timeout 300 lodger run --pids 200 -- lua'
		exits 126
		says "'lua' is not run: 50 programs had on demand run one inside the other"
	done
}

@test "a program that cannot be executed is 126, and one that is not there 127" {
	other_lua 'exit 3'
	run --separate-stderr elsewhere 'eval "$FIRST"; as a lodger run -- lua'
	exits 3
	chmod 644 "$BATS_TEST_TMPDIR/tree/bin/lua"
	run --separate-stderr elsewhere 'eval "$FIRST"; as a lodger run -- lua'
	exits 126
	says "starting $(tree lua)/bin/lua: Permission denied"
	rm "$BATS_TEST_TMPDIR/tree/bin/lua"
	run -127 --separate-stderr elsewhere 'eval "$FIRST"; as a lodger run -- lua'
	says "starting $(tree lua)/bin/lua: No such file"
}

@test "a package that needs more than PATH is had with what it propagates" {
	# Its program is in a tree that propagates python, as python's modules do.
	other_lua 'echo "$HOME|$1|$2"; type python3; exit 9'
	mkdir "$BATS_TEST_TMPDIR/tree/nix-support"
	tree python3 >"$BATS_TEST_TMPDIR/tree/nix-support/propagated-build-inputs"
	run --separate-stderr elsewhere "$FIRST"'; as a lodger run -- lua "a '"'"'b" "\$(id)"'
	exits 9
	[[ ${lines[0]} == /home/lodger-*"|a 'b|\$(id)" ]]
	[ "${lines[1]}" = "python3 is $(tree python3)/bin/python3" ]
}

@test "odd names are looked up as they are, and found only where they are" {
	local word
	create a
	for word in '' . .. / a/b ../lua /bin/sh "$CHANNEL/commands/lua" "$(head -c 300 /dev/zero | tr '\0' x)"; do
		run -127 --separate-stderr as a lodger exec "$SESSION" -- lodger command "$word" -v
		[ -z "$output" ]
		says 'is not the name of a program'
	done
	for word in 'lua ' ' lua' "lua'" 'lua"' 'l*a' 'LUA' $'lua\n' $'\e[31mlua' $'\xff' "x' or name = 'lua" -- '$(id)' 'lua;id'; do
		run -127 --separate-stderr as a lodger exec "$SESSION" -- lodger command -- "$word" -v
		[[ -z $output && $stderr != *$'\e'* ]]
		says 'is not found, and no package of the channel has it'
		# And called by a link of that name, which anybody can make.
		run -127 --separate-stderr as a lodger exec "$SESSION" -- \
			sh -c 'ln -s /usr/local/libexec/lodger/lodger-packages "./$1" && "./$1" -v' - "$word"
		[[ -z $output && $stderr != *$'\e'* ]]
		says 'is not found, and no package of the channel has it'
	done
}

@test "every link leads to a program, which a session can execute" {
	# Not at once those of a hundred megabytes; each kind once.
	local name
	for name in lua luac python3 gcc make ls awk '['; do
		run --separate-stderr as a lodger run -- "$CHANNEL/commands/$name" --version
		[ "$status" != 126 ]
		[ "$status" != 127 ]
		[[ $stderr == "lodger: $name is from "* ]]
	done
}
