// lodger put (command.h): files into a session. Runs as the caller.
#include "copy.h"

int put_run(const struct options *options, struct failure *failure)
{
	return copy_run(options, transfer_put, failure);
}
