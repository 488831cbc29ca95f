// Lines of a file or pipe, one at a time, none longer than EXPORT_LINE_MAX.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "export_text.h"
#include "failure.h"

#define EXPORT_LINE_MAX (16U << 20)

// To be given `file` and `name`; lines_free() leaves the file open.
struct lines {
	FILE *file;
	const char *name; // for messages
	size_t number;	  // of the last line that was read, from 1
	struct text line; // without its newline
};

// Reads the next line. Returns 1, 0 at the end, or -1 with `failure`: it cannot be read, is too
// long, or was cut off: the last one has no newline.
int lines_next(struct lines *lines, struct failure *failure);
void lines_free(struct lines *lines);

// Fails with FILE:LINE before the text.
bool lines_fail(const struct lines *lines, struct failure *failure, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

// Takes the last line as a JSON object, without keys that are there twice. Returns it, to be given
// back, or NULL with `failure`.
json_t *lines_object(const struct lines *lines, struct failure *failure);

// Writes `value`, which it gives back, as a line of JSON in ASCII: any terminal shows it and none
// obeys. NULL: there was no memory for it.
bool line_write(FILE *file, json_t *value, struct failure *failure);
