# Resource limits, timers and memory as ways to make the helper fail half way, in each operation: what
# was there before is there whole, or gone whole.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell
# shellcheck disable=SC2153,SC2154  # OPEN and the like are rawhelper.bash's; bats' own

load attack

# whole_or_gone: the session NUMBER works, or there is nothing of it. Sets LEFT to whether it is there.
whole_or_gone() {
	LEFT=0
	if [ -e "/run/lodger/sessions/$NUMBER/record" ]; then
		LEFT=1
		[ "$(stat -c %s "/run/lodger/sessions/$NUMBER/record")" = "$RECORD_SIZE" ]
		[ "$(in_session a "lodger-$NUMBER" 'echo works')" = works ]
	else
		run as a lodger exec "lodger-$NUMBER" -- true
		exits 125
	fi
}

@test "a destroy or a collect under any low limit does all of its work or none" {
	local name value values
	made --create "$OPEN"
	RECORD_SIZE=$(stat -c %s "/run/lodger/sessions/$NUMBER/record")
	while read -r name values; do
		for value in $values; do
			raw --destroy="$NUMBER" --limit="$name:$value"
			[[ ${lines[0]} == @('exit 0'|'exit 98'|'signal 11'|'signal 9') ]]
			raw --collect --limit="$name:$value"
			whole_or_gone
			[ "$LEFT" = 1 ] || made --create "$OPEN"
		done
	done <<-END
		FSIZE 0 1 4 4096
		NOFILE 0 2 4 6 8 10 12 14 16
		AS 1048576 4194304 16777216 67108864
		DATA 0 65536
		STACK 65536 262144 8388608
		NPROC 0 1
		SIGPENDING 0
	END
	destroyed
}

@test "a create under any file size, and with any number of descriptors, leaves a whole session or none" {
	local value
	made --create "$OPEN"
	RECORD_SIZE=$(stat -c %s "/run/lodger/sessions/$NUMBER/record")
	destroyed
	for value in FSIZE:{0,1,4,64,96,4096} NOFILE:{3..16}; do
		raw --create "$OPEN" --limit="$value"
		[[ ${lines[1]} != 'code OK'* ]] || {
			NUMBER=${lines[1]##* }
			whole_or_gone
			destroyed
		}
	done
	[ -z "$(find /run/lodger/sessions -name record ! -size "$RECORD_SIZE"c)" ]
	# Control: a program under such a limit writes half.
	run as a bash -c 'ulimit -f 1; head -c 9999 /dev/zero >half; stat -c %s half; rm half'
	says 1024
}

@test "timers of 0.1 to 50 ms that were set before leave nothing that is not collected" {
	local i usec ends=$BATS_TEST_TMPDIR/ends
	made --create "$OPEN"
	for ((i = 0; i < 120; i++)); do
		usec=$((100 + RANDOM * RANDOM % 5000))
		((i % 4)) || usec=$((100 + RANDOM % 50000))
		as a "$HOST_PROBES/rawhelper" --create --timer="$usec" | head -1
		as a "$HOST_PROBES/rawhelper" --collect --timer="$usec" | head -1
	done >"$ends"
	# Control: they were early enough for some.
	grep -qx 'signal 14' "$ends"
	grep -qx 'exit 0' "$ends"
	run ! grep -vxE 'exit 0|signal 14' "$ends"
	works a "lodger-$NUMBER"
	destroyed
	as b lodger collect
}

@test "the three timers that outlive an exec are off, and its own is on, before it does anything" {
	timeout 60 strace -f -u "$USERS-a" -o "$BATS_TEST_TMPDIR/trace" -e trace=setitimer,alarm,setresuid,openat \
		"$HOST_PROBES/rawhelper" --create --timer=900000 >"$BATS_TEST_TMPDIR/out"
	grep -q '^code OK' "$BATS_TEST_TMPDIR/out"
	sed -n '/setitimer(ITIMER_REAL, .*900000/,/lodger.conf/p' "$BATS_TEST_TMPDIR/trace" >"$BATS_TEST_TMPDIR/helper"
	grep -q 'setitimer(ITIMER_VIRTUAL, {it_interval={tv_sec=0, tv_usec=0}, it_value={tv_sec=0, tv_usec=0}}.* = 0' "$BATS_TEST_TMPDIR/helper"
	grep -q 'setitimer(ITIMER_PROF, {it_interval={tv_sec=0, tv_usec=0}, it_value={tv_sec=0, tv_usec=0}}.* = 0' "$BATS_TEST_TMPDIR/helper"
	# The caller's real one is what it replaces.
	grep -qE '(alarm\(30\)|setitimer\(ITIMER_REAL, .*tv_sec=30).* = 0' "$BATS_TEST_TMPDIR/helper"
	as a lodger collect
}

@test "an environment as large as can be, and as many arguments, do no harm" {
	run as a bash -c 'export A=$(head -c 120000 /dev/zero | tr "\0" a); for i in {1..14}; do export "A$i=$A"; done; exec "$1" --create' - "$HOST_PROBES/rawhelper"
	answers 'exit 0' 'code OK'
	# With a small stack the kernel allows a quarter of it, and guard.c asks for its own.
	run as a bash -c 'ulimit -S -s 1024; export A=$(head -c 100000 /dev/zero | tr "\0" a); exec "$1" --create' - "$HOST_PROBES/rawhelper"
	answers 'exit 0' 'code OK'
	# shellcheck disable=SC2046  # words
	exited 3 --create $(printf -- '--arg=%0100d ' {1..60})
	as a lodger collect
}

@test "of a message's memory there are sixteen kibibytes, whatever its shape" {
	local hex
	# Unknown fields, unknown fields inside, one known field again and again, a long string.
	for hex in "$(printf '2801%.0s' {1..2000})" "12$(printf '8e1f')$(printf '2801%.0s' {1..1991})" "$(printf '1200%.0s' {1..2000})" \
		"$(printf '12020a00%.0s' {1..1000})" "2af01e$(printf '41%.0s' {1..3952})"; do
		raw --hex="0801$hex"
		answers 'exit 0' 'code REQUEST field request'
		[[ $output != *'child failed'* ]]
	done
	# Control: what is small enough is a message.
	raw --hex="0801$(printf '1200%.0s' {1..20})"
	answers 'exit 0' 'code OK'
	as a lodger collect
}
