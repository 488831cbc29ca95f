# What the soak measures and judges, as root; sourced by tests/soak/run, after tests/lib/lodger.bash.
# Everything is read from outside of the sessions, and nothing is changed.
# shellcheck shell=bash disable=SC2154  # out, base: of tests/soak/run

# What an idle agent's private memory may grow by between two looks at it, in KiB: less than one
# page a minute of a soak. Descriptors have no allowance.
RSS_ALLOWANCE=64

# agents_measure: "SESSION PID RSS-KIB PRIVATE-KIB DESCRIPTORS" of each agent, one a line.
agents_measure() {
	build/tests/soak_agents
}

# The nix daemon of sessions, and one process for each connection: their pids.
daemon_pids() {
	local pid
	for pid in $(pgrep -x nix-daemon); do
		[ "$(find "/proc/$pid/fd" -lname /run/lodger/packages/lock 2>/dev/null)" = '' ] || echo "$pid"
	done
}

# daemon_measure: "PROCESSES RSS-KIB DESCRIPTORS SOCKETS" of the daemon; nothing when there is none.
daemon_measure() {
	local pids first
	pids=$(daemon_pids)
	[ -n "$pids" ] || return 0
	first=$(head -1 <<<"$pids")
	echo "$(wc -l <<<"$pids")" "$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$first/status")" \
		"$(find "/proc/$first/fd" -mindepth 1 | wc -l)" \
		"$(find /run/lodger/packages/daemon-socket -mindepth 1 | wc -l)"
}

memory_available() {
	awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo
}

slab() {
	awk '$1 == "Slab:" { print int($2 / 1024) }' /proc/meminfo
}

# Network namespaces in the kernel, where it tells: one that nothing holds and that stays is a leak
# that no list of processes shows.
network_namespaces() {
	awk '$1 == "net_namespace" { print $2 }' /proc/slabinfo 2>/dev/null | grep . || echo 0
}

count() {
	find "$@" 2>/dev/null | wc -l
}

# measure_line: one line of figures.
measure_line() {
	local agents daemon
	agents_measure >"$out/agents.now"
	agents=$(awk '{ n++; rss += $3; own += $4; fds += $5; if ($4 > most) most = $4 }
		END { printf "agents %d, private %d KiB (most %d), rss %d KiB, fds %d", n, own, most, rss, fds }' "$out/agents.now")
	daemon=$(daemon_measure)
	printf 'sessions %d; %s; cgroups %d; /run %d; users %d; mounts %d; processes %d; net %d; daemon %s; free %d MiB, slab %d MiB\n' \
		"$(count /run/lodger/sessions -mindepth 1 -maxdepth 1)" "$agents" "$(cgroup_directories | wc -l)" \
		"$(count /run/lodger /run/userdb -path /run/lodger/packages -prune -o -print)" \
		"$(count /run/userdb -name 'lodger-*.user')" "$(wc -l </proc/mounts)" "$(lodger_processes | wc -l)" \
		"$(network_namespaces)" "${daemon:-none}" "$(memory_available)" "$(slab)"
}

# elders_measure FILE: of the sessions that live from the start to the end, which have no jobs when
# this is called. Waits until their agents have let go what they held for jobs.
elders_measure() {
	local file=$1 session
	sort -u "$out/elders" >"$out/elders.sorted"
	agents_measure | sort | join - "$out/elders.sorted" >"$file"
	while read -r session; do
		grep -q "^$session " "$file" || echo "$session has no agent"
	done <"$out/elders.sorted"
}

# elders_judge BEFORE AFTER: says what grew. Descriptors are compared with those of a new session,
# memory with its own of before.
elders_judge() {
	local idle idle_fds=-1 session pid rss own fds own_before
	idle=$("${as_user[@]}" lodger create --ttl 60s) || { echo "no session for comparison: $idle"; return; }
	# Its creator's connection and tie are let go soon after; so the lowest of some looks.
	for _ in {1..10}; do
		fds=$(agents_measure | awk -v session="$idle" '$1 == session { print $5 }')
		[ "$idle_fds" -ge 0 ] && [ "$idle_fds" -le "$fds" ] || idle_fds=$fds
		sleep 0.1
	done
	"${as_user[@]}" lodger destroy "$idle" >/dev/null
	while read -r session pid rss own fds; do
		own_before=$(awk -v session="$session" '$1 == session { print $4 }' "$1")
		[ "$fds" -le "$idle_fds" ] ||
			echo "agent of $session (pid $pid) holds $fds descriptors, a new one $idle_fds:" \
				"$(find "/proc/$pid/fd" -mindepth 1 -printf '%f=%l ' 2>/dev/null)"
		[ -z "$own_before" ] || [ "$((own - own_before))" -le "$RSS_ALLOWANCE" ] ||
			echo "agent of $session (pid $pid, rss $rss KiB) grew from $own_before to $own KiB of private memory"
	done <"$2"
}

# elders_growth BEFORE AFTER: a line of figures.
elders_growth() {
	join "$1" "$2" | awk '{ d = $8 - $4; n++; sum += d; if (n == 1 || d > most) most = d; if (n == 1 || d < least) least = d }
		END { if (n) printf "%d agents that lived all the time: private memory grew by %.1f KiB on average, %d at most, %d at least\n", n, sum / n, most, least }'
}
