# Code in a session: what it tries for rights, for the kernel, for networks, and for what is not its own.
# Two sessions serve all tests of this file. More of the kind: ../session/isolation.bats.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034  # scripts for the session; tests are subshells

load ../lib/lodger

setup_file() {
	create a
	export S=$SESSION
	create b
	export FOREIGN=$SESSION
	host_probe setid families sockets
	probe a "$S" setid families sockets reach
}

teardown_file() {
	sessions_end
}

setup() {
	KEEP_SESSIONS="$S $FOREIGN"
}

@test "no call makes a set-id file or a file with capabilities" {
	run inside 'umask 0; cd /tmp && ~/setid'
	exits 0
	[ "${#lines[@]}" -ge 19 ]
	[[ $output != *SET-ID* ]]
	[ -z "$(inside 'find / -xdev -perm /7000 ! -perm -1000 2>/dev/null; find / -xdev -perm /6000 -user $USER 2>/dev/null')" ]
	# Nor does what others wrote for it: archives, installers, copies that keep modes.
	run inside 'install -m 4755 /bin/true t1; cp /bin/true t2; chmod u+s t2; chmod 2755 t2; tar c -C / usr/bin/passwd | tar xp
		perl -e "chmod 04755, q(t2); mkdir q(d), 02777; sysopen my \$f, q(t3), 65, 04755"; find . /tmp -perm /6000'
	[[ $output != *'./t'* && $output != *passwd$'\n'* ]]
	[ -z "$(inside 'find . /tmp -perm /6000')" ]
}

@test "control: on the host the same calls make such files" {
	cd "$BATS_TEST_TMPDIR"
	mkdir -m 777 set && cd set
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR/test"
	run "$HOST_PROBES/setid"
	[ "$(grep -c SET-ID <<<"$output")" -ge 18 ]
	says 'capability SET-ID'
}

@test "an i386 program is killed at its first call" {
	# exit(42) by int 0x80, in an ELF file of one segment.
	perl -e 'my $code = "\xb8\1\0\0\0\xbb\x2a\0\0\0\xcd\x80"; my $base = 0x8048000;
		print "\x7fELF\1\1\1", "\0" x 9, pack("vvVVVVVvvvvvv", 2, 3, 1, $base + 84, 52, 0, 0, 52, 32, 1, 0, 0, 0),
		pack("VVVVVVVV", 1, 0, $base, $base, 84 + length $code, 84 + length $code, 5, 4096), $code' >"$BATS_TEST_TMPDIR/i386"
	in_session a "$S" 'cat >i386; chmod +x i386' <"$BATS_TEST_TMPDIR/i386"
	run inside './i386'
	[ "$status" != 42 ]
	[ "$status" -ge 126 ]
	chmod +x "$BATS_TEST_TMPDIR/i386"
	run "$BATS_TEST_TMPDIR/i386"
	[ "$status" = 42 ] || skip 'this kernel has no calls of i386 by itself'
	run inside './i386'
	exits 159
}

@test "sockets are local, of the internet's two families, or ask for routes: no other exists" {
	run inside './families'
	exits 0
	[ "$(cut -d' ' -f1 <<<"$output" | sort -nu | xargs)" = '1 2 10 16' ]
	# Of netlink the routing protocol alone; of the internet's no raw ones.
	[ "$(awk '$1 == 16 { print $3 }' <<<"$output" | sort -nu)" = 0 ]
	[ "$(awk '$1 == 2 || $1 == 10 { print $2 }' <<<"$output" | sort -nu | xargs)" = '1 2' ]
	[ -z "$(awk '($1 == 2 || $1 == 10) && $3 !~ /^(0|1|6|17|58)$/' <<<"$output")" ]
	# Control. Of each family that there is not the kernel has a module looked for, which takes long.
	run "$HOST_PROBES/families" 2 10 16 17
	grep -q '^17 3 ' <<<"$output"
	[ "$(awk '$1 == 16 { print $3 }' <<<"$output" | sort -nu | wc -l)" -ge 3 ]
	[ "$(awk '($1 == 2 || $1 == 10) && $2 == 3' <<<"$output" | wc -l)" -ge 2 ]
}

@test "no type of an internet socket has the kernel load a protocol" {
	# With protocol 0 the type chooses: DCCP for 6, SCTP for 5, and packet sockets for 10.
	local -r ask='use Socket; for my $family (2, 10) { for my $type (4, 5, 6, 10) { for my $flag (0, 0x80800) {
		for my $protocol (0, 6, 17, 1) { print socket(my $s, $family, $type | $flag, $protocol) ? 0 : $! + 0, "\n" } } } }'
	run inside "perl -e '$ask'"
	exits 0
	[ "${#lines[@]}" = 64 ]
	# EPROTONOSUPPORT, by the filter.
	[ "$(sort -u <<<"$output")" = 93 ]
	# Control: the kernel says that the type is not there, or opens it.
	run perl -e "$ask"
	[ "${lines[0]}" = 94 ]
}

@test "no question to a socket has the kernel load a protocol, and the rarest of its kinds are not there" {
	# Bridges and VLANs by ioctl(2), kernel TLS by setsockopt(2), urgent data on local sockets by each call that sends.
	local -r ask='use Socket; sub said { print "$_[0] ", $_[1] ? 0 : $! + 0, "\n" } socket(my $i, AF_INET, SOCK_STREAM, 0);
		for my $c (0x8940, 0x8941, 0x89a0, 0x89a1, 0x8982, 0x8983) { my $b = "\0" x 64; said "ioctl", ioctl($i, $c, $b) }
		said "tls", setsockopt($i, 6, 31, "tls"); socketpair(my $s, my $t, AF_UNIX, SOCK_STREAM, 0); said "send", send($s, "x", MSG_OOB);
		said "sendmsg", syscall(46, fileno $s, 8, MSG_OOB) >= 0; said "sendmmsg", syscall(307, fileno $s, 8, 1, MSG_OOB) >= 0'
	run inside "perl -e '$ask'"
	exits 0
	# EPERM; EOPNOTSUPP is what a kernel says that has no such data.
	[ "${output//$'\n'/ }" = 'ioctl 1 ioctl 1 ioctl 1 ioctl 1 ioctl 1 ioctl 1 tls 1 send 95 sendmsg 95 sendmmsg 95' ]
	# Control.
	run perl -e "$ask"
	[ "$(grep -c '^ioctl 1$' <<<"$output")" = 0 ]
	says 'sendmsg 14' 'sendmmsg 14'
	[ "$(grep -c '^tls 1$' <<<"$output")" = 0 ]
}

@test "routes, addresses and links are to be read and not to be changed, and show nobody else's" {
	run inside 'PATH=$PATH:/usr/sbin:/sbin; ip -o link | cut -d: -f2; ip link add dummy0 type dummy; ip addr add 192.0.2.7/24 dev lo
		ip route add default dev lo; ip link set lo mtu 9000; ip link set lo netns 1; ip netns list; ip rule add from all table 5'
	[ "$(grep -c 'not permitted\|denied' <<<"$output")" -ge 5 ]
	[ "$(grep -cE '^ ?(lo|eth|en|wl|docker|veth|tun)' <<<"$output")" = 1 ]
	# Control.
	run unshare --net bash -c 'PATH=$PATH:/usr/sbin:/sbin; ip addr add 192.0.2.7/24 dev lo && echo added'
	says added
}

@test "sockets of buses, displays, agents and daemons of the host do not exist" {
	local name
	PLANTED=(/run/lodger-planted-bus /tmp/lodger-planted-display)
	for name in "${PLANTED[@]}"; do
		background as a "$HOST_PROBES/sockets" listen path "/tmp/${name##*/}.user"
		PLANTED+=("/tmp/${name##*/}.user")
		background "$HOST_PROBES/sockets" listen path "$name"
		until_true 10 test -S "$name"
		chmod 777 "$name"
	done
	background as b "$HOST_PROBES/sockets" listen abstract /tmp/.X11-unix/X88
	until_true 10 grep -q '@/tmp/.X11-unix/X88' /proc/net/unix
	for name in "${PLANTED[@]}" /run/dbus/system_bus_socket /run/user/1001/bus /var/run/docker.sock /run/systemd/private \
		/run/systemd/journal/socket /dev/log /run/nscd/socket /run/udev/control /run/containerd/containerd.sock \
		/run/lodger/sessions/1/socket /run/systemd/userdb/io.systemd.DynamicUser; do
		[ "$(inside "./sockets connect path $name")" = ENOENT ]
	done
	[ "$(inside './sockets connect abstract /tmp/.X11-unix/X88')" = ECONNREFUSED ]
	# Nor do the variables that would lead there.
	[ -z "$(inside 'env | grep -E "^(DBUS|SSH_AUTH|DISPLAY|WAYLAND|XAUTH|XDG_RUNTIME|DOCKER)"; true')" ]
	# Sockets that are inside are the session's own, or the package daemon's.
	[ -z "$(inside 'find / -xdev -type s ! -user $USER 2>/dev/null | grep -v /nix/')" ]
	# Control.
	[ "$(as c "$HOST_PROBES/sockets" connect path /run/lodger-planted-bus)" = connected ]
	[ "$(as c "$HOST_PROBES/sockets" connect abstract /tmp/.X11-unix/X88)" = connected ]
}

@test "what the kernel tells or is told through files is closed" {
	run inside 'for file in /proc/kcore /proc/kmsg /proc/kpageflags /proc/iomem /proc/keys /proc/timer_list /proc/slabinfo \
			/proc/vmallocinfo /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sysrq-trigger /proc/sys/vm/drop_caches \
			/proc/sys/fs/binfmt_misc/register /proc/1/mem /sys/kernel/debug /sys/kernel/uevent_helper /sys/power/state \
			/sys/fs/cgroup/release_agent /dev/mem /dev/kmem /dev/kvm /dev/fuse /dev/loop-control /dev/net/tun /dev/kmsg /dev/vhost-net \
			/proc/self/attr/current /proc/self/uid_map /proc/self/setgroups /proc/sys/kernel/ns_last_pid; do
			dd if=/dev/null of=$file oflag=append conv=notrunc 2>/dev/null
			{ echo 0 >$file; } 2>/dev/null && echo "wrote $file"
		done; dmesg; modprobe dummy; insmod /x; sysctl -w kernel.panic=9; hwclock -s; date -s 12:00; swapon /x; losetup -f; true'
	[[ $output != *wrote* ]]
	run inside 'for file in /proc/kcore /proc/kmsg /proc/1/mem /dev/mem /dev/kmsg /dev/kvm; do head -c 1 $file 2>/dev/null | wc -c; done
		awk "\$1 !~ /^0*\$/" /proc/kallsyms 2>/dev/null | wc -l'
	[ "$(sort -u <<<"$output")" = 0 ]
}

@test "a process of the host or of another session is not there to be reached by any road" {
	local host foreign
	background as a sleep 88311
	background in_session b "$FOREIGN" 'exec sleep 88312'
	until_true 20 pgrep -f '^sleep 88311'
	until_true 20 pgrep -f '^sleep 88312'
	host=$(pgrep -f '^sleep 88311') foreign=$(pgrep -f '^sleep 88312')
	run inside "for pid in $host $foreign; do [ -e /proc/\$pid ] || ./reach \$pid; done"
	[[ $output != *' 0'* ]] || { grep ' 0$' <<<"$output" && return 1; }
	run inside 'pgrep -f "^slee[p] 8831"; ps -eo args | grep "[s]leep 8831"; cat /proc/*/cmdline | tr "\0" " " | grep -o "slee[p] 8831[12]"'
	[ -z "$output" ]
	kill -0 "$host"
	kill -0 "$foreign"
}

@test "what one session writes is on no path of another's, and no channel of the kernel's joins them" {
	in_session b "$FOREIGN" 'echo mine >/tmp/mine; echo mine >/dev/shm/mine; mkfifo /tmp/pipe; ipcmk -M 4096 -p 0666; ipcmk -Q -p 0666' >/dev/null
	run inside 'cat /tmp/mine /dev/shm/mine 2>/dev/null; ls /tmp/pipe 2>/dev/null; ipcs -a | grep -c ^0x; cat /proc/locks | grep -c " '"$(pgrep -o lodger-agent)"' "'
	[[ $output != *mine* && $output != *pipe* ]]
	[ "${lines[0]}" = 0 ]
	# Mounts, host names, and namespaces are each session's own, user and time alone being the machine's.
	local kind
	for kind in mnt pid net ipc uts cgroup; do
		[ "$(inside "readlink /proc/self/ns/$kind")" != "$(in_session b "$FOREIGN" "readlink /proc/self/ns/$kind")" ]
		[ "$(inside "readlink /proc/self/ns/$kind")" != "$(readlink /proc/self/ns/$kind)" ]
	done
}

@test "cgroup files can be written by nobody but root, in every hierarchy" {
	local base user
	base=$(awk '$1 == "cgroup" { base = $2 } END { print base }' "$POLICY")
	for user in a b c; do
		run as "$user" find /sys/fs/cgroup/*/"$base" "/sys/fs/cgroup/$base" -writable
		[[ $output != */"$base"/* || $output == *'Permission denied'* ]]
		run as "$user" bash -c "echo 0 >/sys/fs/cgroup/release_agent; for f in /sys/fs/cgroup/{*/,}$base/$(session_number "$S")/{cgroup.procs,tasks,release_agent,cgroup.kill,cgroup.freeze,pids.max,notify_on_release}; do
			[ ! -e \$f ] || { echo 1 >\$f && echo wrote; } 2>/dev/null; done; true"
		[[ $output != *wrote* ]]
	done
	# A descriptor of such a file is not handed in, but read by the client.
	local file
	file=$(find /sys/fs/cgroup/*/"$base/$(session_number "$S")" "/sys/fs/cgroup/$base/$(session_number "$S")" -name cgroup.procs 2>/dev/null | head -1)
	run as a bash -c "lodger exec $S -- readlink /proc/self/fd/0 <$file"
	exits 0
	[[ $output == pipe:* ]]
	run inside 'find / -xdev -name "cgroup.*" 2>/dev/null; find /proc/self/ -maxdepth 1 -name cgroup -writable; mount -t cgroup2 none /tmp; true'
	[[ $output != */* || $output == *mount:* ]]
}

@test "a device that the policy does not name is not there, and one that it names is" {
	[ -c /dev/loop-control ] || skip 'no device to lend'
	run inside 'cat /dev/loop-control'
	says 'No such file'
	policy 'device /dev/loop-control'
	create a
	run in_session a "$SESSION" 'stat -c %F /dev/loop-control; id -G; mknod x c 10 237; stat -c %a /dev/loop-control'
	says 'character special file' 'not permitted'
	[ "${lines[1]}" = "$((UID_FIRST - 1 + $(session_number "$SESSION")))" ]
}

@test "every mount has no set-id and, but for its own and the kernel's, no writing and no devices" {
	local place type options
	inside 'cut -d" " -f2-4 /proc/mounts' >"$BATS_TEST_TMPDIR/mounts"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/mounts")" -gt 12 ]
	while read -r place type options; do
		[[ ,$options, == *,nosuid,* ]] || { echo "$place: $options" && return 1; }
		case $place in
		/) [[ $type == tmpfs && ,$options, == *,nodev,* ]] ;;
		/dev/*) [[ ,$options, == *,noexec,* ]] ;;
		/proc) [[ $type == proc && ,$options, == *,nodev,*noexec,* ]] ;;
		*) [[ ,$options, == *,ro,* && ,$options, == *,nodev,* ]] ;;
		esac || { echo "$place $type: $options" && return 1; }
	done <"$BATS_TEST_TMPDIR/mounts"
}

@test "what the policy lends as a device is one" {
	policy 'device /dev/../etc/passwd'
	run as a lodger create
	exits 125
	policy_restore
	policy 'device /etc/passwd'
	run as a lodger create
	exits 125
	says 'not a character device'
}

@test "a session whose leader fails says why, whichever of leader and helper is the faster" {
	local delay
	policy 'device /etc/passwd'
	# The helper lets go a leader that has failed; a leader fails that has not read that it was let go.
	for delay in sendto:delay_enter=400000 'fsopen:delay_enter=100000 -e inject=sendto:delay_exit=600000'; do
		# shellcheck disable=SC2086  # two words of options
		run timeout 60 strace -f -u "$USERS-a" -o "$BATS_TEST_TMPDIR/trace" -e trace=sendto,fsopen,read,write \
			-e inject=$delay lodger create
		exits 125
		says 'not a character device'
		grep -q 'DELAYED' "$BATS_TEST_TMPDIR/trace"
	done
}

@test "a session has sixty-four terminals and no more" {
	run inside 'perl -e "my @f; while (open my \$f, q(+<), q(/dev/ptmx)) { push @f, \$f } print scalar(@f), qq( \$!\n)"'
	[[ ${lines[0]} =~ ^([0-9]+)\ No\ space ]]
	[ "${BASH_REMATCH[1]}" -le 64 ]
	[ "${BASH_REMATCH[1]}" -ge 48 ]
}
