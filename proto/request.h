// The request to the helper as numbers, and its decoding. Pure; in the helper it runs in the
// unprivileged parser child alone, never in root's process.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session.h"

enum operation { OPERATION_CREATE = 1, OPERATION_DESTROY, OPERATION_COLLECT };

enum problem {
	PROBLEM_NONE,
	PROBLEM_LENGTH,	 // the frame announces too much
	PROBLEM_SHORT,	 // the other side closed too early
	PROBLEM_DECODE,	 // not a protobuf message of this type, or one that needs too much memory
	PROBLEM_UNKNOWN, // fields that this version does not know
	PROBLEM_VERSION,
	PROBLEM_OPERATION, // none was named
	PROBLEM_SESSION,   // a number that no session can have
	PROBLEM_NETWORK,   // an enum value that does not exist
	PROBLEM_COUNT,
};

// Each problem's field and sentence, for the refusal.
struct request_problem {
	const char *field, *message;
};
extern const struct request_problem request_problems[PROBLEM_COUNT];

// What the parser child hands to root: numbers of a fixed size, and nothing else.
struct request {
	uint32_t problem;   // enum problem
	uint32_t version;   // of the protocol that the client speaks
	uint32_t operation; // enum operation
	uint32_t session;
	uint32_t network;  // enum Network of helper.proto
	uint32_t reserved; // zero
	uint64_t limits[LIMIT_COUNT];
};

// Decodes and checks the payload of a request frame, with memory from a fixed arena.
// Sets request->problem when something is wrong with it. `request` must be zeroed.
void request_decode(struct request *request, const uint8_t *payload, size_t size);

// Returns whether `request`, from a process that is not believed, is one that request_decode() could
// have made of a message without a problem.
bool request_in_range(const struct request *request);
