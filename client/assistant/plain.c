// Control sequences taken out (plain.h). Pure.
#include "plain.h"

#define ESCAPE '\033'

size_t plain_text(enum plain_state *state, char *to, const char *data, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < size; i++) {
		const char byte = data[i];

		if (*state == PLAIN_ESCAPE) {
			*state = byte == '[' ? PLAIN_SEQUENCE : PLAIN_TEXT;
			if (byte == '[')
				continue;
			to[used++] = ESCAPE;
		} else if (*state == PLAIN_SEQUENCE) {
			// Parameters and intermediates (5.4); what is neither, nor the end, is text.
			if (byte >= 0x20 && byte <= 0x3f)
				continue;
			*state = PLAIN_TEXT;
			if (byte >= 0x40 && byte <= 0x7e)
				continue;
		}
		if (byte == ESCAPE)
			*state = PLAIN_ESCAPE;
		else
			to[used++] = byte;
	}
	return used;
}
