// Text of elsewhere, as it comes in pieces, made fit for a document or a terminal. Pure.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// One byte becomes at most that many, and what was kept back of the piece before counts too.
#define CLEAN_GROWTH 4U
#define CLEAN_KEPT 4U

struct clean {
	bool ascii; // what is no ASCII is escaped, too: for terminals that may read it otherwise
	unsigned char kept[CLEAN_KEPT]; // the beginning of a character whose end is not there yet
	size_t size;
};

// Writes `data` to `to`, which has room for CLEAN_GROWTH * (size + CLEAN_KEPT): UTF-8, newlines and
// tabs as they are, every byte of something else as \xNN, control characters (C1 too) among them.
// Returns the size.
size_t clean_text(struct clean *clean, char *to, const char *data, size_t size);

// The same for what is still kept back at the end.
size_t clean_end(struct clean *clean, char *to);

// Whether this process's terminal reads UTF-8, by LC_ALL, LC_CTYPE or LANG.
bool clean_terminal_utf8(void);
