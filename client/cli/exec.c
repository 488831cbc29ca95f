// lodger exec (command.h): a command in a session that there is. Runs as the caller.
#include <string.h>

#include "launch.h"
#include "names.h"

int exec_run(const struct options *options, struct failure *failure)
{
	const uint32_t number = session_parse(options->arguments[0], failure);
	char **words = options->arguments + 1;

	if (number == 0)
		return FAILED;
	if (strcmp(words[0], "--") == 0)
		words++;
	if (!words[0]) {
		fail(failure,
		     "exec: no command given; usage: lodger exec SESSION [--] COMMAND [ARG]...");
		return FAILED;
	}
	return launch(number, options, words, options->terminal, failure);
}
