// lodger get (command.h), as the program `lodger` has it: hands over to lodger-get, the same
// program with libarchive. Loading that library and what it needs costs a millisecond, which every
// other command would pay. Runs as the caller.
#include "hand_over.h"

#define GET_PATH LODGER_LIBEXEC "/lodger-get"

int get_run(const struct options *options, struct failure *failure)
{
	return hand_over(options, GET_PATH, failure);
}
