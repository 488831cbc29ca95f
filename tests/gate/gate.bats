# lodger-gate between real nix clients, or none, and a real nix-daemon (gate.bash says where). Needs
# root, and no installed Lodger. What shows that something does not happen has a control beside it, in
# which the same happens past the gate.

bats_require_minimum_version 1.5.0

setup_file() {
	[ "$EUID" = 0 ] || {
		echo "must run as root" >&2
		return 1
	}
	. "$BATS_TEST_DIRNAME/gate.bash"
	make -s -C "$BATS_TEST_DIRNAME/../.." build/lodger-gate
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR/file"
	mkdir "$W"
	# shellcheck disable=SC2016  # for the other shell
	# All that runs in it ends with its first process, which is the one child of unshare's.
	BATS_TEST_DIRNAME=$BATS_TEST_DIRNAME BATS_FILE_TMPDIR=$BATS_FILE_TMPDIR PATIENCE=${PATIENCE-} \
		unshare --mount --net --pid --fork --kill-child --mount-proc bash -c '. "$BATS_TEST_DIRNAME/gate.bash"; set -e; namespace_make
		: >"$W/ready"; sleep infinity & wait' >"$W/namespace.log" 2>&1 3>&- &
	echo $! >"$W/unshare"
	until_true 20 test -e "$W/ready" || {
		cat "$W/namespace.log"
		return 1
	}
	pgrep -P "$(cat "$W/unshare")" >"$W/namespace"
}

teardown_file() {
	. "$BATS_TEST_DIRNAME/gate.bash"
	kill -9 "$(cat "$W/namespace")"
}

setup() {
	. "$BATS_TEST_DIRNAME/gate.bash"
	# A session of its own for each test.
	# shellcheck disable=SC2034  # for inside
	N=$((1000 + BATS_TEST_NUMBER * 10))
	chmod 755 "$BATS_TEST_TMPDIR"
}

# ends STATUS SCRIPT, works SCRIPT, fails SCRIPT: runs it inside, and fails, showing what it said, if
# it ends in another way; anyway SCRIPT: in whatever way.
ends() {
	run inside "$2"
	exits "$1"
}

works() {
	ends 0 "$1"
}

fails() {
	run inside "$1"
	[ "$status" != 0 ] || {
		printf 'status 0\noutput: %s\n' "$output"
		return 1
	}
}

anyway() {
	run inside "$1"
}

# counts NUMBER PATTERN: so many lines of $output match.
counts() {
	[ "$(grep -c "$2" <<<"$output")" = "$1" ] || {
		printf 'not %s of: %s\noutput: %s\n' "$1" "$2" "$output"
		return 1
	}
}

@test "evaluation and nix-instantiate work, and again" {
	works 'lodger nix-instantiate --eval -E "1 + 1"'
	says 2
	works 'x=$(expression eval); lodger nix-instantiate "$x" && lodger nix-instantiate "$x"'
	says -eval.drv
	works 'lodger nix-instantiate --eval --read-write-mode -E "builtins.readFile (builtins.toFile \"a\" \"text\")"'
	says text
	works 'echo hello >"$W/files/hello"; lodger nix-store --add "$W/files/hello"'
	says -hello
	works 'lodger nix-store --query --references "$(lodger nix-store --add "$W/files/hello")"'
}

@test "nix-build gives what is there, with a link that is no garbage collector root" {
	works 'x=$(expression there); around nix-build --no-out-link "$x"; lodger nix-build "$x"; lodger cat result'
	says -there "$(printf '\nthere')"
	inside '! readlink /nix/var/nix/gcroots/auto/* | grep "/home/$N/"'
	# The control: past the gate it is one.
	inside 'around nix-build "$W/files/there.nix"; readlink /nix/var/nix/gcroots/auto/* | grep "/home/60000/result"'
}

@test "nix build and nix-shell use what is there" {
	works 'x=$(expression new); around nix-build --no-out-link "$x"
		lodger nix --extra-experimental-features nix-command build -f "$x" && lodger cat result'
	says new
	works 'cat >"$W/files/shell.nix" <<-END
			{ ... }: let top = { pkgs = top; bashInteractive = "/"; stdenv = builtins.toFile "stdenv" "";
			  runCommandCC = name: attributes: text: derivation (attributes // {
			    inherit name; system = builtins.currentSystem; builder = "/bin/sh";
			    stdenv = derivation { name = "stdenv"; system = builtins.currentSystem; builder = "/bin/sh";
			      args = [ "-c" "/bin/mkdir \$out; echo : >\$out/setup" ]; }; });
			  tool = derivation { name = "tool"; system = builtins.currentSystem; builder = "/bin/sh"; args = [ "-c" "echo tool >\$out" ]; };
			}; in top
		END
		around nix-build --no-out-link "$W/files/shell.nix" -A tool
		around nix-build --no-out-link -E "((import $W/files/shell.nix {}).runCommandCC \"x\" {} \"\").stdenv"
		NIX_BUILD_SHELL=/bin/bash
		lodger env NIX_BUILD_SHELL=/bin/bash NIX_PATH=nixpkgs="$W/files/shell.nix" nix-shell -p tool --run "cat \$buildInputs"'
	says tool
}

@test "no build: of a derivation, of its import, again, to repair; with a control" {
	fails 'lodger nix-build --no-out-link "$(expression fresh)"'
	says "lodger: building /nix/store/" "-fresh.drv is refused" "neither the channel"
	inside '[ ! -e "$(out "$W/files/fresh.nix")" ]'
	fails 'lodger nix --extra-experimental-features nix-command build -f "$W/files/fresh.nix"'
	says "lodger: building /nix/store/"
	fails 'lodger nix-instantiate --eval --read-write-mode -E "builtins.readFile (import $W/files/fresh.nix)"'
	says "lodger: building /nix/store/"
	# The control, and then what may not be done with what is there.
	inside 'around nix-build --no-out-link "$W/files/fresh.nix"; [ -e "$(out "$W/files/fresh.nix")" ]'
	works 'lodger nix-instantiate --eval --read-write-mode -E "builtins.readFile (import $W/files/fresh.nix)"'
	fails 'lodger nix-build --no-out-link --check "$W/files/fresh.nix"'
	says "lodger: building again"
	fails 'lodger nix-build --no-out-link --repair "$W/files/fresh.nix"'
	says "lodger: "
	works 'grep -c "refused" "$W/gate/log"'
}

@test "nothing is fetched: a listener hears nothing, and past the gate it does" {
	anyway 'listen; trap "kill $LISTENER" EXIT
		fetch_expression secret >"$W/files/fetch.nix"
		lodger nix-build --no-out-link "$W/files/fetch.nix" || true
		lodger nix --extra-experimental-features nix-command build -f "$W/files/fetch.nix" || true
		[ ! -s "$T/heard" ] || exit 1
		around nix-build --no-out-link "$W/files/fetch.nix" >/dev/null 2>&1 || true
		grep -q "GET /secret" "$T/heard" || exit 1
		echo as it should be'
	says "-secret.drv is refused" "fetched from elsewhere" "as it should be"
}

@test "a derivation whose file lies about where its result is gets nothing fetched, and past the gate it does" {
	anyway 'listen; trap "kill $LISTENER" EXIT
		there=$(expression valid); around nix-build --no-out-link "$there"
		fetch_expression lie >"$W/files/lie.nix"
		# Only in the list of outputs: the variable out must be right, and nothing else is looked at.
		true_path=$(out "$W/files/lie.nix"); false_path=$(out "$there")
		sed "s|\[(\"out\",\"$true_path\"|[(\"out\",\"$false_path\"|" "$(drv "$W/files/lie.nix")" >"$T/lie"
		no cmp -s "$T/lie" "$(drv "$W/files/lie.nix")"
		lie=$(raw add lie.drv text:sha256 <"$T/lie")
		raw build 0 "$lie!out" || true
		raw build 0 "$lie!*" || true
		raw op 46 "l:$lie!out" n:0 || true
		[ ! -s "$T/heard" ] || exit 1
		raw_around build 0 "$lie!out" || true
		grep -q "GET /lie" "$T/heard" || exit 1
		echo as it should be'
	says "-lie.drv is refused: its file says other things" "as it should be"
}

@test "what a trusted cache has is fetched from there, and no build takes its place" {
	works 'x=$(expression cached); around nix-build --no-out-link "$x" >/dev/null
		admin nix --extra-experimental-features nix-command copy --to "file://$W/cache?secret-key=$W/key" "$(out "$x")"
		admin nix-store --delete --ignore-liveness "$(out "$x")" >/dev/null; [ ! -e "$(out "$x")" ]
		lodger nix-build --no-out-link "$x"; cat "$(out "$x")"'
	says "$(printf '\ncached')"
	# Of two outputs, one is there.
	works 'x=$(expression two "echo 1 >\$out; echo 2 >\$dev" "\"out\" \"dev\""); d=$(drv "$x")
		admin nix-store --realise "$d" >/dev/null
		admin nix-store --delete --ignore-liveness "$(out "$x" dev)" >/dev/null
		raw build 0 "$d!out"; [ ! -e "$(out "$x" dev)" ] || exit 1
		no raw build 0 "$d!dev"; no raw build 0 "$d!*"; no raw build 0 "$d!dev,out"; no raw build 0 "$d!out" "$d!dev"
		[ ! -e "$(out "$x" dev)" ] || exit 1
		raw_around build 0 "$d!dev"; [ -e "$(out "$x" dev)" ] || exit 1
		raw build 0 "$d!*"'
}

@test "the channel's own derivations are built, and none whose path only looks like one" {
	works 'x=$(expression channels); y=$(expression other); mkdir "$T/lodger-channel"
		printf "%s\n" "$(drv "$x")" /nix/store/00000000000000000000000000000000-a.drv \
			/nix/store/zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz-z.drv "$(drv "$y")x" | LC_ALL=C sort >"$T/lodger-channel/closure"
		channel=$(admin nix-store --add "$T/lodger-channel")
		no lodger nix-build --no-out-link "$x" 2>/dev/null
		ln -s "$channel" "/nix/var/nix/gcroots/lodger/${channel##*/}"
		lodger nix-build --no-out-link "$x"
		no lodger nix-build --no-out-link "$y"
		rm "/nix/var/nix/gcroots/lodger/${channel##*/}"'
	says -channels "-other.drv is refused"
}

@test "requests to build that are odd are refused, and the connection goes on" {
	anyway 'x=$(expression odd); around nix-build --no-out-link "$x"; d=$(drv "$x")
		for wanted in "$d!" "$d!out," "$d!,out" "$d!out!out" "$d^out" "$d!no" "$d!*,out" "x!out" \
			"$(out "$x")!out" "/nix/store/../store/${d#/nix/store/}!out" "$d/!out" "$d!o ut"; do
			raw build 0 "$wanted" || true
		done
		raw build 2 "$d!out" || true; raw build 1 "$d!out" || true; raw build 9 "$d!out" || true'
	counts 15 '^error: lodger: building'
	works 'd=$(drv "$W/files/odd.nix"); raw build 0 "$d!out"; raw build 0 "$d!*"; raw build 0 "$d"; raw build 0'
	counts 4 '^ok 1'
}

@test "garbage collection, deleting, verifying and copying are refused in words; past the gate they work" {
	works 'x=$(lodger nix-store --add "$(expression keep)")
		lodger nix-store --gc && exit 1; lodger nix-store --delete "$x" && exit 1
		lodger nix-collect-garbage && exit 1; lodger nix-store --gc --print-roots && exit 1
		lodger nix-store --verify && exit 1; lodger nix-store --verify --check-contents --repair && exit 1
		lodger nix-store --optimise && exit 1
		lodger nix-store --query --referrers "$x" && exit 1
		lodger nix-store --add-fixed sha256 "$W/files/keep.nix" && exit 1
		[ -e "$x" ] || exit 1
		around nix-store --verify; around nix-store --optimise
		around nix-store --delete "$x"; [ ! -e "$x" ] || exit 1; echo as it should be'
	says "as it should be"
	counts 9 'error: lodger: .* is refused: '
	says "removing anything from the store is refused" "copying an object into the store is refused"
}

@test "an object that is too large is refused with the figure, and the next one is taken" {
	works 'head -c 3000000 /dev/zero >"$W/files/large"; head -c 300000000 /dev/zero >"$W/files/huge"
		lodger nix-store --add "$W/files/large" && exit 1; lodger nix-store --add "$W/files/huge" && exit 1
		no ls /nix/store/*-large; rm "$W/files/huge"
		lodger nix-store --add "$W/files/large" "$(expression small)" || lodger nix-store --add "$W/files/small.nix"
		around nix-store --add "$W/files/large"'
	says "larger than the 2M" -small.nix -large
	inside 'until_true 10 workers_are 0'
}

@test "what a session adds in all is limited, each session by itself, and what is there costs nothing" {
	works 'gate_start small --session 64K --item 32K; trap "gate_end small" EXIT; SOCKET=$W/small/socket
		for i in 1 2 3; do head -c 20000 /dev/urandom >"$W/files/part$i"; done
		lodger nix-store --add "$W/files/part1" || exit 1
		sleep 1.1
		for i in 1 2 3 4 5 6; do lodger nix-store --add "$W/files/part1" || exit 1; done
		lodger nix-store --add "$W/files/part2" || exit 1; lodger nix-store --add "$W/files/part3" || exit 1
		head -c 20000 /dev/urandom >"$W/files/part4"
		lodger nix-store --add "$W/files/part4" && exit 1
		N=$((N + 1)); lodger nix-store --add "$W/files/part4"'
	says "a session may add 64K in all" -part4
}

@test "a session that comes after another of its number starts at nothing" {
	works 'gate_start again --session 64K --item 64K; trap "gate_end again" EXIT; SOCKET=$W/again/socket
		mkdir -p "/run/lodger/sessions/$N"; echo 1 >"/run/lodger/sessions/$N/record"
		fill() { head -c 40000 /dev/urandom >"$W/files/fill"; lodger nix-store --add "$W/files/fill"; }
		fill || exit 1; fill && exit 1
		rm "/run/lodger/sessions/$N/record"; fill && exit 1
		echo 2 >"/run/lodger/sessions/$N/record"; fill || exit 1; fill && exit 1; echo as it should be'
	says "as it should be"
}

@test "settings are not passed on, and one line says which would have mattered" {
	works 'x=$(expression settings); around nix-build --no-out-link "$x"
		lodger nix-build --no-out-link --option substituters http://127.0.0.1:1/ --option sandbox-paths / \
			--option pre-build-hook /bin/false --option cores 3 "$x"'
	says "lodger: ignored settings: pre-build-hook, sandbox-paths, substituters; they are the administrator's"
	counts 1 'ignored settings'
	works 'lodger nix-build --no-out-link --option sandbox false --option cores 3 --option warn-dirty false "$W/files/settings.nix"'
	[[ $output != *"ignored settings"* ]]
	works 'z=n:0; raw op 19 $z $z $z n:3 $z $z $z $z $z $z $z $z n:2 s:substituters s:x "x:0300000000000000$(printf "a\nb" | hex)0000000000" s:y'
	says "ignored settings: substituters;" ok
}

@test "what is refused for whoever is no session: other users, root, the parser's uid, the uid behind the last" {
	for uid in 0 1000 $((0x6fffffff)) $((0x70000000)) $((0x70010000)); do
		fails "setpriv --reuid=$uid --regid=0 --clear-groups \"\$RAW\" \"\$W/gate/socket\" op 1 s:/x"
		says "lodger: only sessions are served here"
	done
	works 'session 65535 "$RAW" "$W/gate/socket" op 29 "s:00000000000000000000000000000000" | head -c 0; tail -8 "$W/gate/log"'
	says "uid 1000 refused connection"
}

@test "as many connections as a session may have, no more; others have theirs" {
	works 'mkfifo "$T/pipe"; raw hold 100 <"$T/pipe" >"$T/held" & exec 7>"$T/pipe"
		until_true 10 test -s "$T/held"; cat "$T/held"
		(N=$((N + 1)); raw hold 10 </dev/null)
		until_true 10 workers_are 16; lodger nix-store --add "$W/key.public" && exit 1
		exec 7>&-; wait; until_true 10 workers_are 0
		lodger nix-store --add "$W/key.public"'
	says "16 served" "10 served" "as many connections to the package daemon as it may have" -key.public
}

@test "100 sessions at once" {
	works 'for i in $(seq 100); do
			(session $((20000 + i)) nix-instantiate --eval --read-write-mode -E "builtins.readFile (builtins.toFile \"f$i\" \"answer$i\n\")" >"$T/$i" 2>&1) &
		done; wait $(jobs -p); cat "$T"/[0-9]* | grep answer | sort -u | wc -l; cat "$T"/[0-9]* | sort | grep -v answer[2-9]'
	[ "${lines[0]}" = 100 ] || {
		printf '%s\n' "$output"
		return 1
	}
	says answer1
	inside 'until_true 10 workers_are 0'
}

@test "a worker that is killed is one connection's loss; one whose client goes away ends" {
	works 'mkfifo "$T/pipe"; raw wait n:29 s:00000000000000000000000000000000 <"$T/pipe" >"$T/held" & exec 7>"$T/pipe"
		until_true 10 workers_are 1
		kill -9 "$(pgrep -P "$(cat "$W/gate/pid")")"; echo >&7; wait $! && exit 1; exec 7>&-
		cat "$T/held"; lodger nix-store --add "$W/key.public"; tail -3 "$W/gate/log"'
	says closed -key.public "has been ended by signal 9"
	works 'mkfifo "$T/pipe2"; session "$N" "$RAW" "$W/gate/socket" hold 3 <"$T/pipe2" >"$T/held2" & raw=$!
		exec 7>"$T/pipe2"; until_true 10 workers_are 3; kill -9 $raw; until_true 10 workers_are 0'
	# In the middle of a request, and while it waits for the daemon, which is stopped.
	works 'mkfifo "$T/pipe3"; session "$N" "$RAW" "$W/gate/socket" wait n:7 s:half z:4 <"$T/pipe3" >"$T/held3" & raw=$!
		exec 7>"$T/pipe3"; echo >&7; until_true 10 grep -q ready "$T/held3"; until_true 10 workers_are 1
		kill -9 $raw; until_true 10 workers_are 0'
	works 'until_true 10 no_child_of_daemon; mkfifo "$T/pipe4"
		session "$N" "$RAW" "$W/gate/socket" wait n:29 s:00000000000000000000000000000000 <"$T/pipe4" >"$T/held4" & raw=$!
		exec 7>"$T/pipe4"; until_true 10 grep -q ready "$T/held4"
		child=$(pgrep -P "$(cat "$W/daemon.pid")"); kill -STOP $child; echo >&7; sleep 0.5; workers_are 1
		kill -9 $raw; until_true 10 workers_are 0 || exit 1; kill -CONT $child'
}

@test "a worker has no privilege, a filter, limits, and no descriptor of another's" {
	works 'mkfifo "$T/pipe"; raw hold 1 <"$T/pipe" >"$T/held" & exec 7>"$T/pipe"; until_true 10 workers_are 1
		until_true 10 test -s "$T/held"; pid=$(pgrep -P "$(cat "$W/gate/pid")")
		cat "/proc/$pid/status" "/proc/$pid/limits"; ls "/proc/$pid/fd" | wc -l; exec 7>&-'
	says "NoNewPrivs:	1" "Seccomp:	2" "CapEff:	0000000000000000" "CapPrm:	0000000000000000"
	grep -q 'Max open files *16 ' <<<"$output"
	grep -q 'Max processes *0 ' <<<"$output"
	grep -qE 'Max address space *[0-9]{8,9} ' <<<"$output"
	[ "${lines[-1]}" = 6 ]
}

@test "the daemon restarted between two connections, within one, and absent" {
	works 'mkfifo "$T/pipe"; raw wait n:29 s:00000000000000000000000000000000 <"$T/pipe" >"$T/held" & waits=$!
		exec 7>"$T/pipe"; until_true 10 grep -q ready "$T/held"
		children=$(pgrep -P "$(cat "$W/daemon.pid")"); daemon_end; kill -9 $children
		lodger nix-store --add "$W/key.public" && exit 1
		daemon_start; lodger nix-store --add "$W/key.public"
		echo >&7; exec 7>&-; wait $waits || true; cat "$T/held"'
	says "the package daemon is not running" "systemctl status lodger-nix-daemon" -key.public \
		"the package daemon has "
}

@test "what is no protocol: bytes, half requests, lengths beyond belief" {
	works 'raw bytes ""; raw bytes 00; raw bytes "$(head -c 2000 /dev/urandom | hex)"; raw bytes 6378696e00000000 2601000000000000'
	fails 'raw op 1 n:9223372036854775807'
	says "error: lodger: IsValidPath is refused: "
	fails 'raw op 1 n:18446744073709551615 z:64'
	says "error: lodger: IsValidPath is refused: "
	fails 'raw op 31 n:1152921504606846976 z:64'
	says "error: lodger: QueryValidPaths is refused: a list in it is too long"
	fails 'raw op 31 n:65536 z:400000000'
	says "error: lodger: "
	fails 'raw op 7 s:name s:text:sha256 l: n:0 n:18446744073709551615 z:64'
	says "error: lodger: adding to the store is refused"
	fails 'raw op 1 n:1 x:2f00000000000001'
	says "error: lodger: IsValidPath is refused: it is not written as the protocol wants it"
	for number in 0 2 15 17 48 99 4294967297 18446744073709551615; do
		fails "raw op $number z:4000"
		says "error: lodger: operation $number is refused"
	done
	works 'lodger nix-store --add "$W/key.public"'
	says -key.public
}

@test "clients that are too old are told so, in their own way" {
	for minor in 10 11 14 20 25 26 33; do
		fails "raw old $minor"
		says "sessions need 1.34"
	done
	works 'raw old 34'
	says "version 1.34"
	works 'raw old 38'
	says "version 1.34"
}

@test "wrong names and ways of adding are refused; a repair is; the connection goes on" {
	anyway 'for name in ../x a/b . .. .-x "" "a b" "$(printf %0212d 0)"; do raw add "$name" text:sha256 </dev/null || true; done
		for method in text:sha1 fixed:md5 fixed:r:sha1 git:sha1 "" sha256 fixed:r:; do raw add name "$method" </dev/null || true; done
		raw add name text:sha256 1 </dev/null || true
		printf content | raw add name.txt text:sha256; printf content | raw add .hidden fixed:sha256'
	counts 16 '^error: lodger: '
	[ "$(grep -c '^/nix/store/' <<<"$output")" -ge 1 ]
}

@test "a connection cannot have the daemon keep paths without end" {
	works 'yes "" | head -n 16390 | raw wait n:11 s:/nix/store/00000000000000000000000000000000-x >"$T/out" || true
		sort "$T/out" | uniq -c'
	says "  16384 ok 1" "      6 error: lodger: keeping more than 16384 paths for one connection is refused"
}

@test "the log has at most 20 lines of a connection, and no control characters" {
	works 'mkfifo "$T/pipe"; raw wait n:20 n:0 l: n:0 n:0 n:0 n:0 n:0 <"$T/pipe" >"$T/held" & exec 7>"$T/pipe"
		for i in $(seq 40); do echo; done >&7; exec 7>&-; wait $! || true
		[ "$(grep -c "^error: lodger" "$T/held")" = 40 ]
		grep -c "lodger-$N refused CollectGarbage" "$W/gate/log"
		raw op 1 "x:0b00000000000000$(printf "a\n\033[31mroot" | hex)0000000000" || true
		grep -c "no more lines for this connection" "$W/gate/log"
		no grep -q "$(printf "\033")" "$W/gate/log"; no grep -q "^root" "$W/gate/log"'
	says 20
}

@test "wrong options, root, capabilities: refused with 125" {
	for options in "" "--listen" "--listen relative" "--item 0 --listen /x" "--item 1T --listen /x" "--session x --listen /x" \
		"--connections 0 --listen /x" "--connections 99999 --listen /x" "--no-such" "word" "--daemon x --listen /x"; do
		ends 125 "\"\${UNPRIVILEGED[@]}\" \"\$W/lodger-gate\" $options"
		says "lodger-gate: "
	done
	ends 125 '"$W/lodger-gate" --listen "$T/socket"'
	says "must not run as root"
	ends 125 'setpriv --reuid=$GATE_UID --clear-groups --inh-caps=+chown --ambient-caps=+chown "$W/lodger-gate" --listen "$T/socket"'
	says "must not run with capabilities"
	works '"${UNPRIVILEGED[@]}" "$W/lodger-gate" --help'
}

@test "SIGTERM ends it and its workers; a socket left over is replaced, another's is not" {
	works 'gate_start second; SOCKET=$W/second/socket; mkfifo "$T/pipe"; raw hold 3 <"$T/pipe" >"$T/held" & exec 7>"$T/pipe"
		until_true 10 workers_are 3 second; pids=$(pgrep -P "$(cat "$W/second/pid")")
		"${UNPRIVILEGED[@]}" "$W/lodger-gate" --listen "$W/second/socket" && exit 1
		gate_end second; for pid in $pids; do until_true 10 not_there "$pid"; done; [ ! -e "$W/second/socket" ]
		exec 7>&-
		gate_start second; kill -9 "$(cat "$W/second/pid")"; until_true 10 not_there "$(cat "$W/second/pid")"
		[ -S "$W/second/socket" ]; old=$(stat -c %i "$W/second/socket")
		gate_start second; until_true 10 lodger nix-store --add "$W/key.public"; stat -c %a "$W/second/socket"; gate_end second
		install -d -o "$GATE_UID" "$T/other"; perl -MIO::Socket::UNIX -e "IO::Socket::UNIX->new(Local => shift, Listen => 1) or die" "$T/other/socket"
		chmod 666 "$T/other/socket"
		"${UNPRIVILEGED[@]}" "$W/lodger-gate" --listen "$T/other/socket" && exit 1; touch "$T/other/file"
		"${UNPRIVILEGED[@]}" "$W/lodger-gate" --listen "$T/other/file" && exit 1; [ -e "$T/other/file" ] && [ -S "$T/other/socket" ]'
	says 666 "Address already in use"
}

@test "a socket of systemd's" {
	works 'install -d -o "$GATE_UID" "$T/systemd"
		"${UNPRIVILEGED[@]}" /usr/bin/python3 - "$T/systemd/socket" "$W" <<-"END" &
			import os, socket, sys
			path, w = sys.argv[1:]
			s = socket.socket(socket.AF_UNIX)
			s.bind(path)
			os.chmod(path, 0o666)
			s.listen(100)
			os.dup2(s.fileno(), 3)
			os.set_inheritable(3, True)
			os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
			os.execv(w + "/lodger-gate", ["lodger-gate", "--daemon", w + "/daemon/socket"])
		END
		gate=$!; until_true 10 test -S "$T/systemd/socket"; SOCKET=$T/systemd/socket
		until_true 10 lodger nix-store --add "$W/key.public"
		kill $gate; wait $gate; [ -S "$T/systemd/socket" ]'
	says -key.public
	ends 125 '"${UNPRIVILEGED[@]}" env LISTEN_FDS=1 LISTEN_PID=1 "$W/lodger-gate"'
	ends 125 '"${UNPRIVILEGED[@]}" env W="$W" sh -c "LISTEN_FDS=1 LISTEN_PID=\$\$ exec \"\$W/lodger-gate\" 3</dev/null"'
}

# Stands last.
@test "in none of this has the filter, or a fault, ended a worker" {
	works 'find "$W" -maxdepth 2 -name log -type f -exec cat {} +'
	says "refused BuildPaths"
	! grep -E "ended by signal (31|11|6|7|4|8|24|25)$" <<<"$output"
}
