// The conversation of a session's assistant_listen and assistant_tell with the person.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "person.h"
#include "record.h"
#include "shell.h"

// As many as the hand lets speak at once (client/talk).
#define DIALOGUE_LISTENERS 16
// The person has gone, and the assistant was told so that often: it will not understand.
#define DIALOGUE_REFUSALS 3

struct dialogue {
	struct shell *shell;
	struct person *person;
	struct recorder *recorder;
	uint32_t listeners[DIALOGUE_LISTENERS];
	size_t count;
	bool outstanding; // a line is on its way to the first listener
	bool ended;	  // the person has nothing more to say
	unsigned int refusals;
	size_t *total; // what commands have printed and told, together
	size_t most;   // of it: what goes beyond is refused, and none is told after it
	char line[1 << 16];
	size_t size;
	bool recorded;	      // `line` is in the recording
	bool held;	      // `line` has one that no listener has got yet
	int epoll;	      // has the person's descriptor in it while a line is wanted
	bool watched, always; // always: poll(2) has no use for it
};

// Has what the shell's hand reports come here. `dialogue` has shell, person, recorder, total, most and epoll
// set, and nothing else.
void dialogue_start(struct dialogue *dialogue);

// The person may have said something.
void dialogue_look(struct dialogue *dialogue);

// Whether the assistant goes on listening to somebody who has gone.
bool dialogue_over(const struct dialogue *dialogue);
