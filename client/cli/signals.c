// Signal dispositions (signals.h). Runs as the caller.
#include "signals.h"

#include <signal.h>
#include <stdbool.h>

// Behind an exec there is nothing but ignored and not.
static bool pipe_ignored, child_ignored;

void signals_take(void)
{
	pipe_ignored = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
	child_ignored = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
}

void signals_restore(void)
{
	if (!pipe_ignored)
		signal(SIGPIPE, SIG_DFL);
	if (child_ignored)
		signal(SIGCHLD, SIG_IGN);
}
