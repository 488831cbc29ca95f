// The caller's own standard input, output and error: what may go into a session as it is, and how
// the rest is read and written without ever waiting for good.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "failure.h"

enum endpoint_verdict {
	ENDPOINT_PASS,	 // goes into the session: pipes, files, /dev/null and its like
	ENDPOINT_RELAY,	 // stays here; the client copies: terminals, sockets, devices
	ENDPOINT_REFUSE, // neither: directories, what has no contents
};

// Judges descriptor `fd` (0, 1 or 2). With ENDPOINT_REFUSE, `failure` says why.
//
// A session can reopen what it holds through its own /proc/self/fd, with another access mode; the
// file's permissions count then, but not those of the directories above it. So a file is passed
// only if that gives the session nothing more than the descriptor itself.
enum endpoint_verdict endpoint_judge(int fd, struct failure *failure);

enum endpoint_kind {
	ENDPOINT_NONBLOCKING, // an open file description of our own, O_NONBLOCK
	ENDPOINT_SOCKET,      // MSG_DONTWAIT says it call by call
	ENDPOINT_BLOCKING,    // shared with others, whose O_NONBLOCK is not ours to set
};

struct endpoint {
	int fd; // -1: closed
	enum endpoint_kind kind;
	bool owned; // is closed with the endpoint
	bool terminal;
};

// Makes an endpoint of descriptor `fd` of the caller. A terminal or device is opened again where
// that is allowed, so that O_NONBLOCK does not hit those who share the descriptor.
struct endpoint endpoint_open(int fd, int access_mode);

// Makes an endpoint of a descriptor that is all ours, and sets O_NONBLOCK.
struct endpoint endpoint_own(int fd);

void endpoint_close(struct endpoint *endpoint);

// As read(2) and write(2), but neither waits for longer than a moment: -1 with EAGAIN then. To be
// called when poll(2) said so. A write may be of less than `size` bytes.
ssize_t endpoint_read(const struct endpoint *endpoint, void *buffer, size_t size);
ssize_t endpoint_write(const struct endpoint *endpoint, const void *data, size_t size);
