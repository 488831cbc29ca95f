// What a model is told first: how it works here, which software there is, and what its limits are.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "failure.h"
#include "session.h"

// The longest prompt that --prompt-file may have.
#define PROMPT_MAX ((size_t)1 << 20)

enum prompt_kind {
	PROMPT_SHELL, // it types at the shell: lodger assistant
	PROMPT_FILL,  // it writes a text: lodger fill
};

struct prompt_facts {
	const char *file;	// taken as it is instead of all the rest; NULL: none
	const uint64_t *limits; // the session's, LIMIT_COUNT
	bool network, auto_off;
	// 0: no such limit
	uint64_t turns, seconds, command_seconds, command_output, total_output;
};

// Makes the prompt: UTF-8, to be freed. NULL with `failure`.
char *prompt_make(enum prompt_kind kind, const struct prompt_facts *facts, struct failure *failure);
