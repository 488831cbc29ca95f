// The checks of lodger doctor.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "failure.h"

enum outcome {
	OUTCOME_GOOD,
	OUTCOME_FAILED,
	OUTCOME_SKIPPED, // cannot be checked like this; the detail says why
	OUTCOME_INFO,	 // nothing depends on it
};

struct finding {
	enum outcome outcome;
	char detail[400]; // what was found
	char advice[400]; // what to do, when it failed
};

struct check {
	const char *name;
	void (*run)(struct finding *finding);
};

// What stands on the machine, what is installed, what systemd keeps, and what a session of our own
// shows.
extern const struct check machine_checks[], install_checks[], systemd_checks[], session_checks[];
extern const int machine_check_count, install_check_count, systemd_check_count, session_check_count;

// Two of the last, in files of their own.
void apparmor_check(struct finding *finding);
void proxy_check(struct finding *finding);

void good(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
void skipped(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void info(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The detail is the format's; the advice comes before it.
void bad(struct finding *finding, const char *advice, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

// Reads a text file whole, as far as it fits into `size`. Returns false when it cannot be opened.
bool doctor_read(const char *path, char *text, size_t size);

// Whether `word` is one of the words of `text`.
bool doctor_has_word(const char *text, const char *word);

// Executes a program found in PATH, its input empty, and reads what it prints, or why it cannot be
// executed, as far as it fits into `size`. Returns whether it ended with 0.
bool doctor_execute(char *const argv[], char *text, size_t size);

// Runs `argv` in a session made for it, for its exit code and the first line that it prints. Returns
// false with `failure`, also when the check of sessions has found that none can be made.
bool doctor_probe(char *argv[], int *exit_code, char *line, size_t size, struct failure *failure);
