// Cleanup attributes: a variable that gives its resource back when it goes out of scope.
#pragma once

#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}

#define autoclose __attribute__((cleanup(cleanup_close)))
#define autofree __attribute__((cleanup(cleanup_free)))
