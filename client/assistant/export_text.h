// Bytes that grow: what was said, typed and printed, which may be no text at all. Pure.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// All zero is an empty one. Memory that was not to be had is remembered in `lost`, so that a text
// can be put together first and looked at then.
struct text {
	char *data; // with a NUL behind it; NULL while empty
	size_t size, room;
	bool lost;
};

void text_add(struct text *text, const void *data, size_t size);
void text_string(struct text *text, const char *string);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_copy(struct text *text, const struct text *from);
void text_free(struct text *text);

// As a string; "" while empty. A NUL inside of it ends it.
const char *text_get(const struct text *text);
bool text_equal(const struct text *text, const void *data, size_t size);
bool text_is(const struct text *text, const char *string);
bool text_ends(const struct text *text, const char *string);

// Adds `from` in UTF-8, with U+FFFD for each byte that is none. Returns the number of these.
size_t text_utf8(struct text *text, const struct text *from);

// Adds `from` in base64 (RFC 4648, padded), or what `string` is the base64 of. False: it is not.
void text_base64(struct text *text, const struct text *from);
bool text_from_base64(struct text *text, const char *string);
