// What comes out of a shell's terminal, with the marks of its prompts taken out. Pure.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define MARK_NONCE 32
// What is kept back at most: a mark, but for its last byte.
#define MARK_KEPT 64

struct mark {
	char begin[MARK_KEPT]; // what a mark begins with
	size_t begin_size;
	char kept[MARK_KEPT];
	size_t kept_size;
	char tail[8]; // the last bytes, for the screen's sequences
	bool found;   // there was a mark; for the caller to clear
	int status;   // of the last one
	bool screen;  // the alternate screen was asked for; for the caller to clear
};

// `nonce` has MARK_NONCE hexadecimal digits.
void mark_start(struct mark *mark, const char *nonce);

// Takes `data`, and writes what is left of it to `to`, which has room for size + MARK_KEPT. CRLF is
// made LF. Returns the size.
size_t mark_feed(struct mark *mark, char *to, const char *data, size_t size);

// Writes what is kept back: it was no mark.
size_t mark_flush(struct mark *mark, char *to);
