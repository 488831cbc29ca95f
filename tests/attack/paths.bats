# What the helper opens by name: nobody but root can put anything in the way, nothing is followed, and
# none of it is named by the caller.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell
# shellcheck disable=SC2153,SC2154  # OPEN and the like are rawhelper.bash's; bats' own

load attack

# paths_of COMMAND…: every path that the helper names to the kernel in COMMAND, which calls it, made
# absolute; the session's processes are not followed.
paths_of() {
	timeout 60 strace -y -f -o "$BATS_TEST_TMPDIR/trace" -u "$USERS-a" \
		-e trace=open,openat,openat2,mkdir,mkdirat,unlink,unlinkat,symlinkat,chmod,fchmodat,fchownat,faccessat,faccessat2,statfs,newfstatat,bind,connect,execve,execveat,chdir,readlink,readlinkat,rename,renameat2,open_tree \
		"$@" >/dev/null
	# From the helper's exec on, of that process alone.
	local pid
	pid=$(sed -n 's/^\([0-9]*\) .*execve(".*lodger-helper", .*/\1/p' "$BATS_TEST_TMPDIR/trace" | head -1)
	sed -n "/^$pid .*execve(\".*lodger-helper\"/,\$p" "$BATS_TEST_TMPDIR/trace" | grep "^$pid " | tail -n +2 |
		perl -ne 'next if /\(-1, "[^\/"]+".* EBADF /; # on cgroup v2: a hierarchy of v1
			if (/sun_path="([^"]+)"/) { print "$1\n" }
			elsif (/symlinkat\("[^"]*", \d+<([^>]+)>, "([^"\/][^"]*)"/) { print "$1/$2\n" }
			elsif (/\(\d+<([^>]+)>, "([^"\/][^"]*)"/) { print "$1/$2\n" }
			elsif (/\((?:AT_FDCWD(?:<[^>]*>)?, )?"(\/[^"]*)"/) { print "$1\n" }
			elsif (/"([^"]+)"/) { print "relative: $_" }' | sort -u
}

@test "every path that it opens has root's directories above it alone" {
	local path above checked=0 least=20
	# One hierarchy of cgroups, where v1 has three.
	[ ! -f /sys/fs/cgroup/cgroup.controllers ] || least=10
	local -A seen=()
	made --create "$OPEN"
	# Without a tie that is open: strace follows the session until it ends.
	{ paths_of "$HOST_PROBES/rawhelper" --create && paths_of "$HOST_PROBES/rawhelper" --destroy="$NUMBER" &&
		paths_of "$HOST_PROBES/rawhelper" --collect; } | sort -u >"$BATS_TEST_TMPDIR/paths"
	as a lodger destroy --all
	grep -q "^/run/lodger/sessions" "$BATS_TEST_TMPDIR/paths"
	grep -q "^/etc/lodger/lodger.conf$" "$BATS_TEST_TMPDIR/paths"
	run ! grep -E "^relative:|/home/|/tmp|\.\./" "$BATS_TEST_TMPDIR/paths"
	while read -r path; do
		for ((above = 1; above; )); do
			path=${path%/*}
			path=${path:-/}
			[ -z "${seen[$path]-}" ] || break
			seen[$path]=1
			[ ! -d "$path" ] || {
				[ "$(stat -c %u "$path")" = 0 ] || [[ $path == /proc/self* ]]
				[ -z "$(find "$path" -maxdepth 0 -perm /022 ! -path '/proc*')" ]
				checked=$((checked + 1))
			}
			[ "$path" != / ] || above=0
		done
	done <"$BATS_TEST_TMPDIR/paths"
	[ "$checked" -gt "$least" ]
}

@test "of two hundred hostile variables no path comes to be opened, as a user or as root" {
	local trap=/home/$USERS-a/lodger-trap words=() i name
	for name in LD_{PRELOAD,LIBRARY_PATH,AUDIT,DEBUG_OUTPUT,PROFILE,PROFILE_OUTPUT,ORIGIN_PATH,USE_LOAD_BIAS,BIND_NOW} GCONV_PATH LOCPATH \
		NLSPATH MALLOC_TRACE TMPDIR TZ TZDIR HOSTALIASES RES_OPTIONS LOCALDOMAIN RESOLV_HOST_CONF GETCONF_DIR HOME PATH IFS ENV BASH_ENV \
		PYTHONPATH PERL5LIB PERLLIB GLIBC_TUNABLES XDG_RUNTIME_DIR SYSTEMD_LOG_TARGET DBUS_{SYSTEM,SESSION}_BUS_ADDRESS TERMINFO TERMCAP \
		POSIXLY_CORRECT OUTPUT_CHARSET CHARSET LC_{ALL,CTYPE,MESSAGES,TIME} LANG LANGUAGE; do
		words+=("$name=$trap")
	done
	for ((i = ${#words[@]}; i < 200; i++)); do
		words+=("LODGER_$i=$trap" "LIBSECCOMP_$i=$trap")
	done
	for user in "$USERS-a" root; do
		timeout 60 strace -f -u "$user" -o "$BATS_TEST_TMPDIR/trace" -s 400 -e trace=file,network env "${words[@]}" \
			"$HOST_PROBES/rawhelper" --create >"$BATS_TEST_TMPDIR/out"
		grep -q '^code OK' "$BATS_TEST_TMPDIR/out"
		# The environments that env and rawhelper hand to execve are not what is looked for.
		[ -z "$(grep lodger-trap "$BATS_TEST_TMPDIR/trace" | grep -v 'execve(')" ]
		lodger collect
	done
	# Control: a program that heeds them.
	timeout 60 strace -f -o "$BATS_TEST_TMPDIR/trace" -s 400 -e trace=file env "${words[@]}" /usr/bin/env true || true
	grep lodger-trap "$BATS_TEST_TMPDIR/trace" | grep -qv 'execve('
}

@test "a directory of sessions that others could write to, or that is a link, refuses everything" {
	local change text
	while IFS='|' read -r text change; do
		run elsewhere 'mount -t tmpfs -o mode=755 none /run/lodger; T=$T; '"$change"'
			for request in --create --destroy=7 --collect; do as a "$HOST_PROBES/rawhelper" $request; done'
		[ "$(grep -c '^code SYSTEM' <<<"$output")" = 3 ] || { echo "$change: $output" && return 1; }
		says "$text"
	done <<-'END'
		must be root's and writable by root alone|chmod 777 /run/lodger
		must be root's and writable by root alone|chmod 775 /run/lodger
		must be root's and writable by root alone|chown $USERS-a /run/lodger
		must be root's and writable by root alone|mkdir -m 777 /run/lodger/sessions
		must be root's and writable by root alone|install -d -o $USERS-a -m 755 /run/lodger/sessions
		opening the directory sessions|mkdir $T/mine; chown $USERS-a $T/mine; ln -s $T/mine /run/lodger/sessions
		opening the directory sessions|touch /run/lodger/sessions
		opening the directory root|mkfifo /run/lodger/root
		must be root's and writable by root alone|mkdir -m 777 /run/lodger/root
	END
	# Control: an empty one is made what it is to be.
	run elsewhere 'mount -t tmpfs -o mode=755 none /run/lodger; as a "$HOST_PROBES/rawhelper" --create; as a "$HOST_PROBES/rawhelper" --collect
		stat -c %a /run/lodger /run/lodger/sessions /run/lodger/root /run/lodger/lock'
	answers 'exit 0' 'code OK'
	[ "$(tail -4 <<<"$output" | paste -sd' ')" = '755 755 700 600' ]
}

@test "a lock that is a link, a record that is one, and what stands where a session is to be made" {
	run elsewhere 'mount -t tmpfs -o mode=755 none /run/lodger; echo kept >$T/kept; ln -s $T/kept /run/lodger/lock
		as a "$HOST_PROBES/rawhelper" --create; cat $T/kept'
	says 'code SYSTEM' 'taking the lock' kept
	# The next numbers are taken by what is no session: it goes on behind them, and touches none.
	run elsewhere 'mount -t tmpfs -o mode=755 none /run/lodger; mkdir -m 755 $T/mine /run/lodger/sessions; echo kept >$T/mine/socket
		ln -s $T/mine /run/lodger/sessions/1; touch /run/lodger/sessions/2; mkdir /run/lodger/sessions/3
		as a "$HOST_PROBES/rawhelper" --create; as a "$HOST_PROBES/rawhelper" --destroy=1; as b "$HOST_PROBES/rawhelper" --collect; cat $T/mine/*'
	says 'code OK field - session 4' kept
	# A record through a link is none, so that nobody is its owner.
	run elsewhere 'mount -t tmpfs -o mode=755 none /run/lodger; as a "$HOST_PROBES/rawhelper" --create --fd=0:/proc/self/fd/0
		cd /run/lodger/sessions/1; cp record $T/record; ln -sf $T/record record; (sleep 2; mv $T/record record) & as a timeout 60 "$HOST_PROBES/rawhelper" --destroy=1; wait'
	says 'code OK field - session 1'
}

@test "in a user namespace with files of its own in every place, the helper is nobody's root" {
	as a unshare -r true || skip 'users cannot make user namespaces here'
	run as a unshare -rm bash -c 'mount -t tmpfs none /etc/lodger && printf "maximum memory 1T\nexpose /root\n" >/etc/lodger/lodger.conf
		mount -t tmpfs none /run/lodger && mount -t tmpfs none /run/userdb; "$1" --create; ls -A /run/lodger' - "$HOST_PROBES/rawhelper"
	says 'code CALLER' 'called from a user namespace'
	[ "$(grep -cE '^(lock|sessions|root)$' <<<"$output")" = 0 ]
	run as a unshare -rm bash -c 'mkdir -p jail && mount --rbind / jail && mount -t tmpfs none jail/etc/lodger && exec /usr/sbin/chroot jail "$1" --create' \
		- "$HOST_PROBES/rawhelper"
	says 'code CALLER' 'called from a user namespace'
	rmdir "/home/$USERS-a/jail"
	# Control: in there they are the caller's.
	run as a unshare -rm bash -c 'mount -t tmpfs none /etc/lodger && touch /etc/lodger/mine && ls /etc/lodger'
	[ "$output" = mine ]
}
