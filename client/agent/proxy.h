// The session's end of the host's proxy: a listener on the session's own loopback, and a process that
// hands each connection to the host by a local socket.
#pragma once

#include <stdint.h>
#include <sys/types.h>

// Returns a socket that listens on 127.0.0.1, PROXY_PORT; -1 where the host has no proxy for
// sessions, or where loopback is not the session's own.
int proxy_listen(void);

// Forks the process that serves `listener`. Returns its pid, or -1 with fork(2)'s errno.
pid_t proxy_start(int listener);
