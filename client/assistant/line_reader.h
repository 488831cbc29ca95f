// Lines of a descriptor, none longer than LINE_READER_MAX, read when poll(2) says so.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define LINE_READER_MAX ((size_t)1 << 20)

struct line_reader {
	int fd;
	char *buffer; // LINE_READER_MAX bytes, or NULL before the first
	size_t start, used;
	bool end;  // nothing more comes
	bool over; // a line was too long: that is the end, too
};

// Reads what is there, once.
void line_reader_read(struct line_reader *reader);

// The next line, without its end; what is left at the end counts as one. Valid until the next read.
bool line_reader_next(struct line_reader *reader, const char **line, size_t *size);

void line_reader_free(struct line_reader *reader);
