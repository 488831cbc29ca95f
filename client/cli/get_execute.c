// lodger get (command.h), as the program `lodger` has it: hands over to lodger-get, the same
// program with libarchive. Loading that library and what it needs costs a millisecond, which every
// other command would pay. Runs as the caller.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

#define GET_PATH LODGER_LIBEXEC "/lodger-get"

int get_run(const struct options *options, struct failure *failure)
{
	// main.c found the command behind the program's own name.
	execv(GET_PATH, options->line - 1);
	fail(failure, "getting files: starting %s: %s; install Lodger again", GET_PATH,
	     strerror(errno));
	return FAILED;
}
