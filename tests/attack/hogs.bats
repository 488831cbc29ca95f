# What takes kernel memory, and trees that are deep or huge: each stops at the session's own limits, and
# costs nobody else anything, not even when it is destroyed.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell

load ../lib/lodger

@test "kernel memory counts too: queues of sockets, page tables, argument lists, events" {
	local kind most
	create b
	local other=$SESSION
	for kind in sockets pagetables argv events; do
		create a --memory 48M --pids 200
		probe a "$SESSION" memory
		run as a timeout 120 lodger exec "$SESSION" -- ./memory "$kind" 200
		[ "$status" != 0 ]
		[ "$status" != 124 ]
		# The kernel charges a page over the limit now and then. Of what waits with its arguments the kernel ends one after the other, and room for more.
		most=$(grep -o '^[0-9]*' <<<"$output" | sort -n | tail -1)
		[ "$kind" = argv ] || [ "${most:-0}" -lt 80 ]
		# Their number has a limit, too, which may be the lower one.
		[[ $kind != events || $output != *'Too many open files'* ]] || { as a lodger destroy "$SESSION" && continue; }
		run as a lodger show "$SESSION" --json
		echo "$kind: ${most:-0} MiB, $(jq -c .usage <<<"$output")"
		jq -e '.usage.memory_peak > (24 * 1048576) and .usage.memory_peak <= (49 * 1048576) and .usage.oom_kills > 0' <<<"$output"
		works b "$other"
		as a timeout 25 lodger destroy "$SESSION"
	done
}

@test "control: on the host nothing stops the same" {
	local kind
	# But for the limit on open files, which is low where nobody has raised it.
	ulimit -Sn "$(ulimit -Hn)"
	for kind in sockets pagetables argv events; do
		run timeout 60 "$PROBES/memory" "$kind" 5
		exits 0
	done
}

@test "a chain of nineteen thousand directories ends with its session, and is no snare for get" {
	create a --inodes 20000 --disk 256M --memory 512M
	run in_session a "$SESSION" 'perl -e "my \$deep = 0; while (\$deep < 19000 && mkdir(q(d)) && chdir(q(d))) { \$deep++ } print qq(\$deep), \$deep < 19000 ? qq( \$!) : qq(), qq(\n)"'
	# AppArmor compares whole paths, and refuses what is longer than 8,192 bytes.
	[ "$output" = 19000 ] || { apparmor_in_force && [[ $output =~ ^4[0-9]{3}\ File\ name\ too\ long$ ]]; }
	mkdir "$BATS_TEST_TMPDIR/to"
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR/test"
	chown "$USERS-a" "$BATS_TEST_TMPDIR/to"
	run as a timeout 60 lodger get --timeout 30s "$SESSION" d "$BATS_TEST_TMPDIR/to"
	[ "$status" != 0 ]
	[ "$status" != 124 ]
	[ "$(find "$BATS_TEST_TMPDIR/to" | wc -l)" -lt 140 ]
	run as a timeout 25 lodger destroy "$SESSION"
	exits 0
}

@test "as many files as inodes, with the longest names, end with their session" {
	create b
	local other=$SESSION
	create a --memory 256M
	run in_session a "$SESSION" 'perl -e "my \$n = 0; for (1 .. 9000) { open my \$f, q(>), sprintf(q(%0255d), \$_) or last; \$n++ } print qq(\$n \$!\n)"'
	[[ $output =~ ^([0-9]+)\ No\ space ]]
	[ "${BASH_REMATCH[1]}" -gt 3800 ]
	[ "${BASH_REMATCH[1]}" -lt 4000 ]
	works b "$other"
	run as a timeout 25 lodger destroy "$SESSION"
	exits 0
}

@test "files of holes are as long as they like, and hold no more than the disk does" {
	create a --disk 8M
	run in_session a "$SESSION" 'truncate -s 1E a && truncate -s 1E b && stat -c %s a b; du -k a b | cut -f1
		for i in 1 2 3 4 5 6 7 8 9 10; do dd if=/dev/zero of=a bs=1M count=1 seek=$((i * 1000000)) conv=notrunc 2>&1; done'
	says 1152921504606846976 'No space left'
	# What memory they have is mapped from the same disk.
	run in_session a "$SESSION" 'perl -e "open my \$f, q(+<), q(b); for my \$i (1 .. 5000) { sysseek \$f, \$i << 30, 0; syswrite(\$f, q(x)) or die qq(\$i \$!\n) }"'
	says 'No space left'
	as a timeout 25 lodger destroy "$SESSION"
}

@test "descriptors end at a limit of the process's own that cannot be raised" {
	create a
	run in_session a "$SESSION" 'ulimit -n; ulimit -Hn; ulimit -n 70000; perl -e "my @f; while (open my \$f, q(<), q(/dev/null)) { push @f, \$f } print scalar(@f), qq( \$!\n)"'
	[ "${lines[0]}" -le 65536 ]
	[ "${lines[1]}" -le 65536 ]
	[[ $output == *'Too many open files'* ]]
	[[ $output == *'cannot modify limit'* ]]
	works a "$SESSION"
}

@test "a fork bomb in every session of a user is destroyed with the others at work" {
	create b
	local other=$SESSION started=$SECONDS
	for _ in 1 2 3; do
		create a --pids 30 --cpu 50
		probe a "$SESSION" forks
		background as a lodger exec "$SESSION" -- ./forks bomb
	done
	works b "$other"
	run as a timeout 60 lodger destroy --all
	exits 0
	works b "$other"
	[ $((SECONDS - started)) -lt 90 ]
	[ -z "$(lodger_processes | grep forks)" ]
}
