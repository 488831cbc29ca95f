// Marks (mark.h). Pure. A mark is ESC ] 7717 ; NONCE ; STATUS BEL: a terminal that does not know it shows
// nothing (ECMA-48, 8.3.89). Without the nonce, a session can print what looks like one.
#include "mark.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE '\033'
#define BELL '\007'
#define STATUS_DIGITS 3U

void mark_start(struct mark *mark, const char *nonce)
{
	*mark = (struct mark){ 0 };
	mark->begin_size = (size_t)snprintf(mark->begin, sizeof(mark->begin), "\033]7717;%.*s;",
					    MARK_NONCE, nonce);
}

// Whether what is kept, and this byte, still may become a mark.
static bool goes_on(const struct mark *mark, char byte)
{
	const size_t at = mark->kept_size;

	if (mark->kept[0] != ESCAPE)
		return false;
	if (at < mark->begin_size)
		return byte == mark->begin[at];
	return byte >= '0' && byte <= '9' && at < mark->begin_size + STATUS_DIGITS;
}

// The alternate screen: ESC [ ? 47 h, 1047 h, 1049 h (xterm's control sequences).
static void screen_look(struct mark *mark, char byte)
{
	static const char *const sequences[] = { "\033[?47h", "\033[?1047h", "\033[?1049h" };
	const size_t size = sizeof(mark->tail);

	memmove(mark->tail, mark->tail + 1, size - 1);
	mark->tail[size - 1] = byte;
	if (byte != 'h')
		return;
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++) {
		const size_t length = strlen(sequences[i]);

		if (memcmp(mark->tail + size - length, sequences[i], length) == 0)
			mark->screen = true;
	}
}

static size_t put(struct mark *mark, char *to, char byte)
{
	screen_look(mark, byte);
	*to = byte;
	return 1;
}

size_t mark_flush(struct mark *mark, char *to)
{
	const size_t size = mark->kept_size;

	for (size_t i = 0; i < size; i++)
		put(mark, to + i, mark->kept[i]);
	mark->kept_size = 0;
	return size;
}

static bool completes(struct mark *mark, char byte)
{
	if (byte != BELL || mark->kept_size <= mark->begin_size)
		return false;
	mark->kept[mark->kept_size] = '\0';
	mark->status = atoi(mark->kept + mark->begin_size);
	mark->found = true;
	mark->kept_size = 0;
	return true;
}

size_t mark_feed(struct mark *mark, char *to, const char *data, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < size; i++) {
		const char byte = data[i];

		if (mark->kept_size > 0) {
			if (goes_on(mark, byte)) {
				mark->kept[mark->kept_size++] = byte;
				continue;
			}
			if (completes(mark, byte))
				continue;
			if (mark->kept[0] == '\r' && byte == '\n')
				mark->kept_size = 0;
			used += mark_flush(mark, to + used);
		}
		if (byte == ESCAPE || byte == '\r')
			mark->kept[mark->kept_size++] = byte;
		else
			used += put(mark, to + used, byte);
	}
	return used;
}
