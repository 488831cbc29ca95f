// lodger packages, which and command (command.h), as the program `lodger` has them: hands over to
// lodger-packages, the same program with SQLite. Loading that library costs time, which every other
// command would pay. Runs as the caller, or in a session as the lodger.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "on_demand.h"
#include "signals.h"

#define PACKAGES_PATH LODGER_LIBEXEC "/lodger-packages"

static int hand_over(const struct options *options, struct failure *failure)
{
	signals_restore();
	// main.c found the command behind the program's own name.
	execv(PACKAGES_PATH, options->line - 1);
	fail(failure, "%s: starting %s: %s; install Lodger again", options->line[0], PACKAGES_PATH,
	     strerror(errno));
	return FAILED;
}

int packages_run(const struct options *options, struct failure *failure)
{
	return hand_over(options, failure);
}

int which_run(const struct options *options, struct failure *failure)
{
	return hand_over(options, failure);
}

int on_demand_run(const struct options *options, struct failure *failure)
{
	return hand_over(options, failure);
}

// The links lead to the other program.
bool on_demand_called(void)
{
	return false;
}

int on_demand_called_run(char *argv[], struct failure *failure)
{
	(void)argv;
	(void)failure;
	return FAILED;
}
