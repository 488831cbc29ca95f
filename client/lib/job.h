// Running one job in a session, from the caller's standard descriptors to its exit code.
#pragma once

#include <stdbool.h>

#include "agent_call.h"
#include "failure.h"

// What came of a job.
struct job_end {
	int exit_code;
	int signal; // that ended it, or 0
};

// Runs `job` over `connection` with the caller's own standard descriptors: those that are harmless
// go into the session as they are, the others are relayed (endpoint.h); with job->terminal the
// session gets a terminal of its own. Forwards signals meanwhile.
bool job_run(int connection, struct job *job, struct job_end *end, struct failure *failure);

// Starts `job` with exactly `descriptors`, or NULL with a terminal, and waits until it runs. Returns its
// pid, and the terminal's master, in *started. One that has ended already is a failure.
bool job_start(int connection, const struct job *job, const int descriptors[3],
	       struct agent_reply *started, struct failure *failure);

// Waits for the end of a started job, for `timeout_ms` at most.
bool job_wait(int connection, int timeout_ms, struct job_end *end, struct failure *failure);
