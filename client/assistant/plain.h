// Colours and movements (ECMA-48 control sequences, ESC [ … letter) taken out of a terminal's output:
// whoever reads it as text has no use for them. Pure.
#pragma once

#include <stddef.h>

enum plain_state {
	PLAIN_TEXT,
	PLAIN_ESCAPE,
	PLAIN_SEQUENCE,
};

// Writes what is left of `data` to `to`, which has room for size + 1. A sequence may come in pieces.
size_t plain_text(enum plain_state *state, char *to, const char *data, size_t size);
