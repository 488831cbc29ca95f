// The table of the subcommands (command.h). Pure.
#include <string.h>

#include "command.h"

const struct command commands[] = {
	{ "create", "", "make a session and print its name",
	  "The session lives until it is destroyed or its time to live is over.",
	  OPTIONS_LIMITS | OPTIONS_AUTO | OPTIONS_JSON, false, 0, 0, create_run },
	{ "run", "[--] COMMAND [ARG]...", "run a command in a session of its own",
	  "Makes a session, runs COMMAND in it, destroys it. The exit code is the command's; 124\n"
	  "after --timeout, 125 when Lodger itself failed, 126 or 127 when COMMAND cannot be\n"
	  "executed or does not exist, 128+N when signal N ended it.\n"
	  "Pipes and files are passed to the command as they are. A terminal never is: without -t\n"
	  "the command gets pipes, which are copied to and from it; with -t it gets a terminal of\n"
	  "its own. ^C is passed on; a second one within two seconds ends the session.",
	  OPTIONS_LIMITS | OPTIONS_AUTO | OPTIONS_JOB | OPTIONS_TERMINAL | OPTIONS_USAGE, true, 1,
	  -1, run_run },
	{ "exec", "SESSION [--] COMMAND [ARG]...", "run a command in a session",
	  "As run, in a session that there is already. What the command leaves running goes\n"
	  "on; when lodger ends before the command, the command's process group ends with it.",
	  OPTIONS_AUTO | OPTIONS_JOB | OPTIONS_TERMINAL, true, 2, -1, exec_run },
	{ "shell", "[SESSION]", "work in a session",
	  "An interactive bash (with -p: nix-shell) on a terminal of its own. Without SESSION one\n"
	  "is made for it and destroyed at the end. When standard input is not a terminal, the\n"
	  "shell reads commands from it.",
	  OPTIONS_LIMITS | OPTIONS_AUTO | OPTIONS_JOB | OPTIONS_USAGE, false, 0, 1,
	  interactive_run },
	{ "list", "", "list your sessions",
	  "With --all, everybody's. A session that has ended is shown until its remains are\n"
	  "removed: by lodger collect, or by a create that needs the room.",
	  OPTIONS_ALL | OPTIONS_JSON, false, 0, 0, list_run },
	{ "show", "SESSION", "show a session's limits and what it uses", "", OPTIONS_JSON, false, 1,
	  1, show_run },
	{ "destroy", "SESSION...", "end sessions, with all that is in them",
	  "With --all, all of yours. A session that is gone already is no failure.",
	  OPTIONS_ALL | OPTIONS_JSON, false, 0, -1, destroy_run },
	{ "collect", "", "remove what sessions left that ended by themselves", "", OPTIONS_JSON,
	  false, 0, 0, collect_run },
	{ "put", "SESSION SOURCE... DEST", "copy files into a session",
	  "Links inside a directory are copied as links; sockets, FIFOs and devices are skipped.",
	  OPTIONS_TRANSFER, false, 3, -1, put_run },
	{ "get", "SESSION SOURCE... DEST", "copy files out of a session",
	  "Only files, directories and links that stay within what is fetched are made, and\n"
	  "nothing outside of DEST. The exit code is 1 when something had to be skipped.",
	  OPTIONS_TRANSFER, false, 3, -1, get_run },
	{ "packages", "[PATTERN]", "list the packages that sessions can have",
	  "Those that are in the store already come first, and say local; the others say how much\n"
	  "there is to fetch. PATTERN is a shell pattern that fits somewhere in the attribute or the\n"
	  "description, whatever the case: a plain word will do.",
	  OPTIONS_CACHED | OPTIONS_JSON, false, 0, 1, packages_run },
	{ "which", "COMMAND", "say which packages have a command",
	  "In the order in which they are taken when a session calls it; the one that would be taken\n"
	  "is marked. The exit code is 1 when there is none.",
	  OPTIONS_JSON, false, 1, 1, which_run },
	{ "assistant", "", "have a language model, or a person, work in a session",
	  "lodger-assistant(1) tells how. The exit code is 0 when the assistant ended by itself, 124\n"
	  "when the time was over, 125 when Lodger itself failed.",
	  OPTIONS_LIMITS | OPTIONS_AUTO | OPTIONS_PLACE | OPTIONS_MODEL | OPTIONS_ASSISTANT |
		  OPTIONS_BOUNDS,
	  false, 0, 0, assistant_run },
	{ "fill", "[FILE]", "run what a text says while it is written", "lodger-fill(1) tells how.",
	  OPTIONS_LIMITS | OPTIONS_AUTO | OPTIONS_PLACE | OPTIONS_MODEL | OPTIONS_BOUNDS |
		  OPTIONS_FILL,
	  false, 0, 1, fill_run },
	{ "export", "RECORDING...", "turn recordings of lodger assistant into training data",
	  "RECORDING is a directory that lodger assistant --record made, its events.jsonl, or - for\n"
	  "standard input. Writes chats with tool calls, Open-Assistant message trees, or a script\n"
	  "for lodger assistant --replay. Your login name, name, directories and host are replaced.\n"
	  "The exit code is 1 when something could not be read, and was left out. lodger-export(1)\n"
	  "tells more.",
	  OPTIONS_EXPORT, false, 1, -1, export_run },
	{ "command", "NAME [ARG]...",
	  "used inside sessions: run a command of whichever package has it",
	  "What a session does by itself when a command is called that is not there, but that a\n"
	  "package of the channel has (lodger which). With LODGER_AUTO=0, as set by --no-auto, it\n"
	  "names the packages instead, and exits with 127.",
	  0, true, 1, -1, on_demand_run },
	{ "doctor", "", "check whether everything is in place, and say what to do",
	  "The exit code is 0 when all that is needed is there, else 1.", OPTIONS_JSON, false, 0, 0,
	  doctor_run },
	{ "help", "[COMMAND]", "show help", "", 0, false, 0, 1, help_run },
};
const size_t command_count = sizeof(commands) / sizeof(commands[0]);

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < command_count; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}
