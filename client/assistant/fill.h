// lodger fill between its parts: the text on its way from a reader or a model to the standard output.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "clean.h"
#include "command.h"
#include "failure.h"
#include "fill_parse.h"
#include "fill_run.h"

// The longest text that a model is given, or writes.
#define FILL_TOLD_MOST ((size_t)4 << 20)

struct fill {
	struct fill_parser parser;
	struct fill_runner runner;
	struct clean clean;
	bool terminal; // the output is one: all that goes there is cleaned
	int input;
	int deadline; // a timerfd(2), or -1
};

// Writes text to the standard output, at once.
bool fill_pass(struct fill *fill, const char *text, size_t size, struct failure *failure);

// Passes text on, and runs what is in it.
bool fill_text(struct fill *fill, const char *text, size_t size, struct failure *failure);

// Reads the next piece of the input, `size` bytes at most. Sets *got, to 0 at its end. False: `failure`,
// of EXIT_TIMEOUT when the time is over.
bool fill_input(struct fill *fill, char *text, size_t size, size_t *got, struct failure *failure);

// Has a model write the text. `prompt` is what it is told first.
bool fill_api(struct fill *fill, const struct options *options, const char *prompt,
	      struct failure *failure);

// Whether `options` can be met: --api and what belongs to it. Called before anything is made.
bool fill_api_check(const struct options *options, struct failure *failure);
