# What a session sees and reaches: itself, and nothing of the host, of other sessions, of its own
# agent or of its caller. Where something must fail inside, a control shows that it works outside.
# Two sessions of one user and one of another's serve all tests of this file.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034  # scripts for the session; tests are subshells

load ../lib/lodger

setup_file() {
	create a
	export S=$SESSION
	create a
	export SIBLING=$SESSION
	create b
	export FOREIGN=$SESSION
	host_probe identity reach sockets keys injection
	probe a "$S" descriptors escape identity kernel keys reach sockets
	probe a "$SIBLING" sockets
}

teardown_file() {
	sessions_end
}

setup() {
	KEEP_SESSIONS="$S $SIBLING $FOREIGN"
}

# denied: fails unless every line of $output ends in an error that means "not allowed" or "not there".
denied() {
	exits 0
	[ "${#lines[@]}" -gt "${1:-0}" ]
	! grep -Ev ' (EPERM|EACCES|ENOSYS|ENOENT|ESRCH|EAFNOSUPPORT|EPROTONOSUPPORT|killed)$' <<<"$output"
}

@test "proc shows the processes of the session and no other" {
	background as a sleep 86411
	background in_session a "$SIBLING" 'exec sleep 86412'
	background in_session b "$FOREIGN" 'exec sleep 86413'
	background in_session a "$S" 'exec sleep 86414'
	until_true 10 eval '[ "$(pgrep -fc "^sleep 8641[1-4]")" -ge 4 ]'
	run inside 'cat /proc/[0-9]*/cmdline | tr "\0" " "'
	says 'sleep 86414'
	[[ $output != *8641[123]* ]]
	# Its agent is hidden too, and every process that shows is the session's user's.
	run inside 'cd /proc && for p in [0-9]*; do [ ! -e $p ] || [ -O $p ] || echo "foreign $p"; done; ls -d 1
		cat /proc/[0-9]*/status | grep "^Uid:" | sort -u | wc -l'
	[[ $output != *foreign* ]]
	says 'No such file' 1
}

@test "ps and kill inside reach nothing outside" {
	background as a sleep 86421
	local host
	until_true 10 pgrep -f '^sleep 86421'
	host=$(pgrep -f '^sleep 86421')
	run inside "ps -ef | grep -c 'sleep 8642[1]'; kill -0 $host"
	[ "${lines[0]}" = 0 ]
	says 'No such process'
	# All that it may signal: its own processes, which end the command.
	run inside 'kill -KILL -1'
	kill -0 "$host"
	works a "$S"
	works a "$SIBLING"
	works b "$FOREIGN"
}

@test "the root directory holds what the policy exposes, and nothing else" {
	run inside 'ls -A /'
	exits 0
	local name
	for name in "${lines[@]}"; do
		[[ " bin dev etc home lib lib32 lib64 libx32 nix opt proc sbin sys tmp usr var " == *" $name "* ]]
	done
	for name in /root /run /mnt /media /srv /boot /var/log /var/lib /var/run /sys/fs /sys/kernel /sys/class; do
		run inside "test -e $name"
		exits 1
	done
	run inside 'ls -A /home /sys /sys/devices /var'
	exits 0
	[ "$(inside 'ls -A /home')" = "$S" ]
	[ "$(inside 'ls -A /sys')" = devices ]
	[ "$(inside 'ls -A /var')" = tmp ]
	[ -z "$(inside 'ls -A /tmp /var/tmp /dev/shm | grep -v :; true')" ]
}

@test "files that everybody may read on the host do not exist inside" {
	local place
	for place in /tmp /var/tmp "/home/$USERS-a" "/home/$USERS-b" /dev/shm /root /run; do
		echo secret >"$place/lodger-planted"
		chmod 666 "$place/lodger-planted"
		PLANTED+=("$place/lodger-planted")
		run inside "cat $place/lodger-planted"
		exits 1
		says 'No such file'
	done
	run inside 'find / -name lodger-planted 2>/dev/null'
	[ -z "$output" ]
}

@test "devices are six harmless nodes and its own terminals" {
	run inside 'ls -A /dev'
	exits 0
	[ "$(sort <<<"$output" | tr '\n' ' ')" = 'fd full null ptmx pts random shm stderr stdin stdout tty urandom zero ' ]
	[ "$(inside 'ls -A /dev/pts')" = ptmx ]
	run inside 'find / -xdev \( -type b -o -type c \) ! -path "/dev/*" 2>/dev/null'
	[ -z "$output" ]
}

@test "nothing outside its own directories can be written" {
	# A socket is written to by connecting: the package daemon's is there to be.
	run inside 'find / \( -path /proc -o -path /tmp -o -path /var/tmp -o -path /dev -o -path "$HOME" \) -prune -o \
		! -type l ! -type s -writable -print 2>/dev/null'
	[ -z "$output" ]
	# Its own pid namespace's counter shows as writable; it takes a capability.
	run inside 'find /proc/sys /proc/sysrq-trigger /proc/irq /proc/fs /proc/kcore -type f -writable 2>/dev/null |
		while read -r file; do cat "$file" 2>/dev/null | dd of="$file" 2>/dev/null && echo "$file"; done; true'
	[ -z "$output" ]
	run inside 'touch /usr/x; touch /etc/x; touch /x; touch /nix/store/x; echo x >>/etc/passwd; echo h >/proc/sysrq-trigger
		echo 1 >/proc/sys/kernel/panic; true'
	exits 0
	[ "$(grep -c 'Read-only\|Permission denied\|No such file' <<<"$output$stderr")" -ge 7 ]
}

@test "host listeners on path and abstract sockets are out of reach" {
	background as a "$HOST_PROBES/sockets" listen path /tmp/lodger-planted-socket
	background as a "$HOST_PROBES/sockets" listen abstract lodger-planted-abstract
	PLANTED+=(/tmp/lodger-planted-socket)
	until_true 10 grep -q '@lodger-planted-abstract' /proc/net/unix
	run inside './sockets connect path /tmp/lodger-planted-socket; ./sockets connect abstract lodger-planted-abstract
		cat /proc/net/unix'
	[ "${lines[0]}" = ENOENT ]
	[ "${lines[1]}" = ECONNREFUSED ]
	[[ $output != *lodger-planted* && $output != */run/lodger/sessions* ]]
	# Controls.
	[ "$(as b "$HOST_PROBES/sockets" connect abstract lodger-planted-abstract)" = connected ]
	[ "$(as a "$HOST_PROBES/sockets" connect path /tmp/lodger-planted-socket)" = connected ]
}

@test "the loopback of the host is out of reach, and so is every other network" {
	background as a "$HOST_PROBES/sockets" listen tcp 38411
	until_true 10 eval 'grep -q ":960B " /proc/net/tcp'
	run inside './sockets connect tcp 38411; ./sockets connect tcp6 38411
		tail -n +3 /proc/net/dev | cut -d: -f1; tail -n +2 /proc/net/route'
	[ "${lines[0]}" = ECONNREFUSED ]
	[ "${lines[1]}" = ECONNREFUSED ]
	[ "$(tr -d ' ' <<<"${lines[2]}")" = lo ]
	[ "${#lines[@]}" = 3 ]
	run inside 'timeout 5 bash -c "echo >/dev/tcp/192.0.2.1/80"; timeout 5 getent ahosts example.org; echo >/dev/udp/192.0.2.1/53'
	says 'Network is unreachable'
	[[ $output$stderr != *STREAM* ]]
	[ "$(as b "$HOST_PROBES/sockets" connect tcp 38411)" = connected ]
}

@test "its own loopback works" {
	run inside './sockets listen tcp 4711 & until grep -q ":1267 " /proc/net/tcp; do sleep 0.1; done
		./sockets connect tcp 4711; wait'
	says listening connected accepted
	run inside './sockets listen tcp6 4712 & until grep -q ":1268 " /proc/net/tcp6; do sleep 0.1; done
		./sockets connect tcp6 4712; wait'
	says listening connected accepted
}

@test "two sessions of one user see nothing of each other" {
	background in_session a "$SIBLING" 'echo mine >/tmp/mine; ./sockets listen abstract between & ./sockets listen tcp 4713 &
		ipcmk -M 4096 >/dev/null; exec sleep 86431'
	until_true 10 in_session a "$SIBLING" 'grep -q between /proc/net/unix && grep -q ":1269 " /proc/net/tcp'
	run inside './sockets connect abstract between; ./sockets connect tcp 4713; cat /tmp/mine
		ipcs -m | grep -c 0x; pgrep -fc 86431; ls /home; hostname'
	[ "${lines[0]}" = ECONNREFUSED ]
	[ "${lines[1]}" = ECONNREFUSED ]
	says 'No such file'
	[[ $output != *mine$'\n'* && $output != *"$SIBLING"* ]]
	says "$S"
	# Control: in the sibling itself both are there.
	[ "$(in_session a "$SIBLING" './sockets connect abstract between')" = connected ]
	[ "$(in_session a "$SIBLING" 'ipcs -m | grep -c 0x')" = 1 ]
}

@test "System V and POSIX objects of the host are not there" {
	local id
	id=$(as a ipcmk -M 4096 -p 0666 | grep -o '[0-9]*$')
	run inside 'ipcs -a | grep -c ^0x; ls /dev/mqueue; cat /proc/sysvipc/shm | wc -l'
	as a ipcrm -m "$id"
	[ "${lines[0]}" = 0 ]
	[ "${lines[-1]}" = 1 ]
}

@test "the agent cannot be signalled, traced, read or written" {
	run inside './reach 1'
	# A signal to its pid is no error, and of no effect. How it is scheduled is the session's own share.
	output=$(grep -Ev '^(signal-|affinity|priority|scheduler)' <<<"$output")
	mapfile -t lines <<<"$output"
	denied 25
	works a "$S"
}

@test "keepers of the agent cannot be traced or read" {
	# They are the only other processes of this uid that are not the command's own; hidepid hides them,
	# so every number up to its own is tried. No signals: those end the job, as they may, and nothing more is tried.
	run inside 'for pid in $(seq 2 $$); do [ -e /proc/$pid ] || ./reach $pid no-signals | sed "s/^/$pid /"; done >tried
		cut -d " " -f 1 tried | uniq | wc -l; grep " 0$" tried | grep -Ev "affinity|priority|scheduler"'
	echo "$output" | head -20
	[[ $output =~ ^[0-9]+$ ]]
	[ "$output" -gt 10 ]
	# They are among those: signals, which may come, end the job.
	run inside 'for pid in $(seq $$ -1 2); do [ -e /proc/$pid ] || kill -KILL $pid; done; echo alive'
	says_not alive
	works a "$S"
}

@test "kill -9 1 changes nothing" {
	run inside 'kill -9 1; kill -STOP 1; kill -TERM 1; kill 1; kill -SEGV 1; sleep 0.2; echo alive'
	says alive
	works a "$S"
}

@test "control: the same attacks on a process of the same user work on the host" {
	# It ignores what it can: of the first signal it died, and was sometimes reaped before the last one came.
	background as a env --ignore-signal sleep 86441
	until_true 10 pgrep -f '^sleep 86441'
	run as a "$HOST_PROBES/reach" "$(pgrep -f '^sleep 86441')"
	says 'mem-write 0' 'ptrace-attach 0' 'process_vm_readv 0' 'environ-read 0' 'signal-KILL 0' 'limit-cpu 0'
}

@test "mounts, chroot and namespaces of all kinds are denied" {
	run inside ./escape
	denied 35
	run inside 'unshare -U true; unshare -Ur true; bwrap --unshare-all --ro-bind / / true; setarch -R true && echo setarch
		nsenter -t $$ -m true; /usr/sbin/chroot / true'
	[ "$(grep -c 'not permitted\|denied\|not implemented\|No permissions' <<<"$output$stderr")" -ge 4 ]
}

@test "control: root in a mount namespace of its own may mount and make namespaces" {
	run unshare --mount "$PROBES/escape"
	says 'mount 0' 'fsopen 0' 'unshare-user 0' 'clone-net 0' 'clone3-pid 0' 'chroot 0'
}

@test "big kernel interfaces, odd sockets and foreign call tables are denied" {
	run inside ./kernel
	denied 30
}

@test "control: on the host root reaches the kernel behind them" {
	cd "$BATS_TEST_TMPDIR"
	run "$PROBES/kernel"
	says 'chmod-set-uid 0' 'bpf EFAULT' 'socket-packet 0' 'open_by_handle_at EFAULT' 'io_uring_setup EFAULT'
}

@test "no cgroup file system is inside, and its own cgroup shows as the root" {
	run inside 'grep -c cgroup /proc/mounts; ls /sys/fs/cgroup; cut -d: -f3 /proc/self/cgroup | sort -u'
	[ "${lines[0]}" = 0 ]
	# Hierarchies that hold no session show where it would be seen from: nothing of the host's names.
	[[ $output != *lodger/* && $output != *process_api* && $output != *slice* ]]
}

@test "a command has descriptors 0, 1 and 2 and no other, and no signal blocked or ignored" {
	run as a bash -c 'trap "" HUP USR1 PIPE; exec 5</ 6</etc/passwd 7>/dev/null 63<>/dev/null
		lodger exec '"$S"' -- ./descriptors'
	exits 0
	[ "$(grep -c descriptor <<<"$output")" = 3 ]
	says 'descriptor 0 ' 'descriptor 1 ' 'descriptor 2 '
	[[ $output != *blocked* && $output != *ignored* ]]
	# The first command of a session that is made with hundreds of open descriptors.
	run as a bash -c 'for i in $(seq 10 300); do eval "exec $i</"; done; lodger run -- ls -l /proc/self/fd'
	exits 0
	# ls has one more itself.
	[ "$(grep -c -- '->' <<<"$output")" = 4 ]
}

@test "identity: only its own uid and gid, no capability, no new privileges, filtered" {
	local uid=$((UID_FIRST - 1 + $(session_number "$S")))
	run inside 'cat /proc/self/status'
	exits 0
	local line
	for line in "Uid:	$uid	$uid	$uid	$uid" "Gid:	$uid	$uid	$uid	$uid" 'NoNewPrivs:	1' 'Seccomp:	2' \
		CapInh:$'\t'0000000000000000 CapPrm:$'\t'0000000000000000 CapEff:$'\t'0000000000000000 \
		CapBnd:$'\t'0000000000000000 CapAmb:$'\t'0000000000000000; do
		grep -Fx "$line" <<<"$output"
	done
	# No supplementary group: what the kernel prints is empty, or the gid.
	grep -E "^Groups:[[:space:]]*($uid)?[[:space:]]*$" <<<"$output"
	[ "$(inside 'id -un; id -gn; id -Gn; hostname; echo $HOME; whoami' | sort -u | tr '\n' ' ')" = "/home/$S $S " ]
}

@test "passwd and group inside name root, nobody and the lodger" {
	[ "$(inside 'cut -d: -f1 /etc/passwd' | sort | tr '\n' ' ')" = "$(printf '%s\n' root nobody "$S" | sort | tr '\n' ' ')" ]
	run inside "getent passwd $USERS-a; getent group lodger"
	[ -z "$output" ]
	run inside 'cat /etc/shadow /etc/gshadow; cat /etc/lodger/lodger.conf >/dev/null'
	says 'Permission denied'
}

@test "setuid and file-capability programs give nothing" {
	# Planted where sessions see them: a root shell could not be had more easily.
	local directory=/usr/local/lib/lodger-planted
	mkdir -p "$directory"
	chmod 755 "$directory"
	PLANTED+=("$directory")
	install -m 4755 -o root -g root "$HOST_PROBES/identity" "$directory/setuid"
	install -m 2755 -o root -g root "$HOST_PROBES/identity" "$directory/setgid"
	install -m 755 "$HOST_PROBES/identity" "$directory/capable"
	setcap cap_setuid,cap_setgid,cap_sys_admin+ep "$directory/capable"
	cp -p "$BASH" "$directory/shell"
	chown root:root "$directory/shell"
	chmod 4755 "$directory/shell"
	local name
	for name in setuid setgid capable; do
		run as a "$directory/$name"
		says root
		run inside "$directory/$name"
		[[ $output == "uid 1879"* && $output != *root* && $output != *" 0"* ]] || [[ $output$stderr == *ermitted* ]]
	done
	run inside "$directory/shell -p -c 'id -u; cat /etc/shadow'"
	[[ $output != 0* ]]
	says 'Permission denied'
	run inside 'for p in su sudo passwd newgrp mount umount ping newuidmap pkexec chsh; do
		timeout 5 $p root </dev/null >/dev/null 2>&1 && echo "$p did something"; done; true'
	[[ $output != *'did something'* ]]
	run inside 'find / -xdev -perm /6000 -newer /proc/self/status 2>/dev/null; cp /bin/sh . && chmod 4755 sh; stat -c %a sh'
	[[ $output != *4755* ]]
}

@test "a program copied in cannot become root" {
	run inside ./identity
	exits 0
	[[ $output != *root* ]]
	[ "${#lines[@]}" = 1 ]
}

@test "the helper refuses a lodger" {
	run inside "$HELPER"
	exits 126
	run inside 'lodger create'
	exits 125
	[ -n "$output$stderr" ]
}

@test "keys of the caller stay with the caller" {
	[ -e /proc/keys ] || skip 'this kernel has no keys'
	run as a "$HOST_PROBES/keys" hold lodger-secret "$HOST_PROBES/keys" list
	says lodger-secret
	run as a "$HOST_PROBES/keys" hold lodger-secret lodger run -- sh -c 'cat /proc/keys; echo end'
	says end
	[[ $output != *lodger-secret* ]]
	create a
	probe a "$SESSION" keys
	run as a "$HOST_PROBES/keys" hold lodger-secret lodger exec "$SESSION" -- ./keys list
	exits 0
	[[ $output != *lodger-secret* ]]
}

@test "the environment is made from nothing" {
	run as a env SECRET=x LD_PRELOAD= BASH_ENV=/x GCONV_PATH=/x TMPDIR=/x XDG_RUNTIME_DIR=/run/user/1 \
		DBUS_SESSION_BUS_ADDRESS=x SSH_AUTH_SOCK=x DISPLAY=:0 LC_ALL=C lodger exec "$S" -- env
	exits 0
	[ "$(cut -d= -f1 <<<"$output" | grep -vx NIX_PATH | sort | tr '\n' ' ')" = 'HOME LANG LODGER_SESSION LOGNAME NIX_REMOTE PATH SHELL TMPDIR USER ' ]
	says "HOME=/home/$S" "LODGER_SESSION=$S" TMPDIR=/tmp
}

@test "scheduling, umask and directory of the caller are not passed on" {
	run as a bash -c 'umask 0; cd /; exec nice -n 10 lodger run -- sh -c "umask; pwd; nice; ulimit -c"'
	exits 0
	[ "${lines[0]}" = 0022 ]
	[[ ${lines[1]} == /home/lodger-* ]]
	[ "${lines[2]}" = 0 ]
}

@test "mounts of sessions do not show on the host" {
	local before
	# Where machines for other tests are built meanwhile, their mounts come and go.
	before=$(grep -v ' /var/cache/' /proc/mounts)
	create a
	in_session a "$SESSION" true
	[ "$before" = "$(grep -v ' /var/cache/' /proc/mounts)" ]
	run inside 'cut -d" " -f2 /proc/mounts'
	[[ $output != *mnt* && $output != */run/lodger* ]]
	grep -qx / <<<"$output"
}

@test "helper and agent are unchanged, and nobody but root can write to where sessions are kept" {
	[ "$(stat -c '%a %U %G' "$HELPER")" = '4750 root lodger' ]
	[ "$(stat -c '%a %U %G' "${HELPER%/*}/lodger-agent")" = '711 root root' ]
	run find /run/lodger -path /run/lodger/packages -prune -o ! -type s \( ! -user root -o -perm /022 \) -print
	[ -z "$output" ]
	run as b find /run/lodger /etc/lodger "${HELPER%/*}" -writable
	[[ $output != */* || $output == *"Permission denied"* ]]
	run as b bash -c 'cat /run/lodger/sessions/*/lock; exec 5<>/run/lodger/lock'
	[ "$status" != 0 ]
}
