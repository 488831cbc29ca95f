// The options of all commands, from one table (command.h). Runs as the caller.
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "names.h"
#include "quantity.h"

typedef bool take(struct options *options, const char *word, struct failure *failure);

static bool take_memory(struct options *options, const char *word, struct failure *failure)
{
	return size_parse("--memory", word, &options->limits[LIMIT_MEMORY], failure);
}

static bool take_pids(struct options *options, const char *word, struct failure *failure)
{
	return count_parse("--pids", word, &options->limits[LIMIT_PIDS], failure);
}

static bool take_cpu(struct options *options, const char *word, struct failure *failure)
{
	return percent_parse("--cpu", word, &options->limits[LIMIT_CPU], failure);
}

static bool take_disk(struct options *options, const char *word, struct failure *failure)
{
	return size_parse("--disk", word, &options->limits[LIMIT_DISK], failure);
}

static bool take_inodes(struct options *options, const char *word, struct failure *failure)
{
	return count_parse("--inodes", word, &options->limits[LIMIT_INODES], failure);
}

static bool take_ttl(struct options *options, const char *word, struct failure *failure)
{
	return duration_parse("--ttl", word, &options->limits[LIMIT_TTL], failure);
}

static bool take_net(struct options *options, const char *word, struct failure *failure)
{
	options->network_host = strcmp(word, "host") == 0;
	if (options->network_host || strcmp(word, "none") == 0)
		return true;
	return fail(failure, "--net: '%s' is neither none nor host", word);
}

static bool take_package(struct options *options, const char *word, struct failure *failure)
{
	if (!package_check(word, failure))
		return false;
	options->packages[options->package_count++] = (char *)word;
	return true;
}

static bool take_env(struct options *options, const char *word, struct failure *failure)
{
	if (!variable_check(word, failure))
		return false;
	options->environment[options->environment_count++] = (char *)word;
	return true;
}

static bool take_dir(struct options *options, const char *word, struct failure *failure)
{
	if (*word == '\0')
		return fail(failure, "--dir: the directory's name is empty");
	options->directory = word;
	return true;
}

static bool take_timeout(struct options *options, const char *word, struct failure *failure)
{
	return duration_parse("--timeout", word, &options->timeout, failure);
}

static bool take_max(struct options *options, const char *word, struct failure *failure)
{
	return size_parse("--max", word, &options->max, failure);
}

static bool take_terminal(struct options *options, const char *word, struct failure *failure)
{
	(void)word;
	(void)failure;
	return options->terminal = true;
}

static bool take_usage(struct options *options, const char *word, struct failure *failure)
{
	(void)word;
	(void)failure;
	return options->usage = true;
}

static bool take_json(struct options *options, const char *word, struct failure *failure)
{
	(void)word;
	(void)failure;
	return options->json = true;
}

static bool take_all(struct options *options, const char *word, struct failure *failure)
{
	(void)word;
	(void)failure;
	return options->all = true;
}

static bool take_no_auto(struct options *options, const char *word, struct failure *failure)
{
	(void)word;
	(void)failure;
	return options->auto_off = true;
}

static bool take_cached(struct options *options, const char *word, struct failure *failure)
{
	(void)word;
	(void)failure;
	return options->cached = true;
}

static bool take_human(struct options *options, const char *word, struct failure *failure)
{
	(void)word;
	(void)failure;
	return options->human = true;
}

static bool take_json_lines(struct options *options, const char *word, struct failure *failure)
{
	(void)word;
	(void)failure;
	return options->json_lines = true;
}

static bool take_turns(struct options *options, const char *word, struct failure *failure)
{
	return count_parse("--turns", word, &options->turns, failure);
}

static bool take_command_timeout(struct options *options, const char *word, struct failure *failure)
{
	return duration_parse("--command-timeout", word, &options->command_timeout, failure);
}

static bool take_command_output(struct options *options, const char *word, struct failure *failure)
{
	return size_parse("--command-output", word, &options->command_output, failure);
}

static bool take_total_output(struct options *options, const char *word, struct failure *failure)
{
	return size_parse("--total-output", word, &options->total_output, failure);
}

static bool take_max_tokens(struct options *options, const char *word, struct failure *failure)
{
	return count_parse("--max-tokens", word, &options->max_tokens, failure);
}

static bool take_check(struct options *options, const char *word, struct failure *failure)
{
	(void)word;
	(void)failure;
	return options->check = true;
}

static bool take_keep_names(struct options *options, const char *word, struct failure *failure)
{
	(void)word;
	(void)failure;
	return options->keep_names = true;
}

static bool take_help(struct options *options, const char *word, struct failure *failure)
{
	(void)word;
	(void)failure;
	return options->help = true;
}

static const struct row {
	const char *name;
	char letter; // 0: none
	unsigned int groups;
	const char *argument; // NULL: takes none
	const char *help;
	take *take; // NULL: the word is kept as it is
} rows[] = {
	{ "memory", 0, OPTIONS_LIMITS, "SIZE", "most memory, files included, as 512M",
	  take_memory },
	{ "pids", 0, OPTIONS_LIMITS, "N", "most processes and threads", take_pids },
	{ "cpu", 0, OPTIONS_LIMITS, "PERCENT", "CPU time, in percent of one CPU", take_cpu },
	{ "disk", 0, OPTIONS_LIMITS, "SIZE", "most bytes in files", take_disk },
	{ "inodes", 0, OPTIONS_LIMITS, "N", "most files", take_inodes },
	{ "ttl", 0, OPTIONS_LIMITS, "TIME", "how long the session lives, as 90s, 15m, 2h, 1d",
	  take_ttl },
	{ "net", 0, OPTIONS_LIMITS, "none|host", "network; host needs the policy's permission",
	  take_net },
	{ "no-auto", 0, OPTIONS_AUTO, NULL, "a command that is not there is not had on demand",
	  take_no_auto },
	{ "package", 'p', OPTIONS_JOB | OPTIONS_FILL, "PKG",
	  "have PKG, by nix-shell; can be repeated", take_package },
	{ "timeout", 0, OPTIONS_JOB | OPTIONS_TRANSFER | OPTIONS_BOUNDS, "TIME",
	  "end it after TIME", take_timeout },
	{ "env", 0, OPTIONS_JOB | OPTIONS_PLACE, "NAME=VALUE", "set a variable; can be repeated",
	  take_env },
	{ "dir", 0, OPTIONS_JOB | OPTIONS_PLACE, "DIR",
	  "start in DIR instead of the session's home", take_dir },
	{ "terminal", 't', OPTIONS_TERMINAL, NULL, "give it a terminal of its own", take_terminal },
	{ "usage", 0, OPTIONS_USAGE, NULL, "say at the end, on standard error, what it used",
	  take_usage },
	{ "max", 0, OPTIONS_TRANSFER, "SIZE", "copy SIZE at most (1G)", take_max },
	{ "all", 0, OPTIONS_ALL, NULL, "all sessions", take_all },
	{ "cached", 0, OPTIONS_CACHED, NULL, "only those that are in the store", take_cached },
	{ "exec", 0, OPTIONS_ASSISTANT, "PROGRAM", "the assistant is this program (sh -c)", NULL },
	{ "json-lines", 0, OPTIONS_ASSISTANT, NULL, "programs are spoken to in JSON lines",
	  take_json_lines },
	{ "human", 0, OPTIONS_ASSISTANT, NULL, "the assistant is you", take_human },
	{ "replay", 0, OPTIONS_ASSISTANT, "FILE", "the assistant is a transcript or recording",
	  NULL },
	{ "user-exec", 0, OPTIONS_ASSISTANT, "PROGRAM", "the person is this program (sh -c)",
	  NULL },
	{ "record", 0, OPTIONS_ASSISTANT, "DIR", "keep a recording in DIR", NULL },
	{ "api", 0, OPTIONS_MODEL, "URL", "the model is behind this URL (OpenAI's API)", NULL },
	{ "model", 0, OPTIONS_MODEL, "NAME", "which model of the API", NULL },
	{ "key-file", 0, OPTIONS_MODEL, "FILE", "the API's key is in this file", NULL },
	{ "key-env", 0, OPTIONS_MODEL, "NAME", "the API's key is in this variable", NULL },
	{ "max-tokens", 0, OPTIONS_MODEL, "N", "most tokens of one answer", take_max_tokens },
	{ "style", 0, OPTIONS_FILL, "chat|prefill|completions", "how the model is made to go on",
	  NULL },
	{ "prompt-file", 0, OPTIONS_MODEL, "FILE", "what the model is told first", NULL },
	{ "turns", 0, OPTIONS_BOUNDS, "N", "most commands", take_turns },
	{ "command-timeout", 0, OPTIONS_BOUNDS, "TIME", "most time of a command",
	  take_command_timeout },
	{ "command-output", 0, OPTIONS_BOUNDS, "SIZE", "most output of a command",
	  take_command_output },
	{ "total-output", 0, OPTIONS_BOUNDS, "SIZE", "most output of all commands",
	  take_total_output },
	{ "format", 0, OPTIONS_EXPORT, "chat|tree|script", "what to write (chat)", NULL },
	{ "from", 0, OPTIONS_EXPORT, "recording|chat", "what to read (recording)", NULL },
	{ "system", 0, OPTIONS_EXPORT, "FILE", "the system's message, in place of the recorded one",
	  NULL },
	{ "lang", 0, OPTIONS_EXPORT, "TAG", "the language of trees, as en (und)", NULL },
	{ "check", 0, OPTIONS_EXPORT, NULL, "write nothing; say whether it could be", take_check },
	{ "keep-names", 0, OPTIONS_EXPORT, NULL, "your names and paths stay as they are",
	  take_keep_names },
	{ "json", 0, OPTIONS_JSON, NULL, "print JSON", take_json },
	{ "help", 'h', OPTIONS_EVERY, NULL, "show this help", take_help },
};

// Where those are kept that have no function.
static const struct {
	const char *name;
	size_t place;
} kept[] = {
	{ "exec", offsetof(struct options, exec) },
	{ "replay", offsetof(struct options, replay) },
	{ "user-exec", offsetof(struct options, user_exec) },
	{ "record", offsetof(struct options, record) },
	{ "api", offsetof(struct options, api) },
	{ "model", offsetof(struct options, model) },
	{ "key-file", offsetof(struct options, key_file) },
	{ "key-env", offsetof(struct options, key_env) },
	{ "style", offsetof(struct options, style) },
	{ "prompt-file", offsetof(struct options, prompt_file) },
	{ "format", offsetof(struct options, format) },
	{ "from", offsetof(struct options, from) },
	{ "system", offsetof(struct options, system) },
	{ "lang", offsetof(struct options, language) },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))
// What getopt_long(3) returns for row i.
#define ROW_VALUE(i) (256 + (int)(i))

static bool row_applies(const struct row *row, const struct command *command)
{
	return (row->groups & (command->options | OPTIONS_EVERY)) != 0;
}

static const struct row *row_find(int value, const struct command *command)
{
	for (size_t i = 0; i < ROWS; i++)
		if ((value == ROW_VALUE(i) || (rows[i].letter && value == rows[i].letter)) &&
		    row_applies(&rows[i], command))
			return &rows[i];
	return NULL;
}

static bool row_take(const struct row *row, struct options *options, const char *word,
		     struct failure *failure)
{
	if (row->take)
		return row->take(options, word, failure);
	if (*word == '\0')
		return fail(failure, "--%s: %s is empty", row->name, row->argument);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (strcmp(kept[i].name, row->name) == 0)
			*(const char **)((char *)options + kept[i].place) = word;
	return true;
}

static bool refuse_option(const struct command *command, int result, char *argv[],
			  struct failure *failure)
{
	const struct row *row = row_find(optopt, command);

	if (result == ':' && row)
		return fail(failure, "%s: the option %s needs %s; see lodger %s --help",
			    command->name, argv[optind - 1], row->argument, command->name);
	if (row)
		return fail(failure, "%s: the option --%s takes no value; see lodger %s --help",
			    command->name, row->name, command->name);
	if (optopt)
		return fail(failure, "%s: there is no option -%c; see lodger %s --help",
			    command->name, optopt, command->name);
	return fail(failure, "%s: there is no option %s; see lodger %s --help", command->name,
		    argv[optind - 1], command->name);
}

bool options_parse(struct options *options, const struct command *command, int argc, char *argv[],
		   struct failure *failure)
{
	struct option longs[ROWS + 1] = { { 0 } };
	// "+": stop at the first argument; ":": report a missing value as such.
	char shorts[2 + 2 * ROWS + 1] = ":";
	size_t count = 0, used;
	int result;

	*options = (struct options){ .line = argv };
	options->packages = calloc((size_t)argc, sizeof(*options->packages));
	options->environment =
		calloc((size_t)argc + ENVIRONMENT_OWN, sizeof(*options->environment));
	if (!options->packages || !options->environment)
		return fail(failure, "%s: out of memory", command->name);
	if (command->program)
		strcpy(shorts, "+:");
	used = strlen(shorts);
	for (size_t i = 0; i < ROWS; i++) {
		if (!row_applies(&rows[i], command))
			continue;
		longs[count++] = (struct option){
			.name = rows[i].name,
			.has_arg = rows[i].argument ? required_argument : no_argument,
			.val = ROW_VALUE(i),
		};
		if (rows[i].letter)
			shorts[used++] = rows[i].letter;
		if (rows[i].letter && rows[i].argument)
			shorts[used++] = ':';
	}

	opterr = 0;
	optind = 0; // begin anew, with "+" looked at (getopt(3))
	while ((result = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct row *row = row_find(result, command);

		if (!row)
			return refuse_option(command, result, argv, failure);
		if (!row_take(row, options, optarg, failure))
			return false;
	}
	options->arguments = argv + optind;
	options->argument_count = argc - optind;
	return true;
}

void options_free(struct options *options)
{
	free(options->packages);
	free(options->environment);
}

void options_help(const struct command *command)
{
	for (size_t i = 0; i < ROWS; i++) {
		char left[40];

		if (!row_applies(&rows[i], command))
			continue;
		snprintf(left, sizeof(left), "%c%c%s --%s%s%s", rows[i].letter ? '-' : ' ',
			 rows[i].letter ? rows[i].letter : ' ', rows[i].letter ? "," : " ",
			 rows[i].name, rows[i].argument ? " " : "",
			 rows[i].argument ? rows[i].argument : "");
		printf("  %-26s %s\n", left, rows[i].help);
	}
}
