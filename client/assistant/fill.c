// lodger fill (command.h). Runs as the caller.
#include "command.h"

int fill_run(const struct options *options, struct failure *failure)
{
	(void)options;
	fail(failure, "fill: not there yet");
	return FAILED;
}
