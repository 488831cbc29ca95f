# What is left of a session when it has ended: nothing, also for the next one that gets its number and
# so its uid. The numbers' counter is set back here, so that it does at once.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell

load ../lib/lodger

KINDS='/dev/shm/left /tmp/left /var/tmp/left abstract flock left lock mq mq-message msg posix-shm sem shm socket'

setup() {
	leaves_nothing_start
}

teardown() {
	local left=0
	counter_restore
	lodger_teardown
	left_nothing || left=1
	return "$left"
}

# next_is SESSION: the next session that is made gets this name, if it is free.
next_is() {
	local number=$(($(session_number "$1") - 1))
	[ -e "$BATS_TEST_TMPDIR/counter" ] || cp /run/lodger/lock "$BATS_TEST_TMPDIR/counter"
	perl -e 'print pack "L", shift' "$number" | flock /run/lodger/lock dd of=/run/lodger/lock conv=notrunc status=none
}

counter_restore() {
	[ ! -e "$BATS_TEST_TMPDIR/counter" ] ||
		flock /run/lodger/lock dd if="$BATS_TEST_TMPDIR/counter" of=/run/lodger/lock conv=notrunc status=none
}

# left: the kinds of what is still there, for who has the same uid as the session.
left() {
	probe a "$1" leave
	in_session a "$1" './leave find' | sort | xargs
}

# everything SESSION: what it could leave, made in it.
everything() {
	probe a "$1" leave setid
	in_session a "$1" './leave make; ./setid; mkfifo /tmp/fifo; echo "* * * * * id" | crontab -
		echo id | at now; loginctl enable-linger; systemd-run --user true; systemd-run true; echo x | mail root
		echo export LEFT=1 >>.bashrc; cp /bin/sh .profile; ln -s /etc /tmp/link; (trap "" HUP TERM; nohup sleep 88111 &) &' \
		>/dev/null 2>&1 </dev/null || true
}

@test "the next session with a session's uid finds nothing of it, of fifteen kinds" {
	create a
	local first=$SESSION
	everything "$first"
	# Control: in the session itself all of it is found, from one command to the next.
	[ "$(in_session a "$first" './leave find' | sort | xargs)" = "$KINDS" ]
	[ -n "$(in_session a "$first" 'pgrep -f "^sleep 88111"; pgrep lodger-left')" ]
	as a lodger destroy "$first"
	next_is "$first"
	create a
	[ "$SESSION" = "$first" ]
	[ -z "$(left "$SESSION")" ]
	run in_session a "$SESSION" 'ls -A; ls -A /tmp /var/tmp /dev/shm; cat /proc/net/unix | grep -c lodger-left
		ps -e -o args= | grep -c "[8]8111"; ipcs -a | grep -c ^0x; echo $LEFT'
	[ "$(grep -v : <<<"$output" | xargs)" = 'leave 0 0 0' ]
}

@test "control: on the host what one process leaves is there for the next of the same user" {
	host_probe leave
	background as a "$HOST_PROBES/leave" make
	until_true 10 eval '[[ "$(as a "$HOST_PROBES/leave" find)" == *socket* ]]'
	run as a "$HOST_PROBES/leave" find
	local kind
	for kind in $KINDS; do
		[[ $'\n'$output$'\n' == *$'\n'$kind$'\n'* ]]
	done
	kill -KILL "$(pgrep -u "$USERS-a" -x lodger-left)"
	as a "$HOST_PROBES/leave" clean
}

@test "a session that ends by itself, or is killed from outside, leaves as little" {
	create a --ttl 3s
	local first=$SESSION uid=$((UID_FIRST - 1 + $(session_number "$SESSION")))
	everything "$first"
	until_true 15 eval '[ -z "$(processes_of "$uid")" ]'
	as b lodger collect
	next_is "$first"
	create a
	[ "$SESSION" = "$first" ]
	[ -z "$(left "$SESSION")" ]
	everything "$SESSION"
	# shellcheck disable=SC2046  # numbers
	kill -KILL $(processes_of "$uid")
	until_true 15 eval '[ -z "$(processes_of "$uid")" ]'
	as b lodger collect
	next_is "$first"
	create b
	[ "$SESSION" = "$first" ]
	probe b "$SESSION" leave
	[ -z "$(in_session b "$SESSION" './leave find')" ]
}

# hosts_things UID NAME: all that the host has of that uid's, or by that name, one a line.
hosts_things() {
	find / \( -path /proc -o -path /sys -o -path /var/cache \) -prune -o \( -uid "$1" -o -gid "$1" \) -print 2>/dev/null
	find /var/spool /var/mail /var/lib/systemd /run/user /run/userdb /run/lodger -name "*$2" 2>/dev/null
	ps -o pid=,args= -u "$1"
	awk -v uid="$1:" '$1 == uid' /proc/key-users 2>/dev/null
	awk -v uid="$1" '$5 == uid || $8 == uid' /proc/sysvipc/{shm,sem,msg}
}

@test "no file, process, key or object of a lodger's is anywhere on the host after its end" {
	create a
	local session=$SESSION uid=$((UID_FIRST - 1 + $(session_number "$SESSION"))) locks
	everything "$session"
	as a lodger destroy "$session"
	run hosts_things "$uid" "$session"
	[ -z "$output" ]
	locks=$(cut -d' ' -f1-3 /proc/locks | wc -l)
	[ "$locks" -ge 0 ]
	# Control: what there is of such a uid is found.
	local planted=/var/tmp/lodger-planted
	PLANTED+=("$planted")
	touch "$planted"
	chown "$uid" "$planted"
	[ "$(hosts_things "$uid" "$session")" = "$planted" ]
}

@test "a session's files are on no mount that outlives it" {
	create a
	local session=$SESSION device
	device=$(in_session a "$session" 'stat -c %d .')
	in_session a "$session" 'stat -c %d / /tmp /var/tmp /dev/shm | sort -u' | grep -qx "$device"
	# No mount of the host's is of that device: it is known inside alone.
	device=$((device >> 8)):$((device & 255))
	[ -z "$(awk -v device="$device" '$3 == device' /proc/self/mountinfo)" ]
	as a lodger destroy "$session"
	[ -z "$(cat /proc/[0-9]*/mountinfo 2>/dev/null | awk -v device="$device" '$3 == device && /lodger/')" ]
}

@test "waiting processes of every kind do not keep a session from being destroyed" {
	create a --pids 100
	local session=$SESSION uid=$((UID_FIRST - 1 + $(session_number "$SESSION")))
	probe a "$session" forks
	# In vfork(2), where the kernel waits for a child; stopped; traced; reading what never comes.
	background as a lodger exec "$session" -- bash -c './forks vfork 20 & mkfifo f; cat f & sleep 88121 & kill -STOP $!
		strace -o /dev/null sleep 88122 & exec sleep 88123'
	until_true 20 eval '[ "$(ps -o pid= -u "$uid" | wc -l)" -gt 40 ]'
	run as a timeout 25 lodger destroy "$session"
	exits 0
	[ -z "$(processes_of "$uid")" ]
}
