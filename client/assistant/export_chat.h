// Conversations as chat JSONL, one a line, in the form of OpenAI's chat completions with tool calls
// (lodger-export(1)); written and read. Pure but for the file that is read.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "export_conversation.h"
#include "export_lines.h"
#include "export_marks.h"
#include "failure.h"

// The one function that the assistant has.
#define CHAT_FUNCTION "shell"
#define CHAT_ARGUMENT "command"

// Makes the object of a conversation; `system`, unless NULL, in place of its own prompt. NULL:
// memory was not to be had.
json_t *chat_make(const struct conversation *conversation, const struct text *system,
		  struct marks *marks);

// Reads the conversation of the next line of `lines`, to be freed also after a failure. Returns 1, 0
// at the end, or -1 with FILE:LINE in `failure`.
int chat_next(struct lines *lines, struct conversation *conversation, struct failure *failure);
