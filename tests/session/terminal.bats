# Terminals: what a session gets is one of its own, works like one, and gives the caller's back as
# it was. Nothing inside reaches the caller's.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell

load ../lib/lodger

setup() {
	create a
	S=$SESSION
	host_probe injection
}

# on_terminal a|b <<SCRIPT: an expect script against a shell of that user's on a host terminal, whose
# variable S names the session (lib/terminal.exp).
on_terminal() {
	cat >"$BATS_TEST_TMPDIR/script.exp"
	as_expect "$1" "$BATS_TEST_TMPDIR/script.exp"
}

as_expect() {
	(
		cd "/home/$USERS-$1" || exit 99
		export S
		exec expect -f "$TESTS/lib/terminal.exp" "$2" \
			setpriv --reuid="$USERS-$1" --regid="$USERS-$1" --init-groups --reset-env \
			env PS1='host> ' TERM=xterm S="$S" \
			PATH="${CLIENT_DIRECTORY:+$CLIENT_DIRECTORY:}/usr/local/bin:/usr/bin:/bin" \
			bash --norc --noprofile 3>&- 4>&-
	)
}

@test "typing into the terminal from inside fails, by every known call" {
	probe a "$S" injection
	run on_terminal a <<-'END'
		do_want {lodger exec -t $S -- ./injection} {TIOCSTI-high-bit}
		type {lodger shell $S}
		do {./injection}
		leave
	END
	exits 0
	output=$(tr '\r' '\n' <<<"$output")
	local call
	for call in TIOCSTI TIOCSTI-high-bit TIOCSTI-all-high-bits TIOCLINUX-paste TIOCLINUX-high-bit TIOCSETD; do
		[ "$(grep -cE "^$call E(PERM|ACCES|IO|INVAL|NOTTY)" <<<"$output")" = 2 ]
	done
	[[ $output != *'##'* ]]
	# Not only because this kernel would refuse it anyway.
	grep -E '^TIOCSTI E(PERM|ACCES)' <<<"$output"
	grep -E '^TIOCSTI-high-bit E(PERM|ACCES)' <<<"$output"
	grep -E '^TIOCLINUX-paste E(PERM|ACCES)' <<<"$output"
}

@test "control: on the host the same program types into its terminal" {
	[ "$(cat /proc/sys/dev/tty/legacy_tiocsti 2>/dev/null || echo 1)" = 1 ] || skip 'this kernel has no TIOCSTI'
	run script -qec "$HOST_PROBES/injection" /dev/null
	says 'TIOCSTI 0' 'TIOCSTI-high-bit 0'
}

@test "without -t a command gets no terminal at all" {
	probe a "$S" injection
	run on_terminal a <<-'END'
		do_want {lodger exec $S -- tty} {not a tty}
		do_want {lodger exec $S -- sh -c 'tty <&1; tty <&2'} {not a tty\r\n.*not a tty}
		do_want {lodger exec $S -- sh -c 'ls -l /proc/self/fd'} {0 -> pipe:}
		do_want {lodger exec $S -- sh -c 'ls -l /proc/self/fd | grep -c pts || echo none'} {none}
		do_want {lodger exec $S -- sh -c 'exec 3<>/dev/tty'} {No such device}
		do_want {lodger exec $S -- ./injection} {no terminal}
		do_want {lodger run -- tty} {not a tty}
	END
	exits 0
}

@test "with -t the terminal is one of the session" {
	run on_terminal a <<-'END'
		do_want {lodger exec -t $S -- tty} {/dev/pts/0\r}
		do_want {test $(stat -Lc %d:%i /dev/stdin) != $(lodger exec -t $S -- stat -Lc %d:%i /dev/stdin | tr -d '\r') && echo 'two things'} {two things}
		do_want {lodger exec -t $S -- sh -c 'for i in 0 1 2; do readlink /proc/$$/fd/$i; done'} {/dev/pts/0\r\n/dev/pts/0\r\n/dev/pts/0\r}
		do_want {lodger exec -t $S -- sh -c 'tty >/dev/tty; ls /dev/pts'} {/dev/pts/0\r\n0 *ptmx}
		do_want {lodger exec -t $S -- sh -c 'ps -o tty= -p $$'} {pts/0}
	END
	exits 0
}

@test "the terminal device of the caller is not in the session" {
	run on_terminal a <<-'END'
		do_want {lodger exec $S -- ls $(tty)} {No such file}
		do_want {lodger exec $S -- sh -c "exec 3<>$(tty)" || echo 'not opened'} {not opened}
		do_want {lodger exec -t $S -- test -e $(tty) || echo gone} {.}
	END
	exits 0
	# From a terminal of any number, only the session's own ones are listed.
	[ "$(in_session a "$S" 'ls -A /dev/pts')" = ptmx ]
}

@test "job control works: stop, list, continue in back and front, interrupt" {
	run on_terminal a <<-'END'
		type {lodger shell $S}
		do {stty -echo; PS1='inside> '}
		type {sleep 86511}
		after 500
		send "\x1a"
		want {Stopped}
		do_want {jobs} {Stopped +sleep 86511}
		do_want {bg} {sleep 86511 &}
		do_want {jobs} {Running +sleep 86511}
		type {fg}
		want {sleep 86511}
		after 500
		send "\x03"
		do_want {echo status $?} {status 130}
		do_want {jobs; pgrep -f '^sleep 8651' || echo no more} {no more}
		type {sleep 86512}
		after 500
		send "\x1c"
		do_want {echo status $?} {status 131}
		type {cat}
		after 300
		send "\x04"
		do_want {echo status $?} {status 0}
		type {exit 7}
		want {host> }
		do_want {echo outside $?} {outside 7}
	END
	exits 0
	[[ $output != *'no job control'* && $output != *'cannot set terminal'* ]]
}

@test "the size of the terminal is passed on, also after a change" {
	run on_terminal a <<-'END'
		stty rows 31 columns 91 < $spawn_out(slave,name)
		do_want {lodger exec -t $S -- stty size} {31 91}
		type {lodger shell $S}
		do {stty -echo}
		do_want {stty size} {31 91}
		do {trap 'echo changed' WINCH}
		stty rows 42 columns 123 < $spawn_out(slave,name)
		after 300
		do_want {true} {changed}
		do_want {stty size} {42 123}
		leave
	END
	exits 0
}

@test "tmux: the size of a pane follows, inside as outside" {
	tmux_user() { as a tmux -f /dev/null -L lodger-tests "$@"; }
	tmux_user new-session -d -x 90 -y 25 "lodger shell $S" \; set-option -g status off
	tmux_user send-keys 'stty size >size; echo ready' Enter
	until_true 20 in_session a "$S" 'test -s size'
	run in_session a "$S" 'cat size'
	says '25 90'
	tmux_user resize-window -x 70 -y 40
	until_true 20 in_session a "$S" 'test "$(stty size <$(ls /dev/pts/[0-9]* | head -1))" = "40 70"' || {
		tmux_user capture-pane -p
		tmux_user kill-server
		return 1
	}
	tmux_user send-keys 'exit' Enter
	until_true 20 eval '! tmux_user has-session 2>/dev/null'
}

@test "the exit code of a shell is its own, and the terminal is as before" {
	run on_terminal a <<-'END'
		do {stty -g >before}
		do {lodger exec -t $S -- stty raw}
		do {stty -g | cmp - before && echo same-1}
		do {lodger exec -t $S -- true; stty -g | cmp - before && echo same-2}
		type {lodger shell $S}
		do {stty raw; stty sane}
		type {exit 42}
		want {host> }
		do_want {echo outside $?} {outside 42}
		do {stty -g | cmp - before && echo same-3}
		type {lodger shell}
		do {true}
		type {exit 43}
		want {host> }
		do_want {echo outside $?} {outside 43}
		do {stty -g | cmp - before && echo same-4}
		do_want {lodger exec -t $S -- sh -c 'kill -KILL $$'; echo outside $?} {outside 137}
		do {stty -g | cmp - before && echo same-5}
		do_want {lodger exec -t $S -- /nonexistent; echo outside $?} {outside 127}
		do {stty -g | cmp - before && echo same-6}
	END
	exits 0
	says same-1 same-2 same-3 same-4 same-5 same-6
}

@test "a client that is told to end gives the terminal back" {
	run on_terminal a <<-'END'
		do {stty -g >before}
		type {lodger exec -t $S -- sh -c 'echo begun-$((1 + 1)); exec sleep 86521'}
		want {begun-2}
		exec kill -TERM [client]
		want {host> }
		do_want {echo outside $?} {outside 143}
		do {stty -g | cmp - before && echo same-1}
		# An interactive shell lets SIGTERM pass; who insists is obeyed.
		type {lodger shell $S}
		do {true}
		exec kill -TERM [client]
		after 200
		catch {exec kill -TERM [client]}
		want {host> }
		do_want {echo outside $?} {outside 143}
		do {stty -g | cmp - before && echo same-2}
		type {lodger shell $S}
		do {true}
		exec kill -HUP [client]
		want {host> }
		do_want {echo outside $?} {outside (129|0)}
		do {stty -g | cmp - before && echo same-3}
	END
	exits 0
	says same-1 same-2 same-3
	until_true 5 eval '! in_session a "$S" "pgrep -f ^sleep"'
}

@test "a terminal gives back what it was when its session is destroyed" {
	run on_terminal a <<-'END'
		do {stty -g >before}
		type {lodger shell $S}
		do {true}
		exec lodger destroy $env(S)
		want {host> }
		do_want {echo outside $?} {outside (125|137)}
		do {stty -g | cmp - before && echo same}
	END
	exits 0
	says same
}

@test "closing the terminal ends the session that a shell was made with" {
	run on_terminal a <<-'END'
		type {lodger shell}
		do {hostname}
		close
		wait
	END
	exits 0
	# The client may have died before it could clear up: then something is left to collect.
	until_true 10 eval '[ "$(as a lodger list --json 2>/dev/null | jq -c "map(select(.state == \"live\") | .session)")" = "[\"$S\"]" ]'
}

@test "a shell without a terminal reads commands from its input" {
	run as a bash -c 'printf "%s\n" "echo in-\$LODGER_SESSION" "exit 9" | lodger shell '"$S"
	exits 9
	says "in-$S"
	run as a bash -c 'echo "tty; echo done" | lodger shell'
	exits 0
	says 'not a tty' 'done'
}

@test "a shell can be left and another begun: several at once have terminals of their own" {
	run on_terminal a <<-'END'
		type {lodger shell $S}
		do_want {tty} {/dev/pts/0}
		spawn -noecho {*}[lrange $argv 1 end]
		do {stty -echo}
		type {lodger shell $S}
		do_want {tty} {/dev/pts/1}
		leave
	END
	exits 0
}

@test "escape sequences in what sessions choose do not reach the terminal through list and show" {
	in_session a "$S" 'printf "%b" "\033]0;owned\007" >"$(printf "\033[31mname")"; exec -a "$(printf "\033[31mx")" sleep 0.1'
	run -127 as a bash -c "lodger list; lodger show $S; lodger exec $S -- \$'\\033[31mx'"
	[[ $output != *$'\033'* ]]
}
