// Failures and notices (failure.h). Runs as the caller. The one place where the client writes words
// that it did not choose itself on standard error.
#include "failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "printable.h"

bool fail(struct failure *failure, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(failure->text, sizeof(failure->text), format, arguments);
	va_end(arguments);
	failure->exit_code = EXIT_LODGER;
	return false;
}

bool fail_with(struct failure *failure, int exit_code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(failure->text, sizeof(failure->text), format, arguments);
	va_end(arguments);
	failure->exit_code = exit_code;
	return false;
}

void failure_print(const struct failure *failure)
{
	static const char start[] = "lodger: ", end[] = "\n";
	char line[sizeof(start) + PRINTABLE_GROWTH * sizeof(failure->text) + sizeof(end)];

	// Written at once, so that several that run side by side do not mix: fprintf of glibc 2.37 and
	// later writes an unbuffered stream 128 bytes at a time.
	memcpy(line, start, sizeof(start));
	printable(line + strlen(start), PRINTABLE_GROWTH * sizeof(failure->text), failure->text);
	fputs(strcat(line, end), stderr);
}

void notice(const char *format, ...)
{
	struct failure note;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(note.text, sizeof(note.text), format, arguments);
	va_end(arguments);
	failure_print(&note);
}
