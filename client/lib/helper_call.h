// Calls of lodger-helper, the one program that runs as root. The client trusts what it answers.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "failure.h"
#include "session.h"

#define HELPER_PATH LODGER_LIBEXEC "/lodger-helper"

// A session that has just been made.
struct created {
	uint32_t number;
	// Write end of the pipe that the session is tied to: close-on-exec; when it is closed the
	// session ends, unless agent_keep() has untied it.
	int tie;
};

// One call on its way.
struct helper_call {
	const char *doing; // "destroying lodger-7", for messages
	pid_t pid;
	int request; // the pipe that the request is written to
	int reply;
};

// Starts the helper, which then waits for its request. `call` has -1 for both descriptors; what is open
// afterwards, also after a failure, is to be closed, and the helper to be reaped.
bool helper_call_start(struct helper_call *call, struct failure *failure);

// Makes a session. Zeros in `limits` mean the policy's defaults.
bool helper_create(const uint64_t limits[LIMIT_COUNT], bool network_host, struct created *created,
		   struct failure *failure);

// Ends session `number`. Sets *gone when there was none any more, which is no failure. What it used
// is gone with it: session_usage() comes before.
bool helper_destroy(uint32_t number, bool *gone, struct failure *failure);

// Removes what dead sessions left. Returns how many through *collected.
// Sets *policy, when given, if it was the policy file that the helper did not accept.
bool helper_collect(uint32_t *collected, bool *policy, struct failure *failure);
