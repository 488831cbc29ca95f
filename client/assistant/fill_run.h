// Running what the parser of lodger fill has found, in one session with one shell, and putting what
// came of it into words. Runs as the caller; the session's output is bounded and made clean.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"
#include "fill_parse.h"
#include "shell.h"

struct fill_bounds {
	uint64_t turns;	     // most commands and pieces of code
	uint64_t command_ms; // most time of one
	size_t output;	     // most output of one
	size_t total;	     // most output of all
	int deadline;	     // a timerfd(2) that can be read once all time is over, or -1
};

struct fill_runner {
	uint32_t session;
	struct shell_options shell_options;
	struct fill_bounds bounds;
	const char *prepare; // what each new shell is told first, which must succeed; NULL: nothing
	struct shell *shell;
	uint64_t turns;
	size_t total; // bytes of output so far
	// What is to be put into the text, UTF-8.
	char *result;
	size_t size;
};

// Begins. A shell is started whenever something is to be run and there is none.
void fill_runner_start(struct fill_runner *runner, uint32_t session,
		       const struct shell_options *options, const char *prepare,
		       const struct fill_bounds *bounds);

// Runs what `event`, FILL_COMMAND or FILL_WORK, has left in `parser`, and sets `result`: with the
// closing brace, or between <output> tags. False, with `failure`: a limit was reached (EXIT_TIMEOUT
// for the time), or Lodger itself failed.
bool fill_run_event(struct fill_runner *runner, const struct fill_parser *parser,
		    enum fill_event event, struct failure *failure);

void fill_runner_end(struct fill_runner *runner);
