// Foreign text made harmless (printable.h). Pure.
#include "printable.h"

#include <string.h>

static bool plain(unsigned char byte)
{
	return byte >= ' ' && byte < 0x7f;
}

char *printable(char *to, size_t size, const char *text)
{
	static const char digits[] = "0123456789abcdef";
	size_t used = 0;

	for (; *text; text++) {
		const unsigned char byte = (unsigned char)*text;
		const char escape[PRINTABLE_GROWTH] = { '\\', 'x', digits[byte >> 4],
							digits[byte & 15] };
		const size_t length = !plain(byte) ? sizeof(escape) : byte == '\\' ? 2 : 1;

		if (used + length >= size)
			break;
		if (length == sizeof(escape))
			memcpy(to + used, escape, sizeof(escape));
		else
			memset(to + used, byte, length);
		used += length;
	}
	to[used] = '\0';
	return to;
}

bool printable_name(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}
