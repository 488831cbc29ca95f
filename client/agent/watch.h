// The agent proper: PID 1's loop.
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct session {
	uint32_t number;
	uid_t owner;
	uint64_t deadline; // CLOCK_BOOTTIME, microseconds
};

// Serves the session until it is over. Descriptors AGENT_FD_* must be in place. Never returns:
// when this process exits, the kernel kills all others of the session.
void __attribute__((noreturn)) watch_run(const struct session *session);
