// Calls of a session's agent over its socket. The agent runs as the lodger: what it answers is
// checked like anything that comes from a session.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"

// What is to be run.
struct job {
	char **argv;	    // NULL-terminated, at least one word
	char **environment; // NAME=VALUE each, added to the session's own
	size_t environment_count;
	const char *directory; // NULL: the lodger's home
	bool terminal;
	uint32_t rows, columns; // with a terminal
	uint64_t timeout_ms;	// 0: none
};

enum agent_reply_kind {
	AGENT_STARTED,
	AGENT_EXITED,
	AGENT_DONE,
	AGENT_STATE,
	AGENT_CLOSED, // the agent is gone, or has said all
};

struct agent_reply {
	enum agent_reply_kind kind;
	uint32_t pid;	// AGENT_STARTED: in the session's numbers
	int descriptor; // AGENT_STARTED with a terminal: its master, close-on-exec; else -1
	int exit_code;	// AGENT_EXITED: as of the command line: 124, 128+n or the command's own
	int signal;	// AGENT_EXITED: what ended it, else 0
	uint32_t jobs;	// AGENT_STATE
	bool tied;
	uint64_t remaining_ms;
};

// Connects to session `number`. Returns a descriptor, or -1 with `failure`: it does not exist, has
// ended, is not the caller's, or does not answer.
int agent_connect(uint32_t number, struct failure *failure);

// Sends Exec, with `descriptors` (standard input, output, error; NULL with a terminal).
bool agent_exec(int connection, const struct job *job, const int descriptors[3],
		struct failure *failure);

// Sends a signal to the job. One that cannot be sent is lost: the job, or the agent, is gone.
void agent_signal(int connection, int number);

// Waits up to `timeout_ms` for a reply (0: takes what is there). An agent's Error is a failure,
// with exit code 126 or 127 where that is what it means.
bool agent_receive(int connection, int timeout_ms, struct agent_reply *reply,
		   struct failure *failure);

// Waits up to `timeout_ms` for the first reply to agent_exec of `job`. That is AGENT_STARTED, with a
// terminal's master in reply->descriptor if and only if the job has one; or AGENT_EXITED: a command that
// kills all of its uid may do so before anybody has said that it runs. Anything else is a failure.
bool agent_receive_first(int connection, int timeout_ms, const struct job *job,
			 struct agent_reply *reply, struct failure *failure);

// Unties the session from its creator; with `auto_off` its jobs have no commands on demand.
bool agent_keep(int connection, bool auto_off, struct failure *failure);

// Asks how the session is.
bool agent_status(int connection, struct agent_reply *reply, struct failure *failure);
