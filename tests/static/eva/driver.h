// For the drivers: the world around the code under analysis, as arbitrary as its contract lets it
// be. Each driver includes the file that it analyses, so that static functions can be called too.
#pragma once

#include <__fc_builtin.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

// Linux's, which Frama-C's C library does not know.
#define CLOCK_BOOTTIME 7

// With -DPLANTED each driver goes one byte over a bound: the control.
#ifdef PLANTED
#define BEYOND 1
#else
#define BEYOND 0
#endif

static int any(int least, int most)
{
	return Frama_C_interval(least, most);
}

static void fill(void *at, size_t size)
{
	if (size > 0)
		Frama_C_make_unknown(at, size);
}
