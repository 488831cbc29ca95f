# What every program that runs tests on an installed Lodger does first, as root: one at a time, the
# test users made, the test policy in the place of the machine's own until the end.
# shellcheck shell=bash

MACHINE_POLICY=/etc/lodger/lodger.conf
MACHINE_SAVED=$MACHINE_POLICY.before-tests

die() {
	echo "${0#"$PWD"/}: $*" >&2
	exit 1
}

# A run that was killed left the policy saved.
machine_policy_restore() {
	if [ -e "$MACHINE_SAVED" ]; then
		mv "$MACHINE_SAVED" "$MACHINE_POLICY"
	fi
}

# The machine's own cgroup line stays: under systemd it names the delegated unit.
machine_policy_install() {
	local cgroup
	machine_policy_restore
	cgroup=$(awk '$1 == "cgroup" { print $2 }' "$MACHINE_POLICY" | tail -1)
	cp -p "$MACHINE_POLICY" "$MACHINE_SAVED"
	sed "s|^cgroup .*|cgroup ${cgroup:-lodger}|" tests/lib/lodger.conf >"$MACHINE_POLICY.new"
	chmod 644 "$MACHINE_POLICY.new"
	mv "$MACHINE_POLICY.new" "$MACHINE_POLICY"
}

# machine_take: from here on the machine is ours, until this process ends. Holds descriptor 9, which
# nothing that is started may inherit. A caller that has more to clear away sets another EXIT trap,
# in which it calls machine_policy_restore.
machine_take() {
	[ "$(id -u)" = 0 ] || die "run it as root"
	[ -x /usr/local/bin/lodger ] || die "Lodger is not installed: make install, or make check"
	exec 9>/run/lodger-tests.lock
	flock --nonblock 9 || die "another run is going on"
	tests/lib/setup 9>&-
	trap machine_policy_restore EXIT
	machine_policy_install
}
