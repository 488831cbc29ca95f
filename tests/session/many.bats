# Many sessions at once, callers against each other, and helpers and clients that die at any moment:
# no number is given twice, no living session is lost, no dead one stays. No test here fails on a
# time, but for hangs.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell

load ../lib/lodger

setup() {
	leaves_nothing_start
	OUT=$BATS_TEST_TMPDIR/out
	mkdir -m 777 "$OUT"
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR"/{file,test}
}

# Before anything is cleared away that a test forgot.
teardown() {
	local left=0
	touch "$OUT/stop"
	wait
	left_nothing || left=1
	lodger_teardown
	return "$left"
}

# script a|b NAME SCRIPT [ARGUMENT…]: as that user in the background, its output to $OUT/NAME.USER.
script() {
	local user=$1 name=$2 text=$3
	shift 3
	as "$user" timeout 120 bash -c "$text" - "$OUT" "$@" >"$OUT/$name.$user" 2>&1 3>&- 4>&- &
	SCRIPTS+=($!)
}

# scripts_end: fails unless all of them end well, and shows what those said that did not.
scripts_end() {
	local pid failed=0
	for pid in "${SCRIPTS[@]}"; do
		wait "$pid" || failed=1
	done
	SCRIPTS=()
	[ "$failed" = 0 ] || {
		grep -rvE '^lodger-[0-9]+$|destroyed; it used|already gone|sessions? removed' "$OUT" | head -20
		return 1
	}
}

# The number that was given last.
counter() {
	od -An -tu4 /run/lodger/lock | tr -d ' '
}

names() {
	sort -V "$@" | grep -x 'lodger-[0-9]*'
}

# Runs $2 times, all at once: what follows; ends well if all of them do.
AT_ONCE='out=$1 times=$2; failed=0; pids=(); for ((i = 0; i < times; i++)); do (one) & pids+=($!); done
	for pid in "${pids[@]}"; do wait "$pid" || failed=1; done; exit "$failed"'

@test "two hundred sessions at once are all different, and each is its owner's" {
	local user all
	for user in a b; do
		script "$user" made 'one() { lodger create; };'"$AT_ONCE" 100
	done
	scripts_end
	names "$OUT"/made.* >"$OUT/all"
	[ "$(wc -l <"$OUT/all")" = 200 ]
	[ "$(uniq "$OUT/all" | wc -l)" = 200 ]
	all=$(as a lodger list --all --json)
	for user in a b; do
		jq -r ".[] | select(.owner == \"$USERS-$user\" and .state == \"live\") | .session" <<<"$all" | names >"$OUT/listed"
		diff "$OUT/listed" <(names "$OUT/made.$user")
	done
	[ "$(jq '[.[] | select(.uid == '$((UID_FIRST - 1))' + (.session | ltrimstr("lodger-") | tonumber)) | .uid] | unique | length' \
		<<<"$all")" = 200 ]
	# One owner's attempt on all of the other's.
	# shellcheck disable=SC2046  # words
	run ! as a lodger destroy $(names "$OUT/made.b")
	[ "$(grep -c 'not to you' <<<"$output")" = 100 ]
	# Two destroyers for each, all at once.
	for user in a b; do
		for i in 1 2; do
			# shellcheck disable=SC2046  # words
			script "$user" "destroyed$i" 'shift; failed=0; pids=()
				for name; do lodger destroy "$name" & pids+=($!); done
				for pid in "${pids[@]}"; do wait "$pid" || failed=1; done; exit "$failed"' $(names "$OUT/made.$user")
		done
	done
	scripts_end
	as a lodger list --all >"$OUT/list"
	run ! grep -Fwf "$OUT/all" "$OUT/list"
	[ "$(cat "$OUT"/destroyed* | grep -c 'destroyed; it used')" -ge 200 ]
}

@test "collecting in a loop takes no session that lives, and none is lost" {
	local user
	for user in a b; do
		script "$user" collect 'until [ -e "$1/stop" ]; do lodger collect || exit 1; done'
		script "$user" work 'one() {
			s=$(lodger create) && lodger exec "$s" -- sleep 0.$((RANDOM % 5)) && lodger exec "$s" -- true &&
				lodger destroy "$s" || echo "lost $s"
		}; '"$AT_ONCE" 50
	done
	until_true 100 eval '[ "$(cat "$OUT"/work.* | wc -l)" -ge 100 ]'
	touch "$OUT/stop"
	scripts_end
	# Whichever of destroyer and collector is first to remove what the former has killed.
	! grep -hvE '^lodger-[0-9]+ (destroyed; it used|is already gone)' "$OUT"/work.* || return 1
	[ "$(cat "$OUT"/work.* | wc -l)" = 100 ]
}

@test "destroying what is only being made breaks neither" {
	local hammer='until [ -e "$1/stop" ]; do n=$(cat "$1/next")
			for i in 0 1 2 3 4 5; do lodger destroy "lodger-$(((n + i) % 65535 + 1))"; done; done; true'
	# By another caller: it never succeeds, and the owner never notices.
	counter >"$OUT/next"
	script b hammer1 "$hammer"
	script b hammer2 "$hammer"
	script a made 'for i in {1..60}; do
			s=$(lodger create) || exit 1; echo "${s#lodger-}" >"$1/next.new"; mv -f "$1/next.new" "$1/next"
			lodger exec "$s" -- true && lodger destroy "$s" | grep "$s destroyed" || exit 1; done; touch "$1/stop"'
	scripts_end
	[ "$(grep -c ' destroyed; it used' "$OUT/made.a")" = 60 ]
	run ! grep -h ' destroyed; it used' "$OUT"/hammer*
	# Control: they were early and late enough to meet.
	grep -qh 'not to you' "$OUT"/hammer*
	# By the owner itself: either is first, and nothing is left of both.
	rm "$OUT"/{stop,next}
	counter >"$OUT/next"
	chmod 666 "$OUT/next"
	script a hammer1 "$hammer"
	script a hammer2 "$hammer"
	script a made 'for i in {1..100}; do
			s=$(lodger create) && echo "${s#lodger-}" >"$1/next" && lodger destroy "$s"; done; touch "$1/stop"'
	scripts_end
	[ "$(grep -cE '^lodger-[0-9]+ (destroyed|is already gone)|^lodger: ' "$OUT/made.a")" -ge 100 ]
}

@test "a thousand sessions one after the other leave nothing, and their numbers went up" {
	local user before after
	before=$(counter)
	for user in a b; do
		for i in 1 2; do
			script "$user" "rounds$i" 'for i in {1..125}; do
				lodger run -- sh -c "echo \$LODGER_SESSION" && s=$(lodger create) && echo "$s" && lodger destroy "$s" >"$1/x.$$" &&
				grep -q "$s destroyed" "$1/x.$$" || exit 1; done'
		done
	done
	scripts_end
	after=$(counter)
	[ $(((after - before + 65535) % 65535)) = 1000 ]
	[ "$(names "$OUT"/rounds* | uniq | wc -l)" = 1000 ]
	for name in "$OUT"/rounds*; do
		# But for the one place where they begin anew.
		[ "$(sort -V -C "$name" && echo 0 || echo 1)" = 0 ] || [ "$after" -lt "$before" ]
	done
}

# client a COMMAND…: starts lodger for a user and sets CLIENT to its number, which is no subshell's.
client() {
	local user=$USERS-$1
	shift
	setpriv --reuid="$user" --regid="$user" --init-groups lodger "$@" >>"$OUT/clients" 2>&1 3>&- 4>&- </dev/null &
	CLIENT=$!
}

# killed a COMMAND…: the same, and its helper is killed somewhere in its work, within SPINS turns of a
# loop. By a shell of its own, since bats' is slow.
killed() {
	local user=$USERS-$1
	shift
	bash -c 'setpriv --reuid="$1" --regid="$1" --init-groups lodger "${@:2}" & client=$! helper=
		until [ -n "$helper" ] || [[ $(</proc/$client/stat) == *") Z "* ]]; do
			read -r helper _ <"/proc/$client/task/$client/children"
		done
		for ((i = (RANDOM << 15 | RANDOM) % '"$SPINS"'; i > 0; i--)); do :; done
		[ -z "$helper" ] || kill -KILL "$helper" 2>/dev/null
		wait "$client"' - "$user" "$@" >>"$OUT/clients" 2>&1 3>&- 4>&- </dev/null || true
}

@test "helpers that are killed at any moment leave nothing that is not collected" {
	local i SPINS=5000
	[ -e "/proc/$$/task/$$/children" ] || skip 'the kernel does not list children'
	for ((i = 0; i < 100; i++)); do
		killed a create
		# Some too late, some not, however fast the machine is now.
		[[ $(tail -n 1 "$OUT/clients") == lodger-* ]] && SPINS=$((SPINS * 3 / 4 + 1)) || SPINS=$((SPINS * 5 / 4))
	done
	# Control: it was neither always too early nor always too late.
	[ "$(grep -c 'signal 9' "$OUT/clients")" -ge 5 ]
	[ "$(names "$OUT/clients" | wc -l)" -ge 5 ]
	as b lodger run -- true
	# While they are destroyed, and while what is left is collected.
	cp "$OUT/clients" "$OUT/created"
	for name in $(names "$OUT/created"); do
		killed a destroy "$name"
	done
	for ((i = 0; i < 10; i++)); do
		killed a collect
	done
	as b lodger collect
	as a lodger destroy --all
	until_true 10 eval '[ -z "$(lodger_processes)" ]'
	as b lodger collect
}

@test "clients that are killed at any moment take their sessions with them" {
	local i clients=()
	RANDOM=43
	for ((i = 0; i < 20; i++)); do
		client a run -- sleep 86761
		clients+=("$CLIENT")
	done
	until_true 30 eval '[ "$(as a lodger list | grep -c " live ")" = 20 ]'
	kill -KILL "${clients[@]}"
	until_true 30 eval '[ "$(as a lodger list 2>/dev/null | grep -c " live ")" = 0 ]'
	as b lodger collect
	for ((i = 0; i < 60; i++)); do
		client b run -- sleep 86762
		read -rt "0.0$((RANDOM % 40 + 10))" <><(:) || true
		kill -KILL "$CLIENT"
		wait "$CLIENT" || true
	done
	until_true 40 eval '[ -z "$(lodger_processes)" ]'
	as a lodger collect
	[ "$(as b lodger list | wc -l)" = 1 ]
}
