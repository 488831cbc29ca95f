// lodger: the command. Runs as the caller, without any privilege: what needs root is asked of
// lodger-helper, what happens in a session of its agent. Failures are printed here, and only here.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "json_output.h"
#include "on_demand.h"
#include "signals.h"

// Whatever is opened later must not land on 0, 1 or 2. What was closed stays useless: reads find
// the end, writes fail.
static void descriptors_fill(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)open("/dev/null", O_RDONLY);
}

static int command_run(const struct command *command, int argc, char *argv[],
		       struct failure *failure)
{
	struct options options;
	int result = FAILED;

	if (options_parse(&options, command, argc, argv, failure)) {
		const int count = options.argument_count;

		if (options.help) {
			command_help(command);
			result = 0;
		} else if (count < command->least ||
			   (command->most >= 0 && count > command->most)) {
			fail(failure, "%s: %s; usage: lodger %s %s", command->name,
			     count < command->least ? "something is missing" : "too many arguments",
			     command->name, command->arguments);
		} else {
			result = command->run(&options, failure);
		}
	}
	options_free(&options);
	return result;
}

int main(int argc, char *argv[])
{
	const struct command *command;
	struct failure failure = { 0 };
	int result = FAILED;

	descriptors_fill();
	signals_take();
	if (on_demand_called()) {
		result = on_demand_called_run(argv, &failure);
	} else if (argc < 2) {
		fail(&failure, "no command given; lodger help lists them");
	} else if (strcmp(argv[1], "--version") == 0) {
		printf("lodger %s\n", LODGER_VERSION);
		result = 0;
	} else if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		commands_help();
		result = 0;
	} else if (!(command = command_find(argv[1]))) {
		fail(&failure, "there is no command '%s'; lodger help lists them", argv[1]);
	} else {
		result = command_run(command, argc - 1, argv + 1, &failure);
	}

	if (result != FAILED && !output_check(&failure))
		result = FAILED;
	if (result != FAILED)
		return result;
	failure_print(&failure);
	return failure.exit_code;
}
