// Packets between the agent's side and a client: one in with its descriptors, replies out. Nothing
// here blocks on a client that does not read.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "order.h"
#include "protocol.h"

struct packet {
	const uint8_t *data; // static, until the next packet_receive
	size_t size;
	int descriptors[ORDER_DESCRIPTORS];
	size_t descriptor_count;
};

enum packet_result {
	PACKET_WHOLE,
	PACKET_REFUSED, // too long, or descriptors too many or lost: `refusal` tells
	PACKET_CLOSED,	// the client is gone (or sent nothing, which looks the same)
};

// Waits for one packet. The descriptors, close-on-exec, are the caller's only with PACKET_WHOLE.
enum packet_result packet_receive(int connection, struct packet *packet, struct refusal *refusal);

// Throws away what the client has sent but nobody will read: on a socket that is closed with data
// unread, the client would get ECONNRESET before it gets the last reply.
void packet_drain(int connection);

// Each sends one reply and returns false when the client is gone or its queue is full: it is to be
// dropped then. `master` of reply_started, if not -1, goes along as a descriptor.
bool reply_started(int connection, pid_t pid, int master);
bool reply_exited(int connection, int status, int signal, bool timed_out);
bool reply_refusal(int connection, const struct refusal *refusal);
bool reply_done(int connection);
bool reply_state(int connection, uint32_t jobs, bool tied, uint64_t remaining_ms);
