# lodger run: its options, and what is left of its session, which is nothing. What a command's
# streams and exit codes do is in ../session/streams.bats.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # scripts for other shells; bats' own

load cli

@test "run gives its session the limits that are asked for" {
	run --separate-stderr as a lodger run --memory 100M --pids 20 --cpu 50 --disk 10M \
		--inodes 1000 --ttl 10m --net none -- sh -c 'echo $LODGER_SESSION; exec sleep 1'
	succeeds
	run --separate-stderr as a bash -c 'coproc lodger run --memory 100M --pids 20 --cpu 50 \
			--disk 10M --inodes 1000 --ttl 10m -- sh -c "echo \$LODGER_SESSION; read line"
		read -r -u "${COPROC[0]}" session
		lodger show "$session" --json
		echo >&"${COPROC[1]}"
		wait "$COPROC_PID"'
	succeeds
	jq -e '.limits == {memory: 104857600, pids: 20, cpu: 50, disk: 10485760, inodes: 1000, ttl: 600}
		and .tied and .jobs == 1 and .state == "live"' <<<"$output"
	[ "$(sessions)" = 0 ]
}

@test "run refuses what create refuses, in its words, and runs nothing" {
	refuses "--memory: 'x' is not a size" run --memory x echo ran
	refuses 'creating a session: pids of 257 asked for' run --pids 257 echo ran
	refuses "the policy does not allow you the host's network" run --net host echo ran
	refuses "--net: 'x' is neither none nor host" run --net x echo ran
	refuses "--ttl: '0' is too small" run --ttl 0 echo ran
}

@test "--env sets variables, the last one counts, and the caller's own stay outside" {
	run --separate-stderr as a env SECRET=1 FOO=caller lodger run --env FOO=bar --env EMPTY= \
		--env 'TWO=a b=c' --env FOO=$'last\n$HOME' --env _1=x -- \
		sh -c 'echo "$FOO-${EMPTY-unset}-$TWO-$_1-${SECRET-unset}"'
	succeeds
	[ "$output" = $'last\n$HOME--a b=c-x-unset' ]
	run --separate-stderr as a lodger run --env HOME=/tmp --env LANG=C -- sh -c 'echo $HOME $LANG'
	[ "$output" = '/tmp C' ]
}

@test "--env refuses what is no variable" {
	local word
	for word in '' = =x NAME 1A=x 'A B=x' A-B=x 'A[0]=x' ' A=x' 'BASH_FUNC_ls%%=() { :; }' 'é=x'; do
		run --separate-stderr as a lodger run --env "$word" -- echo ran
		fails "--env: '" 'is not NAME=VALUE, with a name of letters, digits and underscores'
		[[ $word == é* || $stderr == *"'$word'"* ]]
	done
}

@test "--dir starts elsewhere, from the session's home when it is relative" {
	run --separate-stderr as a lodger run --dir /usr/bin -- pwd
	succeeds
	[ "$output" = /usr/bin ]
	run --separate-stderr as a lodger run --dir . -- sh -c '[ "$PWD" = "$HOME" ]'
	succeeds
	refuses "--dir: the directory's name is empty" run --dir '' true
	refuses 'cannot enter the directory "/no/such": No such file or directory' run --dir /no/such true
	refuses 'cannot enter the directory "/etc/passwd": Not a directory' run --dir /etc/passwd true
	refuses 'cannot enter the directory "sub": No such file' run --dir sub true
	refuses 'cannot enter the directory "/a?b"' run --dir $'/a\eb' true
	[ "$(sessions)" = 0 ]
}

@test "--timeout ends the command and the session, with exit code 124" {
	run --separate-stderr as a lodger run --timeout 1s -- sh -c 'echo out; trap "" TERM; sleep 88011'
	exits 124
	[ "$output" = out ]
	[ "$(sessions)" = 0 ]
	run --separate-stderr as a lodger run --timeout 20 -- echo in time
	succeeds
	[ "$output" = 'in time' ]
}

@test "--timeout refuses what is no time" {
	local word
	for word in '' 0 0s -1 1.5 1w 5S 1h30m 3651d 99999999999999999999; do
		refuses "--timeout: '$word' is " run --timeout "$word" echo ran
	done
	refuses 'a time is at least 1s and at most 3650d' run --timeout 0 echo ran
	run as a lodger run --timeout 3650d -- echo ran
	exits 0
}

@test "--usage tells at the end what was used, on standard error, whatever the command did" {
	local figures='used: CPU time [0-9]+\.[0-9]{3}s, wall time [0-9]+\.[0-9]{3}s, '
	figures+='peak memory [0-9.]+[KMG]?, peak processes [0-9]+'
	run --separate-stderr as a lodger run --usage -- sh -c 'sleep 0.3; echo out'
	exits 0
	[ "$output" = out ]
	[[ $stderr =~ ^lodger:\ lodger-[0-9]+\ $figures ]]
	[[ $stderr =~ 'wall time 0.'[3-9] ]]
	run --separate-stderr as a lodger run --usage -- sh -c 'exit 9'
	exits 9
	[[ $stderr =~ $figures ]]
	run -127 --separate-stderr as a lodger run --usage -- no-such-command
	[[ $stderr =~ $figures ]]
	says 'no-such-command'
	run --separate-stderr as a lodger run -- true
	succeeds
}

@test "a command that was killed for the memory limit is explained" {
	run --separate-stderr as a lodger run --memory 16M -- sh -c 'exec tail /dev/zero'
	exits 137
	[[ $stderr =~ ^lodger:\ lodger-[0-9]+\ has\ been\ at\ its\ memory\ limit ]]
	says '--memory gives a session more'
	run --separate-stderr as a lodger run -- sh -c 'kill -KILL $$'
	exits 137
	[ -z "$stderr" ]
}

@test "-t gives a terminal of the session's own, named as the caller's or dumb" {
	local program='tty; echo "$TERM"; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all'
	run --separate-stderr as a env TERM=screen-256color lodger run -t -- sh -c "$program" </dev/null
	succeeds
	[ "$(tr -d '\r' <<<"$output")" = $'/dev/pts/0\nscreen-256color\nall' ]
	run --separate-stderr as a env -u TERM lodger run --terminal -- sh -c 'echo $TERM' </dev/null
	[ "${output//$'\r'/}" = dumb ]
	local name
	for name in '' 'a b' $'x\e[c' '../../etc' 'x;y' "$(head -c 65 /dev/zero | tr '\0' x)"; do
		run --separate-stderr as a env TERM="$name" lodger run -t -- sh -c 'echo $TERM' </dev/null
		[ "${output//$'\r'/}" = dumb ]
	done
	run --separate-stderr as a lodger run -t -- sh -c 'exit 7' </dev/null
	exits 7
	run -127 --separate-stderr as a lodger run -t -- no-such-command </dev/null
	says 'no-such-command'
	# Without -t, none, and no TERM.
	run as a env TERM=xterm lodger run -- sh -c 'tty; echo ${TERM-unset}' </dev/null
	[ "$output" = $'not a tty\nunset' ]
}

@test "-p has packages, beside the words of the command as they are" {
	run --separate-stderr as a lodger run -p jq -- jq -n 6*7
	exits 0
	[ "$output" = 42 ]
	run --separate-stderr as a lodger run -p jq --package lua -- sh -c 'jq --version; lua -v'
	exits 0
	says jq-1 'Lua 5'
	local odd=$'a b\n\'"$HOME `id` \\ * ; exit 3'
	run --separate-stderr as a lodger run -p jq -- printf '<%s>' "$odd" '' -- '!x' --run
	exits 0
	[ "$output" = "<$odd><><--><!x><--run>" ]
	run --separate-stderr as a lodger run -p jq -- sh -c 'exit 9'
	exits 9
	run --separate-stderr as a lodger run -p python3Packages.mpmath -- python3 -c 'import mpmath'
	exits 0
}

@test "-p of a package that there is not fails, by its name, and says what is near" {
	refuses "-p: the channel has no package 'no-such-package', nor one with a name like it; lodger packages" \
		run -p no-such-package -- echo ran
	refuses "-p: the channel has no package 'sympy'; it has python3" run -p sympy -- echo ran
	says python3Packages.sympy
	refuses "no package 'JQ'; it has jq; lodger packages lists all" run -p jq -p JQ -- echo ran
	refuses "no package 'lu'; it has lua, lua5_4; " shell -p lu
	create a
	refuses "no package 'x.jq'; it has jq; " exec -p x.jq "$SESSION" echo ran
}

# Each is either Nix code, an option of nix-shell, a path, an address, or nonsense.
@test "-p takes the name of an attribute, and no piece of Nix code" {
	local word before
	before=$(as a bash -c 'ls -A')
	# shellcheck disable=SC1003,SC2088  # as they are
	for word in '' . .. jq. .jq jq..lua 1password 'jq lua' 'jq;lua' '(jq)' 'jq) (lua' '[jq]' '{}' \
		'import ./x' './default.nix' /etc/passwd '../x' '<nixpkgs>' '${jq}' '"jq"' "'jq'" \
		'builtins.exec ["touch" "x"]' '(builtins.trace "x" jq)' '(import (fetchTarball http://x/))' \
		'with pkgs; jq' 'let x = jq; in x' 'jq # ' 'jq/**/' $'jq\n' $'jq\nlua' $'\tjq' 'jq ' ' jq' \
		--run -E --expr -I '--option' '-p' 'nixpkgs#jq' 'https://x/y' 'jq:lua' 'a=b' 'jq\' '~/x' \
		'jq.override{}' 'jq or lua' 'jq@1' 'a+b' 'jq,lua' '$(id)' '`id`' 'jq|lua' 'é' 'jq.1' 'jq.-x' \
		'jq.""' "jq.'x" '!jq' '?jq' 'jq*' '@jq' 'x: x' 'jq.drvPath+""'; do
		run --separate-stderr as a lodger run "-p$word" -- echo ran
		[ -n "$word" ] || run --separate-stderr as a lodger run -p '' -- echo ran
		fails 'is not the name of a package; write an attribute of nixpkgs, as jq or' || {
			printf 'package: %q\n' "$word"
			return 1
		}
	done
	refuses "'$(head -c 257 /dev/zero | tr '\0' a)' is not the name" run \
		-p "$(head -c 257 /dev/zero | tr '\0' a)" echo ran
	# All are looked at, whatever their order.
	refuses "'(lua)' is not the name of a package" run -p jq -p '(lua)' echo ran
	[ "$(as a bash -c 'ls -A')" = "$before" ]
	[ "$(sessions)" = 0 ]
}

@test "words that Nix knows as more than names do no more than fail" {
	local word
	for word in builtins pkgs import rec assert throw abort derivation; do
		refuses "-p: the channel has no package '$word'" run -p "$word" -- echo ran
	done
}

@test "-p without a package set says who can make one" {
	mkdir "$BATS_TEST_TMPDIR/empty"
	ln -s /etc/passwd "$BATS_TEST_TMPDIR/empty/channel"
	run --separate-stderr elsewhere 'mount --bind "$T/empty" /var/lib/lodger
		as a lodger run -p jq -- echo ran'
	fails '-p: /var/lib/lodger/channel does not lead to a package set' 'lodger-channel'
	rm "$BATS_TEST_TMPDIR/empty/channel"
	run --separate-stderr elsewhere 'mount --bind "$T/empty" /var/lib/lodger
		as a lodger run -p jq -- echo ran'
	fails '-p: /var/lib/lodger/channel does not lead to a package set' 'lodger-channel'
	# What needs none works without it.
	run --separate-stderr elsewhere 'mount --bind "$T/empty" /var/lib/lodger
		as a lodger run -- sh -c "echo \${NIX_PATH-unset}"'
	succeeds
	[ "$output" = unset ]
}

@test "the package set is in NIX_PATH, unless the caller says otherwise" {
	run --separate-stderr as a lodger run -- sh -c 'echo $NIX_PATH'
	succeeds
	[ "$output" = "nixpkgs=$(readlink /var/lib/lodger/channel)" ]
	run --separate-stderr as a lodger run --env NIX_PATH=x=/y -- sh -c 'echo $NIX_PATH'
	[ "$output" = x=/y ]
}
