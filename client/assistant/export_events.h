// Recordings: the reader of events.jsonl (lodger-assistant(1)), which others may have written. Each
// line, field, value and their order is checked. Runs as the caller.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "export_conversation.h"
#include "failure.h"

// What a recording may hold, in bytes of its lines.
#define EXPORT_RECORDING_MAX (512U << 20)

// Reads a recording from `file`, called `name` in messages, into `conversation`, which is to be
// freed also after a failure. False, with FILE:LINE in `failure`: it is none.
bool events_read(FILE *file, const char *name, struct conversation *conversation,
		 struct failure *failure);

// Whether `name` is one of those who play the assistant, or a reason why a conversation ends.
bool player_known(const char *name);
bool reason_known(const char *name);
