// How the client's functions say what went wrong: a sentence and an exit code, handed upwards and
// printed once, in main. Everything printed here is made printable first (printable.h).
#pragma once

#include <stdbool.h>

// Exit codes that are not the command's own.
enum {
	EXIT_TIMEOUT = 124,
	EXIT_LODGER = 125, // Lodger's own failure, bad usage too
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL = 128, // and the signal's number
};

struct failure {
	int exit_code;
	char text[1024]; // what was being done, on what, what went wrong, what to do next
};

// Fills `failure` in, with EXIT_LODGER. Always returns false: a function can `return fail(…)`.
// The text is one line; foreign words may go in as they are.
bool fail(struct failure *failure, const char *format, ...) __attribute__((format(printf, 2, 3)));

// The same with another exit code.
bool fail_with(struct failure *failure, int exit_code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

// Prints "lodger: TEXT" on standard error.
void failure_print(const struct failure *failure);

// Prints what is worth knowing but ends nothing, in the same form.
void notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
