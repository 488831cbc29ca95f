// The gate's one process that accepts connections.
#pragma once

#include "worker.h"

// Most workers at once.
#define LISTEN_WORKERS 2048U

// Makes a socket at `path` that everybody may connect to. A socket that an earlier gate left there is
// removed; what is not its own, or is listened on, is not. Returns -1 with `what` set and errno.
int listen_make(const char *path, const char **what);

// Accepts connections until it is told to end (SIGTERM, SIGINT), then ends its workers. `fd` must
// not block.
void listen_run(const struct gate *gate, int fd);
