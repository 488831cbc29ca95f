// The workers' system call filter: a list of what is allowed.
#pragma once

#include <stddef.h>

struct filter_rule {
	int number;
	const char *call;
	const char *reason;
};

// The table. Any other call ends the process.
extern const struct filter_rule filter_rules[];
extern const size_t filter_rule_count;

// Puts the filter on the calling process. Returns 0, or -1 with errno set.
int filter_load(void);
