// lodger assistant (command.h). Runs as the caller.
#include "command.h"

int assistant_run(const struct options *options, struct failure *failure)
{
	(void)options;
	fail(failure, "assistant: not there yet");
	return FAILED;
}
