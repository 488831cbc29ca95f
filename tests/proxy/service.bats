# The proxy of sessions as systemd runs it: lodger-proxy.service with all that the unit takes from it, among the
# hosts of world.bash. Skipped, and said so, where systemd is not the init; tests/vm has such machines.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # for other shells; each test is a subshell; bats' own

load ../lib/lodger
load world

UNIT=lodger-proxy.service
DROP_IN=/run/systemd/system/$UNIT.d

# unfit: what this machine lacks, if anything. Not skip in setup_file: bats 1.8 counts that as a failure.
unfit() {
	[ -d /run/systemd/system ] || { echo 'systemd is not the init of this machine' && return; }
	[ -e "/etc/systemd/system/$UNIT" ] || { echo 'the unit is not installed' && return; }
	type -P squid >/dev/null || echo 'squid is not installed'
}

setup_file() {
	UNFIT=$(unfit)
	export UNFIT
	[ -z "$UNFIT" ] || return 0
	world_start
	export W MACHINE INTERNET
	# Only where it is: the network and the files of the tests' machine, in the place of the whole one's.
	mkdir -p "$DROP_IN"
	cat >"$DROP_IN/test.conf" <<-END
		[Unit]
		ConditionPathExists=
		ConditionPathExists=$W/lodger/proxy.conf
		StartLimitIntervalSec=0
		[Service]
		RestartSec=1
		NetworkNamespacePath=/proc/$MACHINE/ns/net
		BindPaths=$W/lodger:/etc/lodger $W/packages:/run/lodger/packages
		BindReadOnlyPaths=$W/hosts:/etc/hosts $W/resolv.conf:/etc/resolv.conf
	END
	systemctl daemon-reload
}

teardown_file() {
	[ ! -e "${W-}/held" ] || world_end
	[ ! -d "$DROP_IN" ] || { rm -r "$DROP_IN" && systemctl daemon-reload; }
}

setup() {
	[ -z "$UNFIT" ] || skip "$UNFIT"
	CURSOR=$(journalctl --quiet --lines=0 --show-cursor | sed -n 's/^-- cursor: //p')
}

teardown() {
	[ -z "$UNFIT" ] || return 0
	systemctl stop "$UNIT"
	systemctl reset-failed "$UNIT" 2>/dev/null || true
	rm -f "$W/lodger/proxy.conf"
	lodger_teardown
	[ -n "${BATS_TEST_COMPLETED-}" ] || said
}

# said: what the service has said since the test began; says_there TEXT: whether a line has it.
said() {
	journalctl --quiet --sync || true
	# Not --identifier: systemd 252 leaves out the first that fits if the cursor's own does not.
	journalctl --quiet --output=short ${CURSOR:+--after-cursor="$CURSOR"} | sed -n 's/^.* lodger-proxy\[[0-9]*\]: //p'
}
says_there() {
	said | grep -qF -- "$1"
}

# service LINE…: starts it with this policy, and waits until sessions have it.
service() {
	printf '%s\n' "$@" >"$W/lodger/proxy.conf"
	systemctl start "$UNIT"
	until_true 20 shown
}
shown() {
	[ -S "$W/packages/daemon-socket/proxy" ]
}
property() {
	systemctl show --property="$1" --value "$UNIT"
}
ask() {
	run session "/usr/bin/python3 /etc/lodger/ask.py '$1'"
}

@test "service: an allowed host is reached, another is refused, and the journal says which" {
	service index.test
	run session 'exec 3<>/dev/tcp/127.0.0.1/3128; printf "GET http://index.test/simple/tiny/ HTTP/1.0\r\n\r\n" >&3; cat <&3'
	exits 0
	says '200 OK' tiny-1.0-py3-none-any.whl
	ask 'CONNECT index.test:443'
	[ "$output" = 200 ]
	ask 'CONNECT other.test:443'
	[ "$output" = 403 ]
	until_true 20 says_there 'refused: CONNECT other.test:443'
	says_there "2 rules of /etc/lodger/proxy.conf"
}

@test "service: without a policy it does not start; with one that is not understood it fails, and says why" {
	systemctl start "$UNIT"
	[ "$(property ActiveState) $(property ConditionResult)" = 'inactive no' ]
	ask 'CONNECT index.test:443'
	[[ $output == 'none Connection refused' ]]
	echo 'http://index.test/' >"$W/lodger/proxy.conf"
	systemctl start "$UNIT"
	until_true 20 says_there 'proxy.conf, line 1:'
	run ! shown
	# Starting it again would not help.
	until_true 20 eval '[ "$(property ActiveState)" = failed ]'
	[ "$(property ExecMainStatus) $(property NRestarts)" = '78 0' ]
}

@test "service: squid and relay have no privilege, and it leaves nothing when it is stopped" {
	local pid pids
	service index.test
	mapfile -t pids < <(processes_of lodger-proxy)
	[ "${#pids[@]}" = 2 ]
	for pid in "${pids[@]}"; do
		[ "$(grep -cE '^Cap(Inh|Prm|Eff|Bnd|Amb):.0000000000000000$' "/proc/$pid/status")" = 5 ]
		grep -q "/$UNIT\$" "/proc/$pid/cgroup"
		[ "$(readlink "/proc/$pid/ns/net")" = "$(readlink "/proc/$MACHINE/ns/net")" ]
	done
	systemctl stop "$UNIT"
	[ "$(property Result)" = success ]
	[ -z "$(processes_of lodger-proxy)" ]
	run ! shown
	[ ! -e "$W/packages/proxy" ]
	ask 'CONNECT index.test:443'
	[[ $output == 'none Connection refused' ]]
}

@test "service: when squid or all of it is killed, it is started anew, and sessions find it" {
	local pid
	service index.test
	SESSION=$(user 'lodger create')
	kill -9 "$(pgrep -u lodger-proxy -x squid)"
	until_true 60 answers
	pid=$(property MainPID)
	kill -9 "$pid"
	changed() { [ "$(property MainPID)" != "$pid" ] && answers; }
	until_true 60 changed
	[ "$(property NRestarts)" = 2 ]
	user "lodger destroy $SESSION"
}

# Whether the session that was there before gets its answer.
answers() {
	[ "$(user "lodger exec $SESSION -- /usr/bin/python3 /etc/lodger/ask.py 'CONNECT index.test:443'")" = 200 ]
}
