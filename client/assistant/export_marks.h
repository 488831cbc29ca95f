// What an export cannot hold as it is, and how that is marked in it: bytes that are no text, output
// that was dropped, what was said in the middle of a command. Pure.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "export_conversation.h"
#include "export_text.h"

// How often each was met, to be said to the caller.
struct marks {
	size_t binary;	   // texts with bytes that are no UTF-8
	size_t dropped;	   // outputs of which the recording has no more than a part
	size_t unfinished; // commands whose end is not in the recording
	size_t aside;	   // lines and texts that were said in the middle of a command
};

// Adds `from` in UTF-8, as text_utf8(). Returns whether it was so already.
bool marks_text(struct marks *marks, struct text *text, const struct text *from);

// Adds the output of `step` in UTF-8, and a line in brackets for what is not as it was. Returns
// whether the bytes are all as they were.
bool marks_output(struct marks *marks, struct text *text, const struct step *step);

// Takes the line about `dropped` bytes off the end of `text`, where it is.
void marks_take_off(struct text *text, uint64_t dropped);

// Adds what was said in the middle of the command, a line in brackets each.
void marks_aside(struct marks *marks, struct text *text, const struct step *step);

// Prints on standard error, for recording `name`, what was marked.
void marks_notice(const struct marks *marks, const char *name);
