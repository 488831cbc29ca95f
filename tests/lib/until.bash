# Waiting for what comes at its own time. Sourced by what tests share, inside and outside of namespaces.
# shellcheck shell=bash

# until_true SECONDS COMMAND…: repeats it until it succeeds; fails when the time is over. The seconds
# are those of a machine with nothing else to do; an emulated one may take ten times as long (PATIENCE).
until_true() {
	local end=$((SECONDS + $1 * ${PATIENCE:-10}))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}
