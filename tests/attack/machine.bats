# What crosses the machine: crashes, clocks, state that somebody made up, first starts, processes where they
# do not belong. As root where only root could have made it so.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell

load ../lib/lodger

setup() {
	T=$BATS_TEST_TMPDIR
}

teardown() {
	[ ! -e "$T/core_pattern" ] || cat "$T/core_pattern" >/proc/sys/kernel/core_pattern
	lodger_teardown
}

# handler_plant: the host's crashes go to a program from now on, which writes a line for each.
handler_plant() {
	HANDLER=/usr/local/lib/lodger-planted-handler
	PLANTED+=("$HANDLER")
	mkdir -p "$HANDLER"
	printf '#!/bin/sh\necho "$2" >>%s/ran\ncat >/dev/null\n' "$HANDLER" >"$HANDLER/handler"
	chmod 755 "$HANDLER" "$HANDLER/handler"
	: >"$HANDLER/ran"
	cat /proc/sys/kernel/core_pattern >"$T/core_pattern"
	echo "|$HANDLER/handler %p %u" >/proc/sys/kernel/core_pattern
}

@test "what crashes in a session never runs the host's handler of core dumps" {
	local uid
	[ -w /proc/sys/kernel/core_pattern ] || skip 'core_pattern cannot be set here'
	create a
	uid=$((UID_FIRST - 1 + $(session_number "$SESSION")))
	host_probe identity
	handler_plant
	in_session a "$SESSION" 'for signal in SEGV ABRT QUIT SYS BUS TRAP; do sh -c "kill -$signal \$\$"; done
		ulimit -Sc 0; ulimit -Hc 0; ulimit -c 0; sh -c "kill -SEGV \$\$"
		ulimit -Sc unlimited; sh -c "kill -SEGV \$\$"
		perl -e "require q(syscall.ph)" 2>/dev/null
		# setrlimit(2) and prlimit64(2) themselves, to 0 and to all.
		for size in 0 -1; do for call in "160, 4, \$l" "302, 0, 4, \$l, 0"; do
			perl -e "my \$l = pack(q(q2), $size, $size); syscall($call); kill SEGV => \$\$"; done; done
		prlimit --core=0:0 sh -c "kill -SEGV \$\$"; echo 0x3f >/proc/self/coredump_filter; sh -c "kill -SEGV \$\$"; true' || true
	sleep 1
	! grep -qx "$uid" "$HANDLER/ran" || return 1
	[ -z "$(in_session a "$SESSION" 'find / -xdev -name "core*" -newer .bashrc -type f 2>/dev/null; ls | grep core')" ]
	grep -qE '^Max core file size +1 +1 ' <<<"$(in_session a "$SESSION" 'ulimit -c 0; cat /proc/self/limits')"
	# Control: what crashes outside does.
	as a sh -c 'kill -SEGV $$' || true
	until_true 10 grep -qx "$(id -u "$USERS-a")" "$HANDLER/ran"
}

@test "a pointer without a lower half gets no other limit of core dumps either" {
	[ "$(uname -m)" = x86_64 ] || skip 'the addresses are those of x86_64'
	create a
	run in_session a "$SESSION" 'perl -e "
		my \$page = syscall(9, 0x100000000, 4096, 3, 0x32, -1, 0);
		die qq(no page: \$page) unless \$page == 0x100000000;
		print qq(set ), syscall(302, 0, 4, 0x100000000, 0), qq(\n);
		system q(grep core /proc/self/limits);"'
	exits 0
	says 'set 0' 'Max core file size        1                    1'
}

@test "wall clock and record do not decide when a session ends" {
	local number agent fd
	create a --ttl 1h
	number=$(session_number "$SESSION")
	# The one timer that the session ends by counts from boot, suspended time included.
	agent=$(pgrep -o -u $((UID_FIRST - 1 + number)))
	fd=$(grep -l '^clockid' /proc/"$agent"/fdinfo/*)
	grep -qx 'clockid: 7' "$fd"
	[ "$(grep -h ^clockid /proc/"$agent"/fdinfo/* | wc -l)" = 1 ]
	# The record's wall clock, ten years off.
	cp -p "/run/lodger/sessions/$number/record" "$T/record"
	perl -e 'my ($file, $by) = @ARGV; open my $f, "+<", $file; sysread $f, my $r, 4096; my $now = time; my $hit = 0;
		for my $at (0 .. length($r) / 8 - 1) { my $v = unpack "Q", substr $r, $at * 8, 8;
			if (abs($v - $now) < 1000) { substr $r, $at * 8, 8, pack "Q", $v + $by; $hit++ } }
		die "no wall clock" unless $hit == 1; sysseek $f, 0, 0; syswrite $f, $r' "/run/lodger/sessions/$number/record" 315360000
	as b lodger collect
	as a lodger list --json | jq -e ".[] | select(.session == \"$SESSION\") | .state == \"live\" and .remaining > 3000"
	works a "$SESSION"
	as a lodger destroy "$SESSION"
}

@test "who lives in another time neither ends a session nor keeps one" {
	unshare --time --boottime 1000 true 2>/dev/null || skip 'no time namespaces here'
	create a --ttl 1h
	local offset
	for offset in 315360000 86400; do
		unshare --time --boottime "$offset" --monotonic "$offset" --fork bash -c \
			"$(declare -f as); USERS=$USERS; as b lodger collect; as a lodger list; as a lodger show $SESSION; as a lodger exec $SESSION -- true"
	done
	works a "$SESSION"
	as a lodger show "$SESSION" --json | jq -e '.state == "live" and .remaining > 3000'
	# Made in another time, it ends by that time's clock: once, and not late.
	SESSION=$(unshare --time --boottime 315360000 --fork bash -c "$(declare -f as); USERS=$USERS; as a lodger create --ttl 2s")
	until_true 20 eval '[ -z "$(processes_of $((UID_FIRST - 1 + $(session_number "$SESSION"))))" ]'
	as b lodger collect
	[ ! -e "/run/lodger/sessions/$(session_number "$SESSION")" ]
}

@test "what only looks like a session is neither used nor destroyed" {
	local number=64999 user forged name
	# No user can make one.
	for user in a b c; do
		run as "$user" bash -c "mkdir /run/lodger/sessions/$number; mkdir /run/lodger/x; ln -s /tmp /run/lodger/sessions/$number; true"
		[ "$(grep -c 'Permission denied' <<<"$output")" = 3 ]
	done
	create a
	background as b sleep 88411
	until_true 10 pgrep -f '^sleep 88411'
	# Made by root, whose record is another's, is cut, or names another uid: as if half made.
	mkdir -m 711 "/run/lodger/sessions/$number"
	PLANTED+=("/run/lodger/sessions/$number")
	touch "/run/lodger/sessions/$number/lock"
	for forged in cat 'head -c 20' 'perl -0777 -pe "substr \$_, 4, 8, pack q(L2), $number, 0"' \
		'perl -0777 -pe "substr \$_, 4, 4, pack q(L), $number"'; do
		install -d -m 711 "/run/lodger/sessions/$number"
		touch "/run/lodger/sessions/$number/lock"
		eval "$forged" <"/run/lodger/sessions/$(session_number "$SESSION")/record" >"/run/lodger/sessions/$number/record"
		run as a lodger list --all
		[[ $output != *"lodger-$number "* ]]
		run as a timeout 40 lodger exec "lodger-$number" -- true
		exits 125
		run as a timeout 40 lodger destroy "lodger-$number"
		works a "$SESSION"
		pgrep -f '^sleep 88411'
	done
	# The names of what is no session are no names.
	for name in ../sessions/1 1 lodger-0 lodger-01 lodger-65536 "lodger-$number/../1" lodger-1/ ''; do
		run as a lodger exec "$name" -- true
		exits 125
		run as a lodger destroy "$name"
		exits 125
	done
	works a "$SESSION"
}

@test "state that others could have made is refused" {
	local change
	host_probe rawhelper
	while IFS= read -r change; do
		run elsewhere 'mount -t tmpfs -o mode=755 tmpfs /run/lodger; '"$change"'; as a "$HOST_PROBES/rawhelper" --create 2>&1 || true'
		[[ $output == *'code SYSTEM'* ]] || { echo "$change: $output" && return 1; }
	done <<-'END'
		chmod 777 /run/lodger
		chmod 775 /run/lodger
		chown $USERS-a /run/lodger
		mkdir -m 777 /run/lodger/sessions; chmod 777 /run/lodger/sessions
		mkdir /run/lodger/sessions; chown $USERS-a /run/lodger/sessions
		mkdir /run/lodger/elsewhere; ln -s elsewhere /run/lodger/sessions
		mkfifo /run/lodger/sessions
		mkdir /run/lodger/elsewhere; ln -s elsewhere /run/lodger/root
		mkdir /run/lodger/root; chown $USERS-b /run/lodger/root
		: >/run/lodger/file; ln -s file /run/lodger/lock
		mkfifo /run/lodger/lock
	END
	# Control.
	run elsewhere 'mount -t tmpfs -o mode=755 tmpfs /run/lodger; chmod 755 /run/lodger; as a "$HOST_PROBES/rawhelper" --create'
	says 'code OK'
	# It was tied to rawhelper and is in no directory of ours: its cgroup is what is left.
	until_true 10 eval '[ -z "$(lodger_processes)" ]'
	rmdir_cgroups
}

# The cgroups of sessions whose directories are not there any more.
rmdir_cgroups() {
	local path
	for path in $(cgroup_directories); do
		[[ ! ${path##*/} =~ ^[0-9]+$ ]] || [ -e "/run/lodger/sessions/${path##*/}" ] || rmdir "$path" 2>/dev/null || true
	done
}

@test "fifty first sessions at once, where there was nothing, are fifty" {
	elsewhere 'mount -t tmpfs -o mode=755 tmpfs /run/lodger; mkdir -m 777 "$T/out"; export T
		chmod 711 "${T%/*/*}" "${T%/*}" "$T"
		as a bash -c "for i in {1..50}; do lodger create >$T/out/\$i 2>&1 & done; wait"
		[ "$(cat "$T"/out/* | grep -c "^lodger-[0-9]*$")" = 50 ]
		[ "$(cat "$T"/out/* | sort -u | wc -l)" = 50 ]
		[ "$(stat -c "%a %u" /run/lodger /run/lodger/sessions /run/lodger/root /run/lodger/lock | xargs)" = "755 0 755 0 700 0 600 0" ]
		as a lodger destroy --all >/dev/null
		[ -z "$(ls /run/lodger/sessions)" ]'
}

@test "a process that was moved out of its session's cgroup dies with it all the same" {
	local uid pid path
	create a
	uid=$((UID_FIRST - 1 + $(session_number "$SESSION")))
	background as a lodger exec "$SESSION" -- sh -c 'exec sleep 88421'
	until_true 20 pgrep -u "$uid" -f '^sleep 88421'
	pid=$(pgrep -u "$uid" -f '^sleep 88421')
	for path in /sys/fs/cgroup/{memory,pids,cpu,cpuacct}/cgroup.procs /sys/fs/cgroup/cgroup.procs; do
		[ ! -e "$path" ] || echo "$pid" >"$path"
	done
	as a timeout 25 lodger destroy "$SESSION"
	until_true 10 eval '[ -z "$(processes_of "$uid")" ]'
}

@test "a record in userdb that is a link, and what stands there already, lead nowhere" {
	local number next
	create a
	number=$(session_number "$SESSION")
	next=$((number % 65535 + 1))
	echo kept >"$T/kept"
	ln -s "$T/kept" "/run/userdb/lodger-$next.user"
	ln -s "$T/kept" "/run/userdb/lodger-$next.group"
	PLANTED+=("/run/userdb/lodger-$next.user" "/run/userdb/lodger-$next.group")
	create a
	[ "$SESSION" = "lodger-$next" ]
	[ "$(cat "$T/kept")" = kept ]
	works a "$SESSION"
	as a lodger destroy "$SESSION"
	[ "$(cat "$T/kept")" = kept ]
	[ ! -L "/run/userdb/lodger-$next.user" ]
}

@test "what others may read of a session is its figures, and no word of what it does" {
	create a
	background as a lodger exec --env TOKEN=geheim "$SESSION" -- bash -c 'exec -a worker sleep 88431'
	until_true 20 pgrep -f '^worker 88431'
	in_session a "$SESSION" 'echo geheim >file; echo geheim >/tmp/file'
	local user
	for user in b c; do
		run as "$user" bash -c 'cat /run/lodger/sessions/*/record /run/userdb/* /proc/[0-9]*/environ /proc/[0-9]*/root/tmp/file 2>/dev/null | grep -ac geheim
			ls /run/lodger/sessions/*/ 2>/dev/null | grep -v "^/\|^$" | head -3; lodger list --all; lodger show '"$SESSION"
		[[ ${lines[0]} = 0 && $output != *geheim* ]]
	done
	[ "$(stat -c '%n %a' /run/lodger/sessions/"$(session_number "$SESSION")"/* | sed 's|.*/||' | xargs)" = 'lock 600 record 644 socket 600' ]
}
