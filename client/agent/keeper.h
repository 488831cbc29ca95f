// Keepers: one process for each connection, and for the job on it.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// What a keeper tells the agent, and what it gets for KEEP and STATUS: packets on a socket pair.
// Both are the same program in the same session, so plain structs will do.
enum notice_kind {
	NOTICE_JOB,    // the command exists; no answer
	NOTICE_KEEP,   // untie the session; answered when done
	NOTICE_STATUS, // answered
};

struct notice {
	enum notice_kind kind;
	pid_t command;
	uint64_t timeout_ms; // 0: none
	bool auto_off;	     // NOTICE_KEEP
};

struct answer {
	uint32_t jobs;
	bool tied;
	uint64_t remaining_ms;
};

// Serves `connection`, of session `number`, until it is over; `control` leads to the agent. To be
// called in a child of the agent's. Exits with 0 when the client has been told how it ended.
void __attribute__((noreturn)) keeper_run(uint32_t number, int connection, int control);
