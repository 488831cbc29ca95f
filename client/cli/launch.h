// What run, exec and shell share: from options and words to a job, and running it.
#pragma once

#include <stdbool.h>

#include "command.h"
#include "failure.h"
#include "usage.h"

// Runs `words` (NULL-terminated; NULL itself: an interactive shell) in session `number`, with the
// options' packages, environment, directory and time limit.
// Returns the exit code, or FAILED.
int launch(uint32_t number, const struct options *options, char *const words[], bool terminal,
	   struct failure *failure);

// The same in a session that is made for it, tied to this process, and destroyed afterwards.
int launch_tied(const struct options *options, char *const words[], bool terminal,
		struct failure *failure);

// Puts what `usage` knows into one line.
#define USAGE_LINE 256
char *usage_line(char text[USAGE_LINE], const struct usage *usage);
