// lodger help (command.h). Prints, from the tables of commands and options, what there is.
#include <stdio.h>

#include "command.h"

void command_help(const struct command *command)
{
	printf("usage: lodger %s [OPTION]...%s%s\n%s.\n", command->name,
	       *command->arguments ? " " : "", command->arguments, command->summary);
	if (*command->details)
		printf("\n%s\n", command->details);
	printf("\n");
	options_help(command);
}

void commands_help(void)
{
	printf("usage: lodger COMMAND [OPTION]... [ARGUMENT]...\n"
	       "Short-lived users of their own for whatever shall not run as you.\n\n");
	for (size_t i = 0; i < command_count; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].summary);
	printf("\nlodger COMMAND --help tells more; lodger --version tells the version.\n");
}

int help_run(const struct options *options, struct failure *failure)
{
	const struct command *command;

	if (options->argument_count == 0) {
		commands_help();
		return 0;
	}
	command = command_find(options->arguments[0]);
	if (!command) {
		fail(failure, "there is no command '%s'; lodger help lists them",
		     options->arguments[0]);
		return FAILED;
	}
	command_help(command);
	return 0;
}
