// lodger run (command.h): a session for one command. Runs as the caller.
#include "launch.h"

int run_run(const struct options *options, struct failure *failure)
{
	return launch_tied(options, options->arguments, options->terminal, failure);
}
