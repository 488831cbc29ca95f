// Bytes that grow (export_text.h). Pure; runs as the caller.
#include "export_text.h"

#include <resolv.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" // U+FFFD

static bool text_grow(struct text *text, size_t more)
{
	if (text->lost || more >= SIZE_MAX / 4 - text->size) {
		text->lost = true;
		return false;
	}
	if (text->size + more < text->room)
		return true;

	const size_t room = 2 * (text->size + more) + 32;
	char *data = realloc(text->data, room);

	if (!data) {
		text->lost = true;
		return false;
	}
	text->data = data;
	text->room = room;
	return true;
}

void text_add(struct text *text, const void *data, size_t size)
{
	if (!text_grow(text, size))
		return;
	if (size > 0)
		memcpy(text->data + text->size, data, size);
	text->size += size;
	text->data[text->size] = '\0';
}

void text_string(struct text *text, const char *string)
{
	text_add(text, string, strlen(string));
}

void text_printf(struct text *text, const char *format, ...)
{
	va_list arguments;
	char *string = NULL;

	va_start(arguments, format);
	if (vasprintf(&string, format, arguments) < 0)
		text->lost = true;
	else
		text_string(text, string);
	va_end(arguments);
	free(string);
}

void text_copy(struct text *text, const struct text *from)
{
	text->lost = text->lost || from->lost;
	text_add(text, from->data, from->size);
}

void text_free(struct text *text)
{
	free(text->data);
	*text = (struct text){ 0 };
}

const char *text_get(const struct text *text)
{
	return text->data ? text->data : "";
}

bool text_equal(const struct text *text, const void *data, size_t size)
{
	return text->size == size && (size == 0 || memcmp(text->data, data, size) == 0);
}

bool text_is(const struct text *text, const char *string)
{
	return text_equal(text, string, strlen(string));
}

bool text_ends(const struct text *text, const char *string)
{
	const size_t size = strlen(string);

	return text->size >= size && memcmp(text_get(text) + text->size - size, string, size) == 0;
}

static bool continues(const unsigned char *byte, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if ((byte[i] & 0xc0) != 0x80)
			return false;
	return true;
}

// The length of the character at `byte`, of `size` bytes that are left; 0: there is none. Neither
// longer forms than needed nor surrogates are characters (RFC 3629).
static size_t character(const unsigned char *byte, size_t size)
{
	const size_t length = byte[0] < 0x80   ? 1
			      : byte[0] < 0xc2 ? 0
			      : byte[0] < 0xe0 ? 2
			      : byte[0] < 0xf0 ? 3
			      : byte[0] < 0xf5 ? 4
					       : 0;

	if (length < 2 || length > size || !continues(byte + 1, length - 1))
		return length == 1 ? 1 : 0;
	if ((byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xed && byte[1] > 0x9f) ||
	    (byte[0] == 0xf0 && byte[1] < 0x90) || (byte[0] == 0xf4 && byte[1] > 0x8f))
		return 0;
	return length;
}

size_t text_utf8(struct text *text, const struct text *from)
{
	const unsigned char *data = (const unsigned char *)from->data;
	size_t bad = 0, begin = 0, at = 0;

	text->lost = text->lost || from->lost;
	while (at < from->size) {
		const size_t length = character(data + at, from->size - at);

		if (length > 0) {
			at += length;
			continue;
		}
		text_add(text, data + begin, at - begin);
		text_string(text, REPLACEMENT);
		begin = ++at;
		bad++;
	}
	if (at > begin)
		text_add(text, data + begin, at - begin);
	return bad;
}

void text_base64(struct text *text, const struct text *from)
{
	const size_t room = (from->size + 2) / 3 * 4 + 1;

	text->lost = text->lost || from->lost;
	if (from->size == 0 || !text_grow(text, room))
		return;

	const int size = b64_ntop((const unsigned char *)from->data, from->size,
				  text->data + text->size, room);
	if (size < 0)
		text->lost = true;
	else
		text->size += (size_t)size;
}

bool text_from_base64(struct text *text, const char *string)
{
	const size_t room = strlen(string) / 4 * 3 + 4;

	if (!text_grow(text, room))
		return true;

	const int size = b64_pton(string, (unsigned char *)text->data + text->size, room);
	text->size += size > 0 ? (size_t)size : 0;
	text->data[text->size] = '\0';
	return size >= 0;
}
