// What the gate writes down: one line for what it refused, or could not do. Never a control
// character of anybody else's.
#pragma once

#include <stdbool.h>

enum log_level {
	LOG_PROBLEM, // for the administrator to look at
	LOG_REFUSAL,
};

// Opens the log before there are any workers: standard error if `foreground`, else syslog's socket
// (facility authpriv, as the helper's). A machine without a log loses the lines and nothing else.
void log_open(bool foreground);

// Writes one line.
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

// The descriptor that it writes to, or -1.
int log_descriptor(void);
