// The text of the policy file /etc/lodger/lodger.conf as numbers and paths. Pure: the helper reads
// the file and acts on it, the client explains it (lodger doctor).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "session.h"

#define POLICY_SIZE_MAX 16384
#define POLICY_PATHS_MAX 64

// What a "maximum" line can set: the limits of one session, and two counts of sessions.
enum { MAXIMUM_SESSIONS = LIMIT_COUNT, MAXIMUM_PER_CALLER, MAXIMUM_COUNT };

// What an "optional" line can name, in the order of cgroup.c's table.
enum policy_optional {
	OPTIONAL_MEMORY,
	OPTIONAL_SWAP,
	OPTIONAL_PIDS,
	OPTIONAL_CPU,
	OPTIONAL_COUNT
};
extern const char *const policy_optional_names[OPTIONAL_COUNT];

// What counts where the file says nothing, and the least with which a session can start its agent
// and one command.
struct policy_key {
	const char *name;
	uint64_t builtin, least;
};
extern const struct policy_key policy_keys[MAXIMUM_COUNT];

// For whom a policy is read.
struct caller {
	uid_t uid;
	gid_t gid;
	int group_count;
	gid_t groups[256];
};

// What the lines of the file add up to for one caller.
struct policy {
	uint64_t defaults[MAXIMUM_COUNT]; // the counts have none
	uint64_t maxima[MAXIMUM_COUNT];
	bool network_host;	       // may the caller ask for the host's network
	bool auto_off;		       // commands on demand; the client's alone
	bool optional[OPTIONAL_COUNT]; // controllers that the machine may be without
	const char *cgroup;	       // below each hierarchy's root
	size_t path_count;
	struct {
		bool device;
		const char *path;
	} paths[POLICY_PATHS_MAX];
	char text[POLICY_SIZE_MAX + 1]; // what the pointers above point into
};

// Adds up the NUL-terminated policy->text for `caller`; the rest of `policy` must be zero.
// Returns 0, or the number of the first line that is wrong with *problem saying how.
unsigned int policy_parse(struct policy *policy, const struct caller *caller, const char **problem);

// Fills the zeros of `limits` with the policy's defaults, or its maxima where these are less.
// Returns LIMIT_COUNT, or the index of the first limit that is over the policy's maximum or under
// what a session needs to start.
int policy_apply(const struct policy *policy, uint64_t limits[LIMIT_COUNT]);
