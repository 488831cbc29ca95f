// The subcommands and what their options come to.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"
#include "session.h"

// Which options a command takes.
enum {
	OPTIONS_LIMITS = 1 << 0,
	OPTIONS_JOB = 1 << 1,	   // -p, --timeout, --env, --dir
	OPTIONS_TERMINAL = 1 << 2, // -t
	OPTIONS_USAGE = 1 << 3,
	OPTIONS_JSON = 1 << 4,
	OPTIONS_ALL = 1 << 5,
	OPTIONS_TRANSFER = 1 << 6, // --max, --timeout
	OPTIONS_EVERY = 1 << 7,	   // --help
	OPTIONS_AUTO = 1 << 8,	   // --no-auto
	OPTIONS_CACHED = 1 << 9,
	OPTIONS_PLACE = 1 << 10,     // --env, --dir
	OPTIONS_MODEL = 1 << 11,     // --api and what belongs to it
	OPTIONS_ASSISTANT = 1 << 12, // who plays whom, and --record
	OPTIONS_BOUNDS = 1 << 13,    // of commands that a model types
	OPTIONS_FILL = 1 << 14,
	OPTIONS_EXPORT = 1 << 15,
};

struct options {
	uint64_t limits[LIMIT_COUNT]; // 0: not given
	bool network_host;
	char **packages;
	size_t package_count;
	char **environment; // with room for ENVIRONMENT_OWN more
	size_t environment_count;
	const char *directory; // NULL: not given
	uint64_t timeout;      // seconds, 0: not given
	uint64_t max;	       // bytes, 0: not given
	bool terminal, usage, json, all, help, auto_off, cached;
	bool human, json_lines, check, keep_names;
	// Words as they were given; NULL: not given.
	const char *exec, *replay, *user_exec, *record, *api, *model, *key_file, *key_env,
		*prompt_file, *style;
	const char *format, *from, *system, *language;
	uint64_t turns, command_timeout, command_output, total_output, max_tokens; // 0: not given
	char **line;	  // the command itself and all that follows, NULL-terminated
	char **arguments; // what of it is no option, NULL-terminated
	int argument_count;
};

// NIX_PATH, PATH, LODGER_AUTO and TERM, which the client adds.
#define ENVIRONMENT_OWN 4

// What a command's function returns when `failure` says the rest.
#define FAILED (-1)

struct command {
	const char *name;
	const char *arguments; // for the usage line
	const char *summary;
	const char *details; // for --help
	unsigned int options;
	bool program;	 // its arguments end in a program with options of its own
	int least, most; // arguments
	// Returns the exit code, or FAILED.
	int (*run)(const struct options *options, struct failure *failure);
};

extern const struct command commands[];
extern const size_t command_count;

// The command called `name`, or NULL.
const struct command *command_find(const char *name);

// Prints the help of one command, or of all.
void command_help(const struct command *command);
void commands_help(void);

// Reads the options of `command` from argv; argv[0] is the command itself.
bool options_parse(struct options *options, const struct command *command, int argc, char *argv[],
		   struct failure *failure);
void options_free(struct options *options);

// Prints the options that `command` takes, one a line.
void options_help(const struct command *command);

int create_run(const struct options *options, struct failure *failure);
int run_run(const struct options *options, struct failure *failure);
int exec_run(const struct options *options, struct failure *failure);
int interactive_run(const struct options *options, struct failure *failure);
int list_run(const struct options *options, struct failure *failure);
int show_run(const struct options *options, struct failure *failure);
int destroy_run(const struct options *options, struct failure *failure);
int collect_run(const struct options *options, struct failure *failure);
int put_run(const struct options *options, struct failure *failure);
int get_run(const struct options *options, struct failure *failure);
int packages_run(const struct options *options, struct failure *failure);
int which_run(const struct options *options, struct failure *failure);
int assistant_run(const struct options *options, struct failure *failure);
int fill_run(const struct options *options, struct failure *failure);
int export_run(const struct options *options, struct failure *failure);
int on_demand_run(const struct options *options, struct failure *failure);
int doctor_run(const struct options *options, struct failure *failure);
int help_run(const struct options *options, struct failure *failure);
