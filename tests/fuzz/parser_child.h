// What parser_child tells parser_fuzz: what became of one request.
#pragma once

#include "request.h"

// SECURITY.md: root reads the child's answer for five seconds at most.
#define VERDICT_BOUND_MS 5000

enum verdict_kind {
	VERDICT_TAKEN,
	VERDICT_REFUSED,
	VERDICT_BROKEN, // something that must hold did not: `text` tells
};

struct verdict {
	uint32_t kind;
	uint32_t code; // of the refusal
	char field[32];
	char text[256];
	struct request request; // VERDICT_TAKEN
};
