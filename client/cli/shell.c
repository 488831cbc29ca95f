// lodger shell (command.h): an interactive shell. Runs as the caller.
#include <unistd.h>

#include "launch.h"
#include "names.h"

// Limits belong to a session from its beginning.
static bool limits_given(const struct options *options)
{
	for (int i = 0; i < LIMIT_COUNT; i++)
		if (options->limits[i] > 0)
			return true;
	return options->network_host;
}

int interactive_run(const struct options *options, struct failure *failure)
{
	const bool terminal = isatty(STDIN_FILENO);

	if (options->argument_count == 0)
		return launch_tied(options, NULL, terminal, failure);

	const uint32_t number = session_parse(options->arguments[0], failure);
	if (number == 0)
		return FAILED;
	if (limits_given(options) || options->usage) {
		fail(failure,
		     "shell: limits and --usage are for a session that is made; %s exists "
		     "already",
		     options->arguments[0]);
		return FAILED;
	}
	return launch(number, options, NULL, terminal, failure);
}
