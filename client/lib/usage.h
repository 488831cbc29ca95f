// What a session uses and has used, as its cgroup says: readable by everybody, in cgroup v2 and v1.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "session.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

// A figure that this kernel does not keep, or that is no longer to be had.
#define USAGE_UNKNOWN UINT64_MAX

enum usage_index {
	USAGE_CPU,	   // microseconds
	USAGE_WALL,	   // microseconds
	USAGE_MEMORY_PEAK, // bytes
	USAGE_PIDS_PEAK,
	USAGE_MEMORY,	 // bytes, now
	USAGE_PIDS,	 // now
	USAGE_OOM_KILLS, // processes that the kernel killed at the memory limit
	USAGE_COUNT,
};

// The figures' names in JSON.
extern const char *const usage_names[USAGE_COUNT];

struct usage {
	uint64_t value[USAGE_COUNT];
};

enum liveness {
	SESSION_LIVES,
	SESSION_ENDED,	 // no process is left; its remains wait for COLLECT
	SESSION_UNCLEAR, // no cgroup of it can be read
};

// Where the cgroups of sessions are.
struct usage_place {
	char root[PATH_MAX]; // "/sys/fs/cgroup"
	char base[PATH_MAX]; // the policy's `cgroup`, "lodger" unless it says something else
};

// Finds the line `cgroup NAME` in the policy file `policy`, the last of them, as the helper does.
// A file that cannot be read counts as one without it.
void usage_place_find(struct usage_place *place, const char *root, const char *policy);

// Reads the figures of session `number`; all USAGE_UNKNOWN when its cgroup is gone. USAGE_WALL is
// never filled in.
void usage_read(const struct usage_place *place, uint32_t number, struct usage *usage);

// Whether session `number` has a process: needs no privilege, and nothing that a session can forge.
enum liveness usage_liveness(const struct usage_place *place, uint32_t number);
