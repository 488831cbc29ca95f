// A worker: the process that serves one connection.
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "connection.h"

struct gate {
	const char *daemon; // path of its socket
	const char *roots;  // directory of the links that keep channels
	struct limits limits;
	struct account *accounts;
	pid_t pid;
};

// Who has connected.
struct caller {
	int fd;
	uid_t uid;
	uint32_t session;	 // number, or 0 for somebody who is in none
	const char *turned_away; // why there is no service; NULL: there is
};

// Runs in a process of its own: gives up what it does not need and serves. Never returns.
void __attribute__((noreturn)) worker_run(const struct gate *gate, const struct caller *caller);
