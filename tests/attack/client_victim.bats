# The client as the victim of the session that it serves: with the session's real programs and files, and
# with terminals. With a lying tar: ../cli/hostile.bats.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell

load ../lib/lodger

setup() {
	create a
	S=$SESSION
	HERE=/home/$USERS-a/victim
	rm -rf "$HERE"
	as a mkdir -p victim/to
	echo outside >"$HERE/outside"
	chown "$USERS-a:" "$HERE/outside"
}

teardown() {
	lodger_teardown
	rm -rf "$HERE"
}

get() {
	run --separate-stderr as a timeout -k 2 40 lodger get --timeout 20s "$S" "$@" "$HERE/to"
}

untouched() {
	[ "$(cat "$HERE/outside")" = outside ]
	[ "$(cd "$HERE" && echo *)" = 'outside to' ]
}

@test "a FIFO, a device, a socket, an endless file and a file of an exbibyte hold up no get" {
	local name started=$SECONDS
	in_session a "$S" 'mkfifo fifo; truncate -s 1E sparse; ln -s /dev/zero zero; mkdir d; mkfifo d/f; truncate -s 1E d/s
		ln -s /proc/self/mem mem; perl -MSocket -e "socket my \$s, AF_UNIX, SOCK_STREAM, 0; bind \$s, pack_sockaddr_un(q(sock))"'
	for name in fifo sparse zero sock d mem /dev/zero /dev/random /dev/tty /proc/1 /proc/self/mem /proc/kmsg /proc/self/fd/0; do
		get "$name"
		[ "$status" != 124 ] && [ "$status" != 137 ] || { echo "$name: $status" && return 1; }
		# What tar leaves out by itself, or takes for empty, is no failure of its.
		[ "$status" != 0 ] || [[ $name != sparse && $name != d ]]
		[ -z "$(find "$HERE/to" ! -type d -size +0 -print)" ]
	done
	[ $((SECONDS - started)) -lt 300 ]
	[ -z "$(find "$HERE/to" \( -type p -o -type b -o -type c -o -type s \))" ]
	untouched
	# Control.
	in_session a "$S" 'echo x >file'
	get file
	exits 0
	[ "$(cat "$HERE/to/file")" = x ]
}

@test "a file that grows, shrinks or goes while it is fetched ends the fetch, and no half of it stays" {
	in_session a "$S" 'setsid bash -c "while :; do head -c 3000000 /dev/zero >file; : >file; rm file; mkdir file 2>/dev/null; rmdir file; done" >/dev/null 2>&1 &
		setsid bash -c "while :; do yes >>grows; : >grows; done" >/dev/null 2>&1 & true'
	for _ in 1 2 3 4 5 6; do
		get --max 8M file
		[ "$status" != 124 ]
		[ "$status" != 137 ]
		get --max 8M grows
		[ "$status" != 124 ]
		[ "$status" != 137 ]
	done
	[ -z "$(find "$HERE" -name '.lodger-get*')" ]
	untouched
}

@test "links in the way of a put lead nowhere but in the session" {
	in_session a "$S" 'ln -s /usr/bin up; ln -s /etc/passwd file; ln -s /proc/1/root root; ln -s ../../../../../../etc dots
		ln -s '"$HERE"' here; mkdir d; ln -s /etc/hostname d/outside'
	for target in up/ file root/tmp dots/ here/ 'here/new' /proc/self/cwd/../../x /etc/ /; do
		run as a timeout -k 2 40 lodger put --timeout 20s "$S" "$HERE/outside" "$target"
		[ "$status" != 124 ]
		[ "$status" != 137 ]
	done
	# It replaces a link, and writes through none.
	run as a timeout -k 2 40 lodger put --timeout 20s "$S" "$HERE/outside" d
	exits 0
	[ "$(in_session a "$S" 'stat -c %F d/outside; cat d/outside' | xargs)" = 'regular file outside' ]
	[ "$(cat /etc/hostname)" != outside ]
	[ ! -e /usr/bin/outside ]
	[ ! -e /etc/outside ]
	untouched
}

@test "nothing that is fetched is run, and no name of it becomes an option" {
	in_session a "$S" 'mkdir d; printf "#!/bin/sh\necho ran >%s/ran\n" '"$HERE"' >d/tar; cp d/tar d/.bashrc; cp d/tar "d/--checkpoint-action=exec=sh tar"
		chmod +x d/*; : >"d/--checkpoint=1"; : >"d/-C"; : >"d/--to-command=sh"'
	get d
	exits 0
	[ ! -e "$HERE/ran" ]
	(cd "$HERE/to/d" && as a bash -c "cd $HERE/to/d && lodger put $S -- * . && lodger get $S -- -C --checkpoint=1 ./tar .")
	[ ! -e "$HERE/ran" ]
	untouched
}

@test "code inside can forge neither the end of its command nor a message of Lodger's" {
	# What it writes goes where it belongs, and its exit code is its own.
	run --separate-stderr as a lodger exec "$S" -- sh -c 'echo "lodger: destroyed"; echo "lodger: all is well" >&2; exit 3'
	exits 3
	[ "$output" = 'lodger: destroyed' ]
	# No descriptor, file or process leads to the client's connection.
	run in_session a "$S" 'ls -l /proc/[0-9]*/fd | grep -c socket; find / -xdev -type s 2>/dev/null | grep -v ^/nix/ | wc -l
		for pid in $(seq 1 300); do cat /proc/$pid/fd/3 2>/dev/null; done; kill -USR1 1; kill -CHLD 1; exit 9'
	exits 9
	[ "${lines[0]}" = 0 ]
	# A process of another command of the session cannot end this one for it with a success.
	run as a timeout 60 bash -c "lodger exec $S -- sleep 88511 & client=\$!
		until lodger exec $S -- pgrep -f '^sleep 88511'; do :; done; lodger exec $S -- pkill -KILL -f '^sleep 88511'; wait \$client"
	exits 137
}

# on_pty SCRIPT: an expect script in which `start COMMAND…` runs lodger on a terminal that nobody reads, and
# `ended SECONDS` fails unless it has ended by then.
on_pty() {
	cat >"$BATS_TEST_TMPDIR/pty.exp" <<-'END'
		proc start {args} {
			global pid
			set user $::env(AS)
			# Not read until it has ended: nothing below asks for its output.
			set pid [spawn -noecho setpriv --reuid=$user --regid=$user --init-groups --reset-env \
				env PATH=/usr/local/bin:/usr/bin:/bin TERM=xterm {*}$args]
		}
		proc ended {seconds args} {
			global pid
			for {set i 0} {$i < $seconds * 10} {incr i} {
				if {[catch {open /proc/$pid/stat} file]} { return }
				set stat [read $file]
				close $file
				if {[string match "*) Z *" $stat]} { return }
				after 100
			}
			puts "still runs: $args"
			exit 1
		}
	END
	cat >>"$BATS_TEST_TMPDIR/pty.exp"
	(cd "/home/$USERS-a" && AS=$USERS-a S=$S timeout 120 expect -f "$BATS_TEST_TMPDIR/pty.exp" 3>&- 4>&-)
}

@test "a terminal that never drains keeps the client no longer than it wants to stay" {
	# Its command's time ends; a signal that is sent twice; the session ends.
	run on_pty <<-'END'
		start lodger exec -t --timeout 2s $env(S) -- yes
		ended 60
		start lodger exec $env(S) -- yes
		after 2000
		exec kill -TERM $pid
		after 200
		catch {exec kill -TERM $pid}
		ended 40
		start lodger exec -t $env(S) -- yes
		after 2000
		exec setpriv --reuid=$env(AS) --regid=$env(AS) --init-groups lodger destroy $env(S)
		after 1000
		# It may wait to say so, on that terminal: as any program would, until it is told not to.
		catch {exec kill -TERM $pid}
		ended 60
		puts all-ended
	END
	says all-ended
}

@test "a reader that never reads, and an input that never ends, hold up no end" {
	run as a timeout 100 bash -c "mkfifo victim/full; exec 5<>victim/full; lodger exec --timeout 2s $S -- yes >&5; echo \"status \$?\"; rm victim/full"
	says 'status 124'
	# Longer than the client is given: waiting for its end would be seen.
	run as a timeout 100 bash -c "exec 3< <(exec sleep 300 2>/dev/null); lodger exec $S -- sh -c 'exit 7' <&3; echo \"status \$?\"; kill \$!"
	says 'status 7'
	untouched
}

@test "what list, show and destroy print holds no byte that a session chose" {
	in_session a "$S" 'perl -e "\$0 = qq(\e]0;owned\a)"; mkdir "$(printf "\033[31m")"; printf "\033[2J" >/dev/shm/x
		exec -a "$(printf "\033]0;owned\a")" sleep 0.3' || true
	run as a bash -c "lodger list; lodger list --json; lodger show $S; lodger show --json $S; lodger exec $S -- \$'\\e[31mx\\n'
		lodger exec --dir \$'\\e[31m/no' $S -- true; lodger get $S \$'\\e[31mno' .; lodger destroy $S; lodger destroy $S" </dev/null
	[[ $output != *$'\e'* ]]
	says "$S" 'destroyed'
}
