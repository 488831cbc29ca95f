// The daemon's operations, all that there are in Nix 2.8 and 2.26, and what the gate does with each:
// a table that a reviewer reads and a test walks (tests/unit/gate_operations_test.c).
#pragma once

#include <stddef.h>
#include <stdint.h>

enum policy {
	POLICY_PASS,	 // checked in form, and passed on
	POLICY_ADD,	 // content for the store: limited, then passed on (add.c)
	POLICY_BUILD,	 // passed on if nothing is built but the channel (build.c)
	POLICY_SETTINGS, // taken note of, not passed on (settings.c)
	POLICY_PRETEND,	 // answered with success, and nothing done
	POLICY_REFUSE,
};

// Those that the gate sends by itself, too.
enum {
	OPERATION_ENSURE_PATH = 10,
	OPERATION_ADD_TEMP_ROOT = 11,
	OPERATION_QUERY_DERIVATION_OUTPUT_MAP = 41,
};

// Shapes of requests and replies, at version 1.34 of the protocol. Of both:
//
//   n  number               s  string of any bytes
//   l  list of strings      […]  a count, and that many of what is inside
//
// Of requests, where a string must be more than that:
//
//   b  0 or 1               p  store path              P  list of store paths
//   N  name of an object    M  method of addressing    C  content address, or nothing
//   H  hash of a store path O  output of a derivation by hash
//   D  list of what is to be built
//   F  content in frames; at the end only
//
// Of replies:
//
//   ?  0, and there is no more; or 1, and the rest
//   r  a number that is remembered: when an object was registered
struct operation {
	uint32_t number;
	const char *name;
	const char *request;
	const char *reply; // NULL where it never comes to one
	enum policy policy;
	// For a refusal: "lodger: ASKED is refused: WHY".
	const char *asked, *why;
};

extern const struct operation operations[];
extern const size_t operation_count;

// Returns the operation of that number, or NULL.
const struct operation *operation_find(uint64_t number);
