// lodger export (command.h). Runs as the caller.
#include "command.h"

int export_run(const struct options *options, struct failure *failure)
{
	(void)options;
	fail(failure, "export: not there yet");
	return FAILED;
}
