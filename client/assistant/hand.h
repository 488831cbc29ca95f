// The client's end of its hand in a session (client/talk). What the hand says is checked, and no wait for
// it is without a bound.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"
#include "hand_protocol.h"

struct hand {
	int connection, to, from; // -1: closed
	size_t used;
	char buffer[sizeof(struct hand_header) + HAND_MESSAGE_MAX];
};

struct hand_frame {
	uint32_t type, id;
	const char *data; // valid until the next call
	size_t size;
};

// `nonce` names the link for nix-shell.
bool hand_open(struct hand *hand, uint32_t session, const char *nonce, struct failure *failure);
void hand_close(struct hand *hand);

// False: the hand does not take it.
bool hand_send(struct hand *hand, uint32_t type, uint32_t id, const void *data, size_t size);

// Takes what has come, when poll(2) says so. False: the hand is gone.
bool hand_read(struct hand *hand);

// The next whole frame of what has come. False: there is none yet.
bool hand_next(struct hand *hand, struct hand_frame *frame);

// Writes all of it to a descriptor that does not block, waiting for room for `patience_ms` each time
// at most. False: nobody takes it.
bool write_patiently(int fd, const char *data, size_t size, int patience_ms);
