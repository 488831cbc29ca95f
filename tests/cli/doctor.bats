# lodger doctor: what it checks, and that each check that fails says what to do. What is broken here
# is broken in a mount namespace of the test's own.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # for `elsewhere`; each test is a subshell; bats' own

load cli

CHECKS='kernel,caller,cgroups,uid range,lodger names,group,helper,agent,policy,state,'
CHECKS+='nix-shell,channel,units,collect timer,system files,delegation,session,nix version,'
CHECKS+='package daemon,proxy,apparmor'

setup() {
	T=$BATS_TEST_TMPDIR
	mkdir "$T/empty"
}

# examined SCRIPT: runs it in a mount namespace, then doctor by user a, whose JSON becomes $found.
examined() {
	run --separate-stderr elsewhere "$1"$'\nas a lodger doctor --json'
	found=$output
	jq -e 'type == "object"' <<<"$found" >/dev/null || {
		printf 'output: %s\nstderr: %s\n' "$output" "$stderr"
		return 1
	}
	[ -z "$stderr" ]
}

# finds CHECK DETAIL ADVICE: fails unless that check failed, with both.
finds() {
	exits 1 || return
	jq -e --arg name "$1" --arg detail "$2" --arg advice "$3" '.ok == false and any(.checks[];
		.name == $name and .outcome == "failed" and (.detail | contains($detail))
		and (.advice | contains($advice)))' <<<"$found" >/dev/null || {
		printf 'not found: %s, %s, %s\n' "$@"
		jq -r '.checks[] | select(.outcome != "ok") | map_values(. // "-") | join(" | ")' <<<"$found"
		return 1
	}
}

# outcome CHECK OUTCOME: fails unless it has it.
outcome() {
	[ "$(jq -r ".checks[] | select(.name == \"$1\") | .outcome" <<<"$found")" = "$2" ]
}

@test "when all is well, each check is one line, and the last line says so" {
	run --separate-stderr as a lodger doctor
	succeeds
	[ "$(sed -nE 's/^(ok|info)  +([a-z-]+( [a-z]+)?)  .*/\2/p' <<<"$output" | paste -sd,)" = "$CHECKS" ]
	[ "${lines[-1]}" = 'All that is needed is there.' ]
	[[ $output != *FAILED* && $output != *'->'* ]]
	[ "$(sessions)" = 0 ]
}

@test "its JSON has all keys with their types" {
	run --separate-stderr as a lodger doctor --json
	succeeds
	jq -e --arg checks "$CHECKS" 'keys == ["checks", "ok"] and .ok == true
		and ([.checks[].name] | join(",")) == $checks
		and all(.checks[]; keys == ["advice", "detail", "name", "outcome"] and .advice == null
			and (.outcome | IN("ok", "info")) and (.detail | type == "string" and length > 0))' \
		<<<"$output"
}

@test "what fails is counted at the end, has its advice below, and makes the exit code 1" {
	policy 'nonsense'
	run --separate-stderr as a lodger doctor
	exits 1
	[ -z "$stderr" ]
	local line
	line=$(wc -l <"$POLICY")
	grep -qE "^FAILED   policy +collecting dead sessions: $POLICY, line $line: not a line" <<<"$output"
	grep -A 1 '^FAILED   policy' <<<"$output" | tail -1 | grep -qE \
		'^ {26}-> correct that line; lodger.conf\(5\) tells what there can be$'
	grep -qE '^FAILED   session +creating a session: ' <<<"$output"
	grep -qE '^skipped  nix version +only a session can tell$' <<<"$output"
	grep -qE '^skipped  package daemon +only a session can tell$' <<<"$output"
	[ "${lines[-1]}" = '2 checks failed.' ]
	policy_restore
	examined 'mount --bind /dev/null /usr/bin/nix-shell'
	jq -e '[.checks[] | select(.outcome == "failed") | .advice | type == "string"] | length > 0 and all' \
		<<<"$found"
}

@test "called by root it needs no group" {
	run --separate-stderr env PATH="${CLIENT_DIRECTORY:+$CLIENT_DIRECTORY:}/usr/local/bin:$PATH" \
		lodger doctor --json
	exits 0
	found=$output
	jq -e 'any(.checks[]; .name == "group" and .detail == "called by root, who needs no group")' \
		<<<"$found"
}

@test "kernel: one that is too old" {
	run --separate-stderr setarch --uname-2.6 bash -c "$(declare -f as); USERS=$USERS; as a lodger doctor --json"
	found=$output
	finds kernel 'needs 5.' 'install a newer kernel'
}

@test "caller: no_new_privs, a user namespace, a session" {
	run --separate-stderr as a setpriv --no-new-privs lodger doctor --json
	found=$output
	finds caller 'this process has no_new_privs' 'call lodger from a shell outside of that sandbox'
	# The checks that follow from it fail as well, and say that.
	finds session 'not running as root' 'see the checks above'
	run --separate-stderr as a lodger run -- lodger doctor --json
	found=$output
	finds caller 'this is a session itself' 'call lodger as an ordinary user'
	as a unshare --user --map-root-user true || skip 'no user namespaces here'
	run --separate-stderr as a unshare --user --map-root-user lodger doctor --json
	found=$output
	finds caller 'this process is in a user namespace of its own' 'outside of the container'
}

@test "cgroups: controllers that are missing, by name, in either version" {
	examined 'mount --bind "$T/empty" /sys/fs/cgroup'
	finds cgroups 'cgroup v1, without the controllers: memory pids cpu cpuacct' 'mount cgroup v2'
	finds cgroups 'cgroup v1' "or allow to be without: optional, in $POLICY"
	mkdir "$T/v2"
	echo 'cpuset cpu io' >"$T/v2/cgroup.controllers"
	examined 'mount --bind "$T/v2" /sys/fs/cgroup'
	finds cgroups 'cgroup v2, without the controllers: memory pids' 'cgroup_enable=memory'
}

@test "uid range: a user, a group, or a range of subordinate ids in it, by its line" {
	cp /etc/passwd "$T/passwd"
	echo "squatter:x:$UID_FIRST:1::/:/bin/sh" >>"$T/passwd"
	examined 'mount --bind "$T/passwd" /etc/passwd'
	finds 'uid range' "but /etc/passwd has: squatter:x:$UID_FIRST:" 'give that entry other numbers'
	cp /etc/group "$T/group"
	echo "squatters:x:$UID_LAST:" >>"$T/group"
	examined 'mount --bind "$T/group" /etc/group'
	finds 'uid range' "but /etc/group has: squatters:x:$UID_LAST:" 'SESSION_UID_BASE'
	local line file
	for line in "sub:$((UID_FIRST - 70000)):70001" "sub:$UID_LAST:1" 'sub:1:4000000000'; do
		printf 'other:100000:65536\n%s\n' "$line" >"$T/sub"
		for file in subuid subgid; do
			[ -e "/etc/$file" ] || continue
			examined 'mount --bind "$T/sub" /etc/'"$file"
			finds 'uid range' "but /etc/$file has: $line" 'give that entry other numbers'
		done
	done
	printf 'other:100000:65536\nx\n:::\nsub:%s:1000\nsub:%s:0\n' "$((UID_LAST + 1))" "$UID_FIRST" >"$T/sub"
	examined 'mount --bind "$T/sub" /etc/subuid'
	outcome 'uid range' ok
}

@test "lodger names: told, and no failure" {
	echo 'passwd: files' >"$T/nsswitch.conf"
	examined 'mount --bind "$T/nsswitch.conf" /etc/nsswitch.conf'
	exits 0
	outcome 'lodger names' info
	jq -e 'any(.checks[]; .detail | startswith("nss-systemd is not in /etc/nsswitch.conf"))' <<<"$found"
	echo 'passwd: files systemd' >"$T/nsswitch.conf"
	examined 'mount --bind "$T/nsswitch.conf" /etc/nsswitch.conf'
	jq -e 'any(.checks[]; .detail | startswith("nss-systemd is in use"))' <<<"$found"
}

@test "group: there is none, or the caller is not in it" {
	grep -v '^lodger:' /etc/group >"$T/group"
	examined 'mount --bind "$T/group" /etc/group'
	finds group 'there is no group lodger' 'addgroup --system lodger; then make install'
	run --separate-stderr as c lodger doctor --json
	found=$output
	finds group 'you are not in the group lodger (in this login)' 'adduser USER lodger; then log in'
	finds policy 'you are not in the group lodger' 'see the checks above'
}

@test "helper: missing, with another mode or owner, or on a file system that is nosuid" {
	examined 'mount --bind "$T/empty" /usr/local/libexec/lodger'
	finds helper "$HELPER: No such file or directory" 'make install'
	finds agent 'lodger-agent: No such file or directory' 'make install'
	install -o root -g lodger -m 755 "$HELPER" "$T/helper"
	examined 'mount --bind "$T/helper" '"$HELPER"
	finds helper 'mode 0755, instead of root, lodger, 4750' 'chown root:lodger, then chmod 4750'
	install -o "$USERS-a" -g lodger -m 4750 "$HELPER" "$T/helper"
	examined 'mount --bind "$T/helper" '"$HELPER"
	finds helper "has owner $(id -u "$USERS-a"), group " 'chown root:lodger'
	install -o root -g root -m 4755 "$HELPER" "$T/helper"
	examined 'mount --bind "$T/helper" '"$HELPER"
	finds helper 'group 0, mode 4755' 'chown root:lodger'
	examined 'mount --bind '"$HELPER $HELPER"'; mount -o remount,bind,nosuid '"$HELPER"
	finds helper 'is on a file system that is mounted nosuid' 'without that option'
}

@test "agent: with a mode by which it could be looked into" {
	install -m 755 "${HELPER%helper}agent" "$T/agent"
	examined 'mount --bind "$T/agent" '"${HELPER%helper}agent"
	finds agent 'has owner 0, mode 0755, instead of root, 0711' 'chown root:root, then chmod 711'
	outcome helper ok
}

@test "policy: missing, or not root's alone, or not understood" {
	examined 'mount --bind "$T/empty" /etc/lodger'
	finds policy "$POLICY: No such file or directory" 'make install puts a sample'
	mkdir "$T/rules"
	install -m 664 "$POLICY" "$T/rules/lodger.conf"
	examined 'mount --bind "$T/rules" /etc/lodger'
	finds policy "$POLICY is not root's alone to write" 'chown root, chmod go-w'
	install -o "$USERS-a" -m 644 "$POLICY" "$T/rules/lodger.conf"
	examined 'mount --bind "$T/rules" /etc/lodger'
	finds policy "$POLICY is not root's alone to write" 'chown root'
	install -m 644 "$POLICY" "$T/rules/lodger.conf"
	chmod 777 "$T/rules"
	examined 'mount --bind "$T/rules" /etc/lodger'
	finds policy "/etc/lodger is not root's alone to write" 'chmod go-w'
	chmod 755 "$T/rules"
	examined 'mount --bind "$T/rules" /etc/lodger'
	outcome policy ok
	policy 'default nothing 1'
	examined ''
	finds policy "line $(wc -l <"$POLICY"): no such limit" 'correct that line'
}

@test "state: not root's alone" {
	install -d -o "$USERS-a" "$T/run"
	examined 'mount --bind "$T/run" /run/lodger'
	finds state "/run/lodger is not a directory that is root's alone" 'remove it as root'
	# The policy's check, before it, collects what has ended.
	ended a
	create a
	examined ''
	outcome state ok
	jq -e 'any(.checks[]; .detail | test("^[1-9][0-9]* live, 0 ended$"))' <<<"$found"
}

@test "nix-shell: not where sessions look for it" {
	examined 'mount --bind /dev/null "$(readlink -f /usr/bin/nix-shell)"'
	finds nix-shell 'nix-shell is in none of /usr/local/bin, /usr/bin, /bin' 'apt-get install nix-bin'
	finds 'nix version' nix-shell ''
}

@test "channel: missing, dangling, or not protected from the garbage collector" {
	examined 'mount --bind "$T/empty" /var/lib/lodger'
	finds channel '/var/lib/lodger/channel: No such file or directory' 'lodger-channel'
	outcome 'package daemon' skipped
	mkdir "$T/lib"
	ln -s /nix/store/nothing "$T/lib/channel"
	examined 'mount --bind "$T/lib" /var/lib/lodger'
	finds channel 'channel leads to /nix/store/nothing: No such file' 'lodger-channel'
	finds 'package daemon' 'the daemon did not confirm the channel' 'systemctl start lodger-nix-daemon'
	examined 'mount --bind "$T/empty" /nix/var/nix/gcroots'
	finds channel "is not a garbage collector's root in /nix/var/nix/gcroots" \
		'or the next garbage collection removes it'
}

@test "session: what a policy without /usr lacks" {
	mkdir "$T/rules"
	grep -v '^expose' "$POLICY" >"$T/rules/lodger.conf"
	examined 'mount --bind "$T/rules" /etc/lodger'
	finds session true "the policy's expose lines must show /usr, /bin and /lib* to sessions"
	outcome 'nix version' skipped
}

@test "package daemon: none answers" {
	examined 'mount --bind "$T/empty" /run/lodger/packages'
	finds 'package daemon' '' 'systemctl start lodger-nix-daemon'
}

# A machine that systemd runs, as far as doctor looks at it, for `examined`: /run/systemd/system is
# there, cgroup v2 is as planted in $T/v2, and systemctl is a script that tells what stands in
# $T/units/UNIT. Sessions cannot be made there.
SYSTEMD='mkdir -p "$T/run"; mount --rbind /run "$T/run"; mount -t tmpfs tmpfs /run
	mkdir -p /run/systemd/system /run/lodger; mount --rbind "$T/run/lodger" /run/lodger
	mount --bind "$T/systemctl" "$(readlink -f "$(command -v systemctl)")"
	mount --bind "$T/v2" /sys/fs/cgroup
	for d in sysusers.d tmpfiles.d; do
		! [ -d "/etc/$d" ] || mount --bind "$T/empty" "/etc/$d"
		cp -r "$T/etc/$d" /run/
	done
	mount --bind "$T/etc/passwd" /etc/passwd; mount --bind "$T/etc/group" /etc/group; '
UNIT=system.slice/lodger.service

systemd_planted() {
	local unit
	command -v systemctl >/dev/null || skip 'there is no systemctl whose place could be taken'
	mkdir -p "$T/units" "$T/v2/$UNIT" "$T"/etc/{sysusers.d,tmpfiles.d}
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR"/{file,test}
	printf '#!/bin/sh\nfor unit; do :; done\ncat "%s/units/$unit"\n' "$T" >"$T/systemctl"
	chmod 755 "$T/systemctl"
	for unit in lodger.service lodger-nix-daemon.service lodger-gate.socket lodger-collect.timer lodger-collect.service; do
		printf '%s\n' LoadState=loaded ActiveState=active UnitFileState=enabled Result=success \
			"LastTriggerUSec=Tue 2026-12-01" "ControlGroup=/$UNIT" Delegate=yes >"$T/units/$unit"
	done
	echo 'cpu io memory pids' | tee "$T/v2/cgroup.controllers" >"$T/v2/$UNIT/cgroup.controllers"
	command -v setfattr >/dev/null && setfattr -n user.delegate -v 1 "$T/v2/$UNIT" ||
		skip 'no setfattr, or no extended attributes where tests have their files'
	touch "$T"/etc/{sysusers.d,tmpfiles.d}/lodger.conf
	{ grep -v '^lodger-collect:' /etc/passwd; echo 'lodger-collect:x:64999:64999::/:/bin/false'; } >"$T/etc/passwd"
	sed '/^lodger:/{s/:$/:lodger-collect/;t;s/$/,lodger-collect/}' /etc/group >"$T/etc/group"
	policy "cgroup $UNIT"
}

@test "systemd: where it is not used the checks say so, and fail nothing" {
	[ ! -e /run/systemd/system ] || skip 'systemd is the init of this machine'
	run --separate-stderr as a lodger doctor
	exits 0
	[ "$(grep -cE '^info     (units|collect timer|system files|delegation) +systemd is not used here$' <<<"$output")" = 4 ]
}

@test "systemd: all is well" {
	systemd_planted
	examined "$SYSTEMD"
	local name
	for name in units 'collect timer' 'system files' delegation; do
		outcome "$name" ok || { jq -r '.checks[] | [.name, .outcome, .detail] | join(" | ")' <<<"$found" && return 1; }
	done
	jq -e --arg unit "$UNIT" 'any(.checks[]; .detail == $unit + " is delegated, with memory, pids, cpu")
		and any(.checks[]; .detail | contains("last ran at Tue 2026-12-01"))' <<<"$found"
	sed -i 's/^LastTriggerUSec=.*/LastTriggerUSec=n\/a/' "$T/units/lodger-collect.timer"
	examined "$SYSTEMD"
	jq -e 'any(.checks[]; .detail == "lodger-collect.timer is active, and has not run yet")' <<<"$found"
}

@test "systemd: units that are missing, disabled or stopped, by their name" {
	systemd_planted
	sed -i 's/^LoadState=.*/LoadState=not-found/' "$T/units/lodger.service"
	sed -i 's/^ActiveState=.*/ActiveState=inactive/' "$T/units/lodger-collect.timer"
	examined "$SYSTEMD"
	finds units 'lodger.service is not installed: not-found' 'make install'
	finds 'collect timer' 'lodger-collect.timer is inactive and enabled' 'systemctl enable --now lodger-collect.timer'
	sed -i 's/^LoadState=.*/LoadState=loaded/' "$T/units/lodger.service"
	sed -i 's/^UnitFileState=.*/UnitFileState=disabled/' "$T/units/lodger-nix-daemon.service"
	sed -i 's/^ActiveState=.*/ActiveState=active/' "$T/units/lodger-collect.timer"
	sed -i 's/^Result=.*/Result=exit-code/' "$T/units/lodger-collect.service"
	examined "$SYSTEMD"
	finds units 'lodger-nix-daemon.service is active and disabled' 'systemctl enable --now lodger-nix-daemon.service'
	finds 'collect timer' 'the last run of lodger-collect.service failed: exit-code' 'journalctl -u lodger-collect.service'
	sed -i 's/^LoadState=.*/LoadState=not-found/' "$T/units/lodger-collect.service"
	sed -i 's/^UnitFileState=.*/UnitFileState=enabled/' "$T/units/lodger-nix-daemon.service"
	sed -i 's/^ActiveState=.*/ActiveState=failed/' "$T/units/lodger-gate.socket"
	examined "$SYSTEMD"
	finds 'collect timer' 'lodger-collect.service is not installed' 'make install'
	finds units 'lodger-gate.socket is failed and enabled' 'systemctl enable --now lodger-gate.socket'
}

@test "systemd: one that does not answer is no failure, and root is told how to ask" {
	systemd_planted
	printf '#!/bin/sh\necho "Failed to connect to bus" >&2\nexit 1\n' >"$T/systemctl"
	examined "$SYSTEMD"
	outcome units skipped
	outcome 'collect timer' skipped
	outcome delegation skipped
	jq -e 'any(.checks[]; .detail == "systemctl does not answer you (Failed to connect to bus); " +
		"root can ask: systemctl status lodger.service")' <<<"$found"
}

@test "systemd: no sysusers or tmpfiles file, no user, or one that is no member" {
	systemd_planted
	rm "$T/etc/tmpfiles.d/lodger.conf"
	examined "$SYSTEMD"
	finds 'system files' 'there is no tmpfiles.d/lodger.conf' 'make install'
	touch "$T/etc/tmpfiles.d/lodger.conf"
	rm "$T/etc/sysusers.d/lodger.conf"
	examined "$SYSTEMD"
	finds 'system files' 'there is no sysusers.d/lodger.conf' 'make install'
	touch "$T/etc/sysusers.d/lodger.conf"
	cp /etc/group "$T/etc/group"
	sed -i '/^lodger:/s/,*lodger-collect//' "$T/etc/group"
	examined "$SYSTEMD"
	finds 'system files' 'the user lodger-collect is not in the group lodger' 'systemd-sysusers lodger.conf'
	sed -i '/^lodger-collect:/d' "$T/etc/passwd"
	examined "$SYSTEMD"
	finds 'system files' 'there is no user lodger-collect' 'systemd-sysusers lodger.conf'
}

@test "systemd: a cgroup that is not delegated, not whole, or not the policy's" {
	systemd_planted
	setfattr -x user.delegate "$T/v2/$UNIT"
	examined "$SYSTEMD"
	finds delegation "systemd does not delegate $UNIT" 'systemctl restart lodger.service, which ends all sessions'
	setfattr -n user.delegate -v 1 "$T/v2/$UNIT"
	sed -i 's/^Delegate=.*/Delegate=no/' "$T/units/lodger.service"
	examined "$SYSTEMD"
	finds delegation "systemd does not delegate $UNIT" 'systemctl restart'
	sed -i 's/^Delegate=.*/Delegate=yes/' "$T/units/lodger.service"
	echo 'cpu io' >"$T/v2/$UNIT/cgroup.controllers"
	examined "$SYSTEMD"
	finds delegation "$UNIT was not handed the controllers: memory pids" 'systemctl restart'
	sed -i 's/^ControlGroup=.*/ControlGroup=/' "$T/units/lodger.service"
	examined "$SYSTEMD"
	finds delegation 'lodger.service has no cgroup: it is not running' 'systemctl start lodger.service'
	sed -i 's/^ControlGroup=.*/ControlGroup=\/system.slice\/lodger.service/' "$T/units/lodger.service"
	policy 'cgroup lodger'
	examined "$SYSTEMD"
	finds delegation 'sessions live in the cgroup lodger, which is not the one that systemd delegates' "cgroup $UNIT"
}

@test "apparmor: on, and without the profiles" {
	[ -d /sys/module ] && [ ! -e /sys/module/apparmor ] || skip 'this kernel has AppArmor: tests/systemd sees it'
	# The parameter stands in the place of all modules, which nothing else here reads.
	mkdir -p "$T/module/apparmor/parameters"
	echo Y >"$T/module/apparmor/parameters/enabled"
	examined 'mount --bind "$T/module" /sys/module; mount -t tmpfs tmpfs /etc/apparmor.d 2>/dev/null || true'
	finds apparmor 'AppArmor is enabled, but there is no /etc/apparmor.d/lodger' 'make install'
	echo N >"$T/module/apparmor/parameters/enabled"
	examined 'mount --bind "$T/module" /sys/module'
	outcome apparmor info
}
