// lodger get (command.h): files out of a session. Runs as the caller.
#include "copy.h"

int get_run(const struct options *options, struct failure *failure)
{
	return copy_run(options, transfer_get, failure);
}
