# What the tests of this folder share that call the helper as a hostile user: the probe rawhelper
# (../lib/rawhelper), and a helper that is held where it waits for its request, to be looked at.
# shellcheck shell=bash disable=SC2034,SC2154  # bats' own, and for the files that source this

load ../lib/lodger
load ../lib/rawhelper

PARSER_UID=$((UID_FIRST - 2))

setup_file() {
	host_probe rawhelper spy filtered descriptors
}

# parser_find: whether a parser child waits in its filter; sets PARSER and WAITING, its parent, which stands
# still from then on, or a slow machine would look at what its helper has already done with. Without other
# programs, for the same reason.
parser_find() {
	local key value filtered=
	WAITING=
	PARSER=$(pgrep -u "$PARSER_UID") && [[ $PARSER != *$'\n'* ]] || return
	while read -r key value; do
		case $key in
		PPid:) WAITING=$value ;;
		Seccomp:) filtered=$value ;;
		esac
	done 2>/dev/null <"/proc/$PARSER/status"
	[ "$filtered" = 2 ] && [ "$(<"/proc/$WAITING/comm")" = lodger-helper ] && kill -STOP "$WAITING"
}

# waiting COMMAND…: COMMAND ends in a call of rawhelper, which gives no request; its helper, with all
# that guard.c does behind it, is WAITING, and the parser child PARSER. `kill -CONT "$WAITING"` has it go on.
waiting() {
	background "$@" --create --cut=0 --silent >"$BATS_TEST_TMPDIR/waiting"
	until_true 10 parser_find
}

# The request that never came is not waited for.
waiting_end() {
	kill -KILL "$WAITING" 2>/dev/null || true
	wait "${BACKGROUND[@]}" || true
	BACKGROUND=()
	until_true 10 eval '! pgrep -u "$PARSER_UID" >/dev/null'
}

# waits_like_control LOOK COMMAND…: fails unless LOOK prints the same of the helper that COMMAND calls
# as of one that is called by a plain user.
waits_like_control() {
	local look=$1
	shift
	waiting as a "$HOST_PROBES/rawhelper"
	"$look" "$WAITING" >"$BATS_TEST_TMPDIR/control"
	waiting_end
	[ -s "$BATS_TEST_TMPDIR/control" ]
	waiting "$@"
	"$look" "$WAITING" >"$BATS_TEST_TMPDIR/looked"
	waiting_end
	diff "$BATS_TEST_TMPDIR/control" "$BATS_TEST_TMPDIR/looked"
}

# shows FILE LINE…: fails unless all of them stand in it, whole, with blanks for tabs.
shows() {
	local file=$1 line
	shift
	for line; do
		tr '\t' ' ' <"$file" | tr -s ' ' | grep -qxF -- "$line" || {
			echo "not there: $line" && cat "$file"
			return 1
		}
	done
}
