# What the tests share that start the helper as a hostile caller, through the probe rawhelper. A file
# that sources this has each of its tests checked for what it leaves.
# shellcheck shell=bash disable=SC2034,SC2154  # bats' own, and for the files that source this

setup_file() {
	host_probe rawhelper
}

setup() {
	leaves_nothing_start
}

# Before anything is cleared away that a test forgot.
teardown() {
	local left=0
	background_end
	policy_restore
	left_nothing || left=1
	lodger_teardown
	return "$left"
}

raw() {
	run as a "$HOST_PROBES/rawhelper" "$@"
}

# answers LINE…: fails unless that is how the lines of rawhelper's output begin, one after the other.
answers() {
	local i=0 line
	for line; do
		[[ ${lines[i]-} == "$line"* ]] || {
			printf 'not answered: %s\n%s\n' "$line" "$output"
			return 1
		}
		i=$((i + 1))
	done
}

# refused CODE FIELD TEXT ARGUMENT…: rawhelper's request is, with that text in the sentence, and has
# not even taken a number.
refused() {
	local code=$1 field=$2 text=$3 counter
	shift 3
	counter=$(od -An -tu4 /run/lodger/lock)
	raw "$@"
	answers 'exit 0' "code $code field $field session 0" || { echo "asked: $*" && return 1; }
	says "$text"
	[ "$counter" = "$(od -An -tu4 /run/lodger/lock)" ]
}

# made ARGUMENT…: rawhelper's request makes a session; sets NUMBER. OPEN among the arguments keeps it
# alive when its creator is gone: the session holds the writing end of its own tie.
OPEN=--fd=0:/proc/self/fd/0
made() {
	raw "$@"
	answers 'exit 0' 'code OK field - session ' || { echo "asked: $*" && return 1; }
	NUMBER=${lines[1]##* }
	[ "$NUMBER" -gt 0 ]
}

destroyed() {
	as a lodger destroy "lodger-$NUMBER" >/dev/null
	[ ! -e "/run/lodger/sessions/$NUMBER" ]
}

# exited STATUS ARGUMENT…: the helper ends with it and says nothing.
exited() {
	local wanted=$1
	shift
	raw "$@"
	answers "exit $wanted" 'no reply (0 bytes)' || { echo "asked: $*" && return 1; }
}
