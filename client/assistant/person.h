// Who plays the person: the caller's terminal, a program, a recording.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "failure.h"
#include "line_reader.h"

enum person_state {
	PERSON_NOTHING, // has not said anything yet
	PERSON_LINE,
	PERSON_ENDED, // and will not say anything any more
};

struct person;

struct person_operations {
	// Something for the person; several make one reply.
	void (*tell)(struct person *person, const char *text, size_t size);
	// The assistant listens: the reply is complete, and a line is wanted.
	void (*want)(struct person *person);
	// Takes a line, if there is one by now; it is valid until the next call.
	enum person_state (*take)(struct person *person, const char **line, size_t *size);
	// The conversation is over.
	void (*close)(struct person *person);
};

struct person {
	const struct person_operations *operations;
	int fd; // what to poll(2) while a line is wanted, or -1: take() knows at once
};

// Each returns NULL with `failure`. The terminal's lines come from `input`, which somebody else may
// read from, too. `prompts`: it is a terminal, and there is somebody to ask. `lines`: what is
// told is shown line by line, since somebody else has prompts there.
struct person *person_terminal(struct line_reader *input, bool prompts, bool lines,
			       struct failure *failure);
struct person *person_exec(const char *program, bool json_lines, struct failure *failure);

struct replay;
struct person *person_replay(struct replay *replay, struct failure *failure);
