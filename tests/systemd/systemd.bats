# What systemd keeps for Lodger, on a machine whose init it is: units, timer, user and directories,
# the delegated cgroup, the journal. Skipped, and said so, everywhere else; tests/vm has such machines.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # scripts for other shells; each test is a subshell; bats' own

load ../lib/lodger

setup() {
	[ -d /run/systemd/system ] || skip 'systemd is not the init of this machine'
	[ -e /sys/fs/cgroup/cgroup.controllers ] || skip 'cgroup v1: systemd delegates nothing here'
	[ -e /etc/systemd/system/lodger-collect.timer ] || skip 'the units are not installed'
	UNIT=system.slice/lodger.service
	BASE=$(awk '$1 == "cgroup" { base = $2 } END { print base }' "$POLICY")
	# A day's cursor would do; the test's own is exact.
	CURSOR=$(journalctl --quiet --lines=0 --show-cursor | sed -n 's/^-- cursor: //p')
}

# journal PATTERN: whether the helper has said it since the test began.
journal() {
	journalctl --quiet --sync || true
	journalctl --quiet --output=cat --identifier=lodger-helper ${CURSOR:+--after-cursor="$CURSOR"} |
		grep -E "$1"
}

property() {
	systemctl show --property="$2" --value "$1"
}

# check NAME: what doctor says of it, as "OUTCOME DETAIL".
check() {
	as a lodger doctor --json | jq -r --arg name "$1" '.checks[] | select(.name == $name) | .outcome + " " + .detail'
}

@test "units are enabled and active, and doctor says so" {
	local name
	for name in units 'collect timer' 'system files' delegation; do
		run check "$name"
		[[ $output == 'ok '* ]] || { echo "$name: $output" && return 1; }
	done
	[ "$(systemctl is-enabled lodger.service lodger-collect.timer | sort -u)" = enabled ]
	[ "$(systemctl is-active lodger.service lodger-collect.timer | sort -u)" = active ]
}

@test "unit files are what systemd understands" {
	run systemd-analyze verify --man=no /etc/systemd/system/lodger.service /etc/systemd/system/lodger-collect.service \
		/etc/systemd/system/lodger-collect.timer /etc/systemd/system/lodger-nix-daemon.service \
		/etc/systemd/system/lodger-gate.socket /etc/systemd/system/lodger-gate.service \
		/etc/systemd/system/lodger-proxy.service
	# What it says of other units is not ours.
	run ! grep lodger <<<"$output"
}

@test "sysusers and tmpfiles: the user owns nothing and is a member; directories have the helper's modes" {
	[ "$(getent passwd lodger-collect | cut -d: -f6,7)" = /:/usr/sbin/nologin ]
	id -nG lodger-collect | tr ' ' '\n' | grep -qx lodger
	systemd-tmpfiles --create lodger.conf
	[ "$(stat -c '%U:%G %a' /run/lodger /run/lodger/sessions /run/lodger/root /run/lodger/packages /run/userdb | paste -sd,)" = \
		'root:root 755,root:root 755,root:root 700,root:lodger-gate 750,root:root 755' ]
	# Whatever is in use is left alone by a cleaning.
	create a
	systemd-tmpfiles --clean lodger.conf
	works a "$SESSION"
	# It can do what any member can, and no more.
	run setpriv --reuid=lodger-collect --regid=lodger-collect --init-groups lodger destroy "$SESSION"
	says 'belongs to uid'
}

@test "sessions live in the delegated cgroup, with its limits" {
	[ "$BASE" = "$UNIT" ]
	[ "$(property lodger.service Delegate)" = yes ]
	[ "$(property lodger.service ControlGroup)" = "/$UNIT" ]
	create a
	[ -d "/sys/fs/cgroup/$UNIT/$(session_number "$SESSION")" ]
	[[ $(cat "/sys/fs/cgroup/$UNIT/cgroup.subtree_control") == *memory*pids* ]]
}

@test "journal: each create, destroy and refusal, with who, which limits and why" {
	local uid number
	uid=$(id -u "$USERS-a")
	create a --memory 64M --pids 20 --ttl 77
	number=$(session_number "$SESSION")
	run ! as b lodger destroy "$SESSION"
	run ! as a lodger create --memory 1T
	as a lodger destroy "$SESSION"
	until_true 20 journal "uid $uid destroy done: $SESSION of uid $uid"
	journal "uid $uid create done: lodger-$number, memory 67108864, pids 20, .* ttl 77, network none"
	journal "uid $(id -u "$USERS-b") destroy refused: $SESSION belongs to uid $uid, not to you"
	journal "uid $uid create refused: memory of 1099511627776 asked for"
	# By their sender, not only by their name.
	[ "$(journalctl --quiet --output=json --identifier=lodger-helper --lines=1 | jq -r ._UID)" = 0 ]
}

@test "timer: a session that ended by itself is collected by nobody's doing" {
	create a --ttl 1s
	until_true 20 eval '[ "$(as a lodger show "$SESSION" --json | jq -r .state)" != live ]'
	[ -d "/run/lodger/sessions/$(session_number "$SESSION")" ]
	# A minute, a quarter for accuracy, and what a slow machine takes.
	until_true 300 eval '[ ! -d "/run/lodger/sessions/$(session_number "$SESSION")" ]'
	until_true 20 journal "uid $(id -u lodger-collect) collect done: $SESSION of uid $(id -u "$USERS-a"), which had ended"
	[ "$(property lodger-collect.service Result)" = success ]
	[ "$(property lodger-collect.service User)" = lodger-collect ]
	[[ $(check 'collect timer') == 'ok '*'last ran at'* ]]
}

@test "collector: what it needs is in its sandbox, and what it does not need is not" {
	create a --ttl 1s
	until_true 20 eval '[ "$(as a lodger show "$SESSION" --json | jq -r .state)" != live ]'
	systemctl start lodger-collect.service
	[ ! -d "/run/lodger/sessions/$(session_number "$SESSION")" ]
	[ ! -e "/run/userdb/$SESSION.user" ]
	[ "$(property lodger-collect.service NoNewPrivileges)" = no ]
	# A helper that refuses shows: the run failed, and doctor says where to look.
	policy 'nonsense'
	run ! systemctl start lodger-collect.service
	[[ $(check 'collect timer') == 'failed the last run of lodger-collect.service failed: exit-code' ]]
	policy_restore
	systemctl start lodger-collect.service
	[[ $(check 'collect timer') == 'ok '* ]]
}

@test "apparmor: helper and sessions are confined, and doctor sees it as an ordinary user" {
	[ "$(cat /sys/module/apparmor/parameters/enabled 2>/dev/null)" = Y ] || skip 'AppArmor is not enabled here'
	[ -e /etc/apparmor.d/lodger ] || skip 'the profiles are not installed'
	run check apparmor
	echo "$output"
	[ "$output" = 'ok helper and sessions are confined: lodger-helper (enforce), lodger-agent (enforce)' ]
	grep -qx 'lodger-helper (enforce)' /sys/kernel/security/apparmor/profiles
	# Without them it says what to do.
	apparmor_parser --remove /etc/apparmor.d/lodger
	run check apparmor
	apparmor_parser --replace /etc/apparmor.d/lodger
	[[ $output == 'failed the helper runs unconfined, '* ]]
}

@test "a reload of systemd leaves sessions where they are" {
	create a
	local before
	in_session a "$SESSION" 'sleep 1000 >/dev/null 2>&1 &'
	before=$(cat "/sys/fs/cgroup/$UNIT/$(session_number "$SESSION")/cgroup.procs" | sort)
	[ "$(wc -l <<<"$before")" -ge 2 ]
	systemctl daemon-reload
	systemctl daemon-reexec
	[ "$(cat "/sys/fs/cgroup/$UNIT/$(session_number "$SESSION")/cgroup.procs" | sort)" = "$before" ]
	[ "$(cat "/sys/fs/cgroup/$UNIT/$(session_number "$SESSION")/memory.max")" = 268435456 ]
	works a "$SESSION"
}

@test "a session at its memory limit does not end the others" {
	local first
	create a
	first=$SESSION
	create b --memory 16M
	run in_session b "$SESSION" 'exec tail /dev/zero'
	exits 137
	works a "$first"
	[ "$(systemctl is-active lodger.service)" = active ]
}

@test "stopping lodger.service ends all sessions and the timer; starting it makes both possible again" {
	local number
	create a
	number=$(session_number "$SESSION")
	create b
	in_session b "$SESSION" 'trap "" TERM; (trap "" TERM; exec sleep 1000) >/dev/null 2>&1 &'
	systemctl stop lodger.service
	[ -z "$(lodger_processes)" ]
	[ -z "$(ls /run/lodger/sessions)" ]
	[ "$(find /run/userdb -name 'lodger-*.user' | wc -l)" = 0 ]
	[ ! -d "/sys/fs/cgroup/$UNIT/$number" ]
	[ "$(systemctl is-active lodger-collect.timer)" = inactive ]
	run check units
	[[ $output == 'failed lodger.service is inactive and enabled, '* ]]
	systemctl start lodger.service
	[ "$(systemctl is-active lodger-collect.timer)" = active ]
	as a lodger run -- true
}

@test "lodger.service starts even when somebody made a session while it was stopped" {
	systemctl stop lodger.service
	create a
	works a "$SESSION"
	run systemctl start lodger.service
	[ "$status" = 0 ] || journalctl --quiet --unit=lodger.service --lines=20
	[ "$(systemctl is-active lodger.service)" = active ]
	as a lodger run -- true
}
