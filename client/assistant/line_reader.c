// Lines of a descriptor (line_reader.h). Runs as the caller.
#include "line_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void line_reader_read(struct line_reader *reader)
{
	if (!reader->buffer)
		reader->buffer = malloc(LINE_READER_MAX);
	if (!reader->buffer || reader->end) {
		reader->end = true;
		return;
	}
	if (reader->start > 0) {
		memmove(reader->buffer, reader->buffer + reader->start,
			reader->used - reader->start);
		reader->used -= reader->start;
		reader->start = 0;
	}
	if (reader->used == LINE_READER_MAX) {
		reader->over = reader->end = true;
		reader->used = 0;
		return;
	}
	const ssize_t count =
		read(reader->fd, reader->buffer + reader->used, LINE_READER_MAX - reader->used);
	if (count > 0)
		reader->used += (size_t)count;
	else if (count == 0 || (errno != EAGAIN && errno != EINTR))
		reader->end = true;
}

bool line_reader_next(struct line_reader *reader, const char **line, size_t *size)
{
	const size_t left = reader->used - reader->start;

	if (!reader->buffer || left == 0)
		return false;
	const char *at = reader->buffer + reader->start;
	const char *newline = memchr(at, '\n', left);
	if (!newline && !reader->end)
		return false;
	*line = at;
	*size = newline ? (size_t)(newline - at) : left;
	reader->start += *size + (newline ? 1 : 0);
	return true;
}

void line_reader_free(struct line_reader *reader)
{
	free(reader->buffer);
	reader->buffer = NULL;
}
