// Text that comes from elsewhere (file names, messages of a session, user names) as something that
// any terminal shows and none obeys.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// One byte becomes at most that many.
#define PRINTABLE_GROWTH 4U

// Copies `text` to `to`: printable ASCII as it is, a backslash doubled, every other byte as \xNN.
// What is not ASCII is escaped too: what a character of UTF-8 is to one terminal is an escape
// sequence to another (0x9b begins one where terminals speak Latin-1). Cut at `size`, between
// escapes. Returns `to`.
char *printable(char *to, size_t size, const char *text);

// Whether `text` has no control character, in ASCII: such a name is not made on the caller's side.
bool printable_name(const char *text);
