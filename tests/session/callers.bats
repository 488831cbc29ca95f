# What of its own state a caller can hand to the set-user-ID helper through execve(2), and what it can
# do to it while it works. Each is refused by a sentence that names it, or is without effect.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell

load ../lib/lodger
load ../lib/rawhelper

# agent_state NUMBER: what the session's first process has of its caller's.
agent_state() {
	local pid
	pid=/proc/$(ps -o pid= -u $((UID_FIRST - 1 + $1)) | head -1 | tr -d ' ')
	ls "$pid/fd" && cat "$pid/limits" && grep -E '^(Sig(Ign|Blk)|ShdPnd|Umask|CoreDumping|Cap|Seccomp:)' "$pid/status"
	cut -d' ' -f18,19,40,41 "$pid/stat"
}

@test "the helper talks through two pipes or not at all" {
	local what file=/home/$USERS-a/written
	echo kept >"$file"
	chown "$USERS-a:" "$file"
	for what in closed null terminal directory mem uid_map "$file"; do
		exited 4 --create --fd=0:"$what"
		exited 4 --create --fd=1:"$what"
		exited 4 --collect --fd=0:"$what" --fd=1:"$what"
	done
	# Pipes, but nobody's to read from and to write to.
	exited 5 --create --fd=0:swapped
	exited 0 --create --fd=1:/proc/self/fd/0
	as a lodger collect
	# Descriptor 2 is never written to; the C library opens one that is closed.
	for what in closed null terminal directory mem "$file"; do
		made --create --fd=2:"$what"
		destroyed
		refused REQUEST frame 'before it was whole' --fd=2:"$what" --cut=1
		exited 3 --create --fd=2:"$what" --arg=x
	done
	[ "$(cat "$file")" = kept ]
	rm "$file"
}

@test "the session has none of its caller's descriptors, signals, limits or scheduling" {
	local control state
	made --create "$OPEN"
	control=$(agent_state "$NUMBER")
	[ "$(wc -l <<<"$control")" -gt 20 ]
	destroyed
	for state in --many-descriptors --ignore --block '--ignore --block --umask=0' --umask=777 \
		'--limit=NOFILE:700 --many-descriptors' '--limit=CORE:1 --limit=CPU:4000' --fd=2:closed; do
		# shellcheck disable=SC2086  # words
		made --create "$OPEN" $state
		agent_state "$NUMBER" >"$BATS_TEST_TMPDIR/state"
		# A limit that root may not raise again stays, by the caller's own will.
		if [[ $state == *limit* ]]; then
			diff <(grep -vE '^Max (cpu|open|core)' <<<"$control") <(grep -vE '^Max (cpu|open|core)' "$BATS_TEST_TMPDIR/state")
		else
			diff <(echo "$control") "$BATS_TEST_TMPDIR/state"
		fi
		works a "lodger-$NUMBER"
		destroyed
	done
}

@test "the files of a session have their modes whatever the umask was" {
	local umask
	for umask in 0 777; do
		made --create "$OPEN" --umask="$umask"
		[ "$(cd /run/lodger/sessions && stat -c '%n %a %U' "$NUMBER" "$NUMBER"/{lock,record,socket})" = "$NUMBER 711 root
$NUMBER/lock 600 root
$NUMBER/record 644 root
$NUMBER/socket 600 $USERS-a" ]
		[ "$(cgroup_directories | grep "/$NUMBER\$" | xargs stat -c '%a %U' | sort -u)" = '755 root' ]
		[ "$(cgroup_directories | grep "/$NUMBER\$" | xargs -I{} find {} -perm /022 | wc -l)" = 0 ]
		in_session a "lodger-$NUMBER" '[ "$(stat -c "%a %U" ~)" = "700 lodger-'"$NUMBER"'" ] && [ "$(stat -c %a /tmp /)" = "1777
755" ]'
		destroyed
	done
}

@test "an argument, or another name than its own, is refused in silence" {
	exited 3 --create --no-args
	exited 3 --create --arg=x
	exited 3 --create --arg=
	exited 3 --create --arg=--help --arg=x
	local name
	for name in '' lodger-helpe lodger-helper-x "$HELPER" ./lodger-helper -lodger-helper 'lodger-helper '; do
		run as a bash -c 'exec -a "$1" "$2" </dev/null' - "$name" "$HELPER"
		exits 3
		[ -z "$output" ]
	done
	# Control: the right name comes as far as the descriptors.
	run as a bash -c 'exec -a lodger-helper "$1" </dev/null' - "$HELPER"
	exits 4
}

# too_small NAME N: with such a limit nothing can be started at all.
too_small() {
	! as a bash -c 'exec "$1" --program=/bin/true --limit="$2:$3"' - "$HOST_PROBES/rawhelper" "$1" "$2" | grep -qx 'exit 0'
}

@test "a low resource limit is lifted or refused by its name, and stops nothing half way" {
	local name least values value
	while read -r name least values; do
		for value in $values; do
			raw --create --limit="$name:$value"
			case ${lines[0]} in
			'exit 0') [[ ${lines[1]} == 'code '@(OK\ *|"CALLER field RLIMIT_$name session 0") ]] ;;
			'signal 11' | 'exit 98') too_small "$name" "$value" ;;
			# The kernel takes 0 for one second, which is over on a slow machine before the helper's
			# first step. What it may have left is looked at below, as after every other.
			'signal 9' | 'signal 24') [ "$name" = CPU ] && [[ ${lines[1]} == 'no reply (0 bytes)' ]] ;;
			*) false ;;
			esac || { echo "$name:$value" "$output" && return 1; }
		done
		[ "$least" = - ] || made --create --limit="$name:$least"
	done <<-END
		AS 1073741824 0 4096 1048576 2097152 4194304 16777216 1073741823
		DATA 1073741824 0 4096 1048576 16777216 1073741823
		STACK 1048576 0 4096 65536 131072 262144 1048575
		FSIZE 1073741824 0 1 4 100 65536 1073741823
		NOFILE 256 0 1 2 3 4 5 8 16 255
		NPROC 1024 0 1 2 1023
		CPU 3600 0 1 3599
		MEMLOCK 0 0 1 4096
		SIGPENDING 64 0 1 63
		CORE 1 0
	END
	as a lodger collect
	# At 0, unlike at 1, a core dump's handler is run (core(5)).
	raw --create "$OPEN" --limit=CORE:0
	if [[ ${lines[1]} == 'code OK '* ]]; then
		NUMBER=${lines[1]##* }
		agent_state "$NUMBER" | grep '^Max core file size *1 *1 '
		destroyed
	else
		says RLIMIT_CORE
	fi
	made --create "$OPEN" --limit=AS:1073741824 --limit=DATA:1073741824 --limit=STACK:1048576 --limit=FSIZE:1073741824 \
		--limit=NOFILE:256 --limit=NPROC:1024 --limit=CPU:3600 --limit=MEMLOCK:0 --limit=SIGPENDING:64 --limit=CORE:1
	works a "lodger-$NUMBER"
	destroyed
}

@test "without root's rights, or with strange ones, the helper says so" {
	refused CALLER - 'not running as root' --create --no-new-privs
	refused CALLER - 'not running as root' --collect --traced
	refused CALLER - 'leader of a process group; fork first' --create --leader
	export -f as
	export USERS HELPER
	run unshare -m bash -c 'mount --bind "$1" "$1" && mount -o remount,bind,nosuid "$1" && as a "$2" --create' - \
		"${HELPER%/*}" "$HOST_PROBES/rawhelper"
	answers 'exit 0' 'code CALLER field - ' 'not running as root'
	# changed OPTION…: a caller whom root has made something of.
	changed() { run setpriv --regid="$USERS-a" "$@" "$HOST_PROBES/rawhelper" --create; }
	changed --reuid="$USERS-a" --groups=lodger --securebits=+no_setuid_fixup
	answers 'exit 0' 'code CALLER field - ' 'called with securebits set'
	changed --reuid="$USERS-a" --groups="lodger,$(seq -s, 70001 70300)"
	answers 'exit 0' 'code CALLER field - ' 'called with more than 256 groups'
	changed --groups=lodger --reuid="$UID_LAST"
	answers 'exit 0' 'code CALLER field - ' 'a lodger cannot'
	# Control: a caller that root has made nothing of.
	changed --reuid="$USERS-a" --groups="lodger,$(seq -s, 70001 70250)"
	answers 'exit 0' 'code OK field - '
	as a lodger collect
}

@test "in a user namespace the helper is nobody's root" {
	as a unshare -r true || skip 'users cannot make user namespaces here'
	local options
	for options in -r -rm -rp '-rn --fork' -rmpC; do
		# shellcheck disable=SC2086  # words
		run as a unshare $options --fork "$HOST_PROBES/rawhelper" --create
		answers 'exit 0' 'code CALLER field - ' 'called from a user namespace'
	done
	run as a unshare -U "$HOST_PROBES/rawhelper" --create
	answers 'exit 0' 'code CALLER field - '
}

@test "another file of the same program has no rights, another name of the file changes nothing" {
	as a bash -c 'cp "$1" copy && chmod 4755 copy && ln -sf "$1" link' - "$HELPER"
	refused CALLER - 'not running as root' --create --program="/home/$USERS-a/copy"
	made --create --program="/home/$USERS-a/link"
	destroyed
	run as a ln "$HELPER" hard
	if [ "$status" = 0 ]; then
		made --create --program="/home/$USERS-a/hard"
		destroyed
	fi
	as a rm -f copy link hard
}

@test "who is not in the group cannot run the helper, nor read it" {
	run as c "$HOST_PROBES/rawhelper" --create
	answers 'exit 98'
	run as c cat "$HELPER"
	says 'Permission denied'
	run as c lodger create
	exits 125
	says 'not in the group lodger'
}

# environment_trace PROGRAM…: what it opens and looks for, with all variables set that a library may heed.
environment_trace() {
	local trap=/home/$USERS-a/lodger-trap name words=()
	for name in LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_DEBUG_OUTPUT LD_PROFILE LD_PROFILE_OUTPUT GCONV_PATH LOCPATH NLSPATH \
		MALLOC_TRACE TMPDIR TZ TZDIR HOSTALIASES RES_OPTIONS LOCALDOMAIN RESOLV_HOST_CONF GETCONF_DIR HOME PATH; do
		words+=("$name=$trap")
	done
	timeout 300 strace -f -u "$USERS-a" -o "$BATS_TEST_TMPDIR/trace" \
		-e trace=open,openat,openat2,access,faccessat,faccessat2,stat,newfstatat,statx,readlink,mkdir,socket \
		env "${words[@]}" LD_DEBUG=all MALLOC_CHECK_=3 MALLOC_PERTURB_=90 LC_ALL=lodger-trap LANGUAGE=lodger-trap \
		GLIBC_TUNABLES=glibc.malloc.check=3 "$@"
}

@test "the environment has no effect" {
	run environment_trace "$HOST_PROBES/rawhelper" --create
	answers 'exit 0' 'code OK field - '
	grep -q "$POLICY" "$BATS_TEST_TMPDIR/trace" || grep -q '"lodger.conf"' "$BATS_TEST_TMPDIR/trace"
	run ! grep lodger-trap "$BATS_TEST_TMPDIR/trace"
	[ ! -e "/home/$USERS-a/lodger-trap" ]
	# Control: a program that heeds it.
	run environment_trace /bin/true
	grep -q lodger-trap "$BATS_TEST_TMPDIR/trace"
	as a lodger collect
}

@test "a directory that is gone or closed does not matter" {
	run as a bash -c 'mkdir gone && cd gone && rmdir ../gone && exec "$1" --create' - "$HOST_PROBES/rawhelper"
	answers 'exit 0' 'code OK'
	run as a bash -c 'mkdir shut && cd shut && chmod 0 ../shut && rmdir -p ../shut/x; "$1" --create; rmdir ../shut' - \
		"$HOST_PROBES/rawhelper"
	says 'code OK'
	made --create --directory=/proc/self/fd
	as a lodger collect
}

@test "once it is root no signal of its caller's reaches the helper" {
	local request sent
	made --create "$OPEN"
	for request in --create --collect --create --destroy="$NUMBER" --destroy="$NUMBER" --create; do
		raw "$request" --storm
		answers 'exit 0' 'storm 0 of ' 'code '
		sent=${lines[1]##* }
		[ "$sent" -ge 64 ]
	done
	as a lodger collect
}

# early OPTION: helpers that get it at moments from before their start to after their end, all at
# once, while another caller works. Prints how they ended.
early() {
	local usec
	for usec in 1 50 100 200 300 400 500 700 900 1200 1600 2000 3000 5000 8000 12000 200000; do
		background as a "$HOST_PROBES/rawhelper" --create "--$1$usec" --seconds=3 >"$BATS_TEST_TMPDIR/early.$usec"
	done
	as b timeout 300 bash -c 'for i in 1 2 3 4 5 6 7 8; do lodger run -- true || exit 1; done'
	wait "${BACKGROUND[@]}"
	BACKGROUND=()
	head -qn1 "$BATS_TEST_TMPDIR"/early.* | sort | uniq -c
	as b lodger collect
}

# early_until OPTION TEXT…: calls it until each of the ends has been seen: at what moment a signal
# arrives is the scheduler's.
early_until() {
	local option=$1 text seen=
	shift
	for _ in {1..20}; do
		seen+=$(early "$option")
		for text; do
			[[ $seen == *"$text"* ]] || continue 2
		done
		return 0
	done
	printf '%s\n' "$seen"
	return 1
}

@test "a helper that its caller stopped, killed or timed before it was root is in nobody's way" {
	early_until signal=19: hangs 'exit 0'
	early_until signal=9: 'signal 9' 'exit 0'
	run early timer=
	says 'exit 0'
	run ! grep -vE '^ *[0-9]+ (exit 0|signal 14)$|collected|removed' <<<"$output"
	until_true 10 eval '[ -z "$(lodger_processes)" ]'
	as b lodger collect
}
