// Signal dispositions (signals.h). Runs as the caller.
#include "signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static struct sigaction broken_pipe, child_ended;
static bool taken;

void signals_take(void)
{
	const struct sigaction ignored = { .sa_handler = SIG_IGN };
	const struct sigaction usual = { .sa_handler = SIG_DFL };

	taken = sigaction(SIGPIPE, &ignored, &broken_pipe) == 0 &&
		sigaction(SIGCHLD, &usual, &child_ended) == 0;
}

void signals_restore(void)
{
	if (!taken)
		return;
	sigaction(SIGPIPE, &broken_pipe, NULL);
	sigaction(SIGCHLD, &child_ended, NULL);
}
