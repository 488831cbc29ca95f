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
	char text[PRINTABLE_GROWTH * sizeof(failure->text)];

	printable(text, sizeof(text), failure->text);
	fprintf(stderr, "lodger: %s\n", text);
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
