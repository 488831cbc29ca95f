// Bytes that grow (export_text.h). Pure; runs as the caller.
#include "export_text.h"

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

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void text_base64(struct text *text, const struct text *from)
{
	const unsigned char *data = (const unsigned char *)from->data;

	text->lost = text->lost || from->lost;
	for (size_t at = 0; at < from->size; at += 3) {
		const size_t left = from->size - at;
		const uint32_t bits = (uint32_t)data[at] << 16 |
				      (uint32_t)(left > 1 ? data[at + 1] : 0) << 8 |
				      (uint32_t)(left > 2 ? data[at + 2] : 0);
		const char group[4] = { digits[bits >> 18], digits[bits >> 12 & 63],
					left > 1 ? digits[bits >> 6 & 63] : '=',
					left > 2 ? digits[bits & 63] : '=' };

		text_add(text, group, sizeof(group));
	}
}

// Adds the bytes of four characters; `last`: there may be padding. False: they are no group.
static bool group_read(struct text *text, const char group[4], bool last)
{
	const size_t padding = !last || group[3] != '=' ? 0 : group[2] != '=' ? 1 : 2;
	uint32_t bits = 0;

	for (size_t i = 0; i < 4; i++) {
		const char *digit = i < 4 - padding ? strchr(digits, group[i]) : digits;

		if (!digit)
			return false;
		bits = bits << 6 | (uint32_t)(digit - digits);
	}
	// What padding leaves over are zeros, so that each text has one form alone.
	if ((bits & ((1U << 8 * padding) - 1)) != 0)
		return false;

	const unsigned char bytes[3] = { (unsigned char)(bits >> 16), (unsigned char)(bits >> 8),
					 (unsigned char)bits };
	text_add(text, bytes, 3 - padding);
	return true;
}

bool text_from_base64(struct text *text, const char *string)
{
	const size_t length = strlen(string);

	if (length % 4 != 0)
		return false;
	for (size_t at = 0; at < length; at += 4)
		if (!group_read(text, string + at, at + 4 == length))
			return false;
	return true;
}
