// The clock that jobs' timeouts go by.
#pragma once

#include <stdint.h>
#include <time.h>

// CLOCK_MONOTONIC in microseconds. Unlike clock_boot_usec, by which sessions end, it stands still
// while the machine is suspended: so do the jobs.
static inline uint64_t clock_usec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000U + (uint64_t)now.tv_nsec / 1000U;
}
