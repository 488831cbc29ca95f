// lodger assistant, fill and export (command.h), as the program `lodger` has them: hands over to
// lodger-assistant, the same program with libcurl, which no other command should load. Runs as the
// caller.
#include "hand_over.h"

#define ASSISTANT_PATH LODGER_LIBEXEC "/lodger-assistant"

int assistant_run(const struct options *options, struct failure *failure)
{
	return hand_over(options, ASSISTANT_PATH, failure);
}

int fill_run(const struct options *options, struct failure *failure)
{
	return hand_over(options, ASSISTANT_PATH, failure);
}

int export_run(const struct options *options, struct failure *failure)
{
	return hand_over(options, ASSISTANT_PATH, failure);
}
