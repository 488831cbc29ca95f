// lodger packages, which and command (command.h), as the program `lodger` has them: hands over to
// lodger-packages, the same program with SQLite. Loading that library costs time, which every other
// command would pay. Runs as the caller, or in a session as the lodger.
#include "hand_over.h"
#include "on_demand.h"

#define PACKAGES_PATH LODGER_LIBEXEC "/lodger-packages"

int packages_run(const struct options *options, struct failure *failure)
{
	return hand_over(options, PACKAGES_PATH, failure);
}

int which_run(const struct options *options, struct failure *failure)
{
	return hand_over(options, PACKAGES_PATH, failure);
}

int on_demand_run(const struct options *options, struct failure *failure)
{
	return hand_over(options, PACKAGES_PATH, failure);
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
