# What AppArmor does on this machine. Sourced by what tests share, and by tests/trace/run.
# shellcheck shell=bash

# Whether the helper runs under its AppArmor profile. The kernel's list has no size.
apparmor_in_force() {
	grep -qs '^lodger-helper ' /sys/kernel/security/apparmor/profiles
}
