// Lines and JSON objects of a file that others wrote (export_lines.h). Runs as the caller.
#include "export_lines.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool lines_fail(const struct lines *lines, struct failure *failure, const char *format, ...)
{
	char text[sizeof(failure->text)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return fail(failure, "%s:%zu: %s", lines->name, lines->number, text);
}

int lines_next(struct lines *lines, struct failure *failure)
{
	struct text *line = &lines->line;
	char piece[4096];
	size_t used = 0;
	int c;

	line->size = 0;
	lines->number++;
	while ((c = getc_unlocked(lines->file)) != EOF && c != '\n') {
		piece[used++] = (char)c;
		if (used == sizeof(piece)) {
			text_add(line, piece, used);
			used = 0;
		}
		if (line->size > EXPORT_LINE_MAX) {
			lines_fail(lines, failure, "the line is longer than %u MiB",
				   EXPORT_LINE_MAX >> 20);
			return -1;
		}
	}
	text_add(line, piece, used);
	if (ferror(lines->file)) {
		fail(failure, "reading %s: %s", lines->name, strerror(errno));
		return -1;
	}
	if (line->lost) {
		fail(failure, "reading %s: out of memory", lines->name);
		return -1;
	}
	if (c == '\n')
		return 1;
	if (line->size == 0)
		return 0;
	lines_fail(lines, failure, "the file ends in the middle of a line");
	return -1;
}

void lines_free(struct lines *lines)
{
	text_free(&lines->line);
}

json_t *lines_object(const struct lines *lines, struct failure *failure)
{
	json_error_t error;
	json_t *object = json_loadb(text_get(&lines->line), lines->line.size,
				    JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);

	if (json_is_object(object))
		return object;
	if (object)
		lines_fail(lines, failure, "the line is no JSON object");
	else
		lines_fail(lines, failure, "the line is no JSON: %s at byte %d", error.text,
			   error.position);
	json_decref(object);
	return NULL;
}

bool line_write(FILE *file, json_t *value, struct failure *failure)
{
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	bool good = text != NULL;

	json_decref(value);
	if (!good)
		return fail(failure, "making a line of JSON: out of memory");
	good = fputs(text, file) != EOF && putc('\n', file) != EOF;
	free(text);
	return good || fail(failure, "writing to standard output: %s", strerror(errno));
}
