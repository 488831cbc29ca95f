// Text made fit for a document or a terminal (clean.h). Pure, but for a look at the environment.
#include "clean.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

// How many bytes a character has that begins with `byte`; 0: none does.
static size_t character_size(unsigned char byte)
{
	if (byte < 0x80)
		return 1;
	if (byte >= 0xc2 && byte < 0xe0)
		return 2;
	if (byte >= 0xe0 && byte < 0xf0)
		return 3;
	return byte >= 0xf0 && byte < 0xf5 ? 4 : 0;
}

// Whether byte `at` of a character fits to the first (RFC 3629: nothing overlong, no surrogates).
static bool fits(const unsigned char *character, size_t at)
{
	const unsigned char first = character[0], byte = character[at];

	if (byte < 0x80 || byte > 0xbf)
		return false;
	if (at > 1)
		return true;
	return !(first == 0xe0 && byte < 0xa0) && !(first == 0xed && byte > 0x9f) &&
	       !(first == 0xf0 && byte < 0x90) && !(first == 0xf4 && byte > 0x8f);
}

static size_t escape(char *to, unsigned char byte)
{
	static const char digits[] = "0123456789abcdef";

	to[0] = '\\';
	to[1] = 'x';
	to[2] = digits[byte >> 4];
	to[3] = digits[byte & 15];
	return CLEAN_GROWTH;
}

static size_t escape_kept(struct clean *clean, char *to)
{
	size_t used = 0;

	for (size_t i = 0; i < clean->size; i++)
		used += escape(to + used, clean->kept[i]);
	clean->size = 0;
	return used;
}

// A whole character is there.
static size_t character_write(struct clean *clean, char *to)
{
	const unsigned char *kept = clean->kept;
	const size_t size = clean->size;
	const bool control =
		size == 1 ? (kept[0] < ' ' && kept[0] != '\n' && kept[0] != '\t') || kept[0] == 0x7f
			  : kept[0] == 0xc2 && kept[1] < 0xa0;

	if (control || (clean->ascii && size > 1))
		return escape_kept(clean, to);
	memcpy(to, kept, size);
	clean->size = 0;
	return size;
}

size_t clean_text(struct clean *clean, char *to, const char *data, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < size; i++) {
		clean->kept[clean->size++] = (unsigned char)data[i];
		if (clean->size > 1 && !fits(clean->kept, clean->size - 1)) {
			// This byte begins something new.
			clean->size--;
			used += escape_kept(clean, to + used);
			clean->kept[clean->size++] = (unsigned char)data[i];
		}
		const size_t wanted = character_size(clean->kept[0]);
		if (wanted == 0)
			used += escape_kept(clean, to + used);
		else if (clean->size == wanted)
			used += character_write(clean, to + used);
	}
	return used;
}

size_t clean_end(struct clean *clean, char *to)
{
	return escape_kept(clean, to);
}

bool clean_terminal_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *value = NULL;

	// The first that says something counts (POSIX, 8.2).
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !(value && *value); i++)
		value = getenv(names[i]);
	return value && (strcasestr(value, ".utf-8") || strcasestr(value, ".utf8"));
}
