// Becoming another program of the same sources (hand_over.h). Runs as the caller, or in a session as
// the lodger.
#include "hand_over.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "signals.h"

int hand_over(const struct options *options, const char *path, struct failure *failure)
{
	signals_restore();
	// main.c found the command behind the program's own name.
	execv(path, options->line - 1);
	fail(failure, "%s: starting %s: %s; install Lodger again", options->line[0], path,
	     strerror(errno));
	return FAILED;
}
