// The session's seccomp filter: a list of what is denied, checked in order; all else is allowed.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum filter_compare {
	FILTER_NONE,	// no test: the row holds
	FILTER_EQUAL,	// the argument is `value`
	FILTER_DIFFERS, // the argument is anything but `value`
	FILTER_ANY_BIT, // the argument has at least one of the bits of `value`
};

// Looks at the low 32 bits of one argument. All arguments named in the table are ints, modes or
// flags of which the kernel itself drops the upper half, so a test of 64 bits could be evaded
// (CVE-2019-7303, CVE-2019-10063). Only a pointer needs a row for each half.
#define UPPER(argument) ((argument) + 8U)

struct filter_test {
	enum filter_compare compare;
	unsigned argument;
	uint32_t value;
};

#define FILTER_TESTS 2

struct filter_rule {
	const char *call;
	uint32_t number;
	struct filter_test tests[FILTER_TESTS]; // all must hold
	uint32_t verdict;			// SECCOMP_RET_…
	const char *reason;
};

// The table. For one system call the first row that holds decides.
extern const struct filter_rule filter_rules[];
extern const size_t filter_rule_count;

// Calls with a higher number did not exist when the table was written: they answer ENOSYS, as they
// do on the older kernels that programs must run on anyway.
#define FILTER_LAST_CALL 469U

// Puts the filter on the calling process, which must have no_new_privs set. It holds for all its
// descendants and cannot be taken off. Returns 0, or -1 with prctl(2)'s errno.
int filter_load(void);
