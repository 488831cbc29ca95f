// Launching jobs (launch.h). Runs as the caller.
#include "launch.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channel.h"
#include "cleanup.h"
#include "helper_call.h"
#include "job.h"
#include "names.h"
#include "package_table.h"
#include "protocol.h"
#include "quantity.h"
#include "session_list.h"
#include "settings.h"
#include "shellquote.h"

// A job together with the memory that it points into.
struct launch {
	struct job job;
	char **argv;
	char *program; // for nix-shell --run
	struct launch_environment environment;
};

static void variable_add(struct launch_environment *made, char *variable)
{
	made->list[made->count++] = variable;
}

// Says why the channel has no package of this name.
static bool package_missing(const struct package_table *table, const struct package_table *more,
			    const char *name, struct failure *failure)
{
	char names[PACKAGE_NAMES_SIZE];
	struct package package;

	if (package_find(more, name, &package))
		return fail(failure,
			    "-p: '%s' is not in this machine's channel, which could have it; an "
			    "administrator adds it with: lodger-channel starter --with %s",
			    name, name);
	if (package_near(table, name, names) > 0)
		return fail(failure,
			    "-p: the channel has no package '%s'; it has %s; lodger packages lists "
			    "all",
			    name, names);
	return fail(failure,
		    "-p: the channel has no package '%s', nor one with a name like it; lodger "
		    "packages lists all",
		    name);
}

// Refuses packages that the channel does not have, before anything is made for them. A channel
// without a table is nix-shell's to complain about.
static bool packages_check(const char *channel, const struct options *options,
			   struct failure *failure)
{
	struct package_table table, more;
	struct package package;
	struct failure ignored;
	bool good = true;

	if (options->package_count == 0 || !package_table_open(&table, channel, &ignored))
		return true;
	package_table_open_more(&more, channel);
	for (size_t i = 0; good && i < options->package_count; i++) {
		const char *name = options->packages[i];

		good = package_find(&table, name, &package) ||
		       package_missing(&table, &more, name, failure);
	}
	package_table_close(&more);
	package_table_close(&table);
	return good;
}

// Adds the variables that lead to the channel.
static bool channel_take(struct launch_environment *made, const struct options *options,
			 struct failure *failure)
{
	if (!channel_find(made->channel))
		return options->package_count == 0 ||
		       fail(failure,
			    "-p: %s does not lead to a package set; an administrator can make "
			    "one with lodger-channel",
			    LODGER_CHANNEL);
	snprintf(made->nix_path, sizeof(made->nix_path), "%s%s", LAUNCH_NIX_PATH, made->channel);
	variable_add(made, made->nix_path);
	snprintf(made->path, sizeof(made->path), "%s%s%s", LAUNCH_PATH, made->channel,
		 CHANNEL_COMMANDS);
	if (access(made->path + sizeof("PATH=" SESSION_PATH), F_OK) == 0)
		variable_add(made, made->path);
	return packages_check(made->channel, options, failure);
}

bool launch_environment_make(struct launch_environment *made, const struct options *options,
			     bool terminal, struct failure *failure)
{
	static char auto_off[] = AUTO_VARIABLE "=0";

	*made = (struct launch_environment){ 0 };
	// The caller's own variables come last and win.
	made->list = calloc(options->environment_count + ENVIRONMENT_OWN, sizeof(*made->list));
	if (!made->list)
		return fail(failure, "preparing the command: out of memory");
	if (!channel_take(made, options, failure))
		return false;
	if (options->auto_off || settings_auto_off(LODGER_POLICY))
		variable_add(made, auto_off);
	if (terminal) {
		const char *term = getenv("TERM");

		snprintf(made->term, sizeof(made->term), "TERM=%s",
			 term && terminal_name_valid(term) ? term : "dumb");
		variable_add(made, made->term);
	}
	for (size_t i = 0; i < options->environment_count; i++)
		variable_add(made, options->environment[i]);
	return true;
}

void launch_environment_free(struct launch_environment *made)
{
	free(made->list);
	made->list = NULL;
}

// nix-shell -p PKG... [--run PROGRAM]
static bool nix_shell(struct launch *launch, const struct options *options, char *const words[],
		      bool terminal, struct failure *failure)
{
	static char name[] = "nix-shell", packages[] = "-p", run[] = "--run",
		    shell[] = "exec bash -s";
	size_t count = 0;

	launch->argv = calloc(options->package_count + 5, sizeof(*launch->argv));
	if (words)
		launch->program = shellquote(words);
	if (!launch->argv || (words && !launch->program))
		return fail(failure, "preparing the command: out of memory");
	launch->argv[count++] = name;
	launch->argv[count++] = packages;
	for (size_t i = 0; i < options->package_count; i++)
		launch->argv[count++] = options->packages[i];
	if (words || !terminal) {
		launch->argv[count++] = run;
		launch->argv[count++] = words ? launch->program : shell;
	}
	launch->job.argv = launch->argv;
	return true;
}

static bool launch_prepare(struct launch *launch, const struct options *options,
			   char *const words[], bool terminal, struct failure *failure)
{
	static char bash[] = "bash", from_input[] = "-s";
	static char *shell[] = { bash, NULL }, *reading[] = { bash, from_input, NULL };
	struct job *job = &launch->job;

	*launch = (struct launch){ 0 };
	job->terminal = terminal;
	job->directory = options->directory;
	job->timeout_ms = options->timeout * 1000;
	if (!launch_environment_make(&launch->environment, options, terminal, failure))
		return false;
	job->environment = launch->environment.list;
	job->environment_count = launch->environment.count;

	if (options->package_count > 0)
		return nix_shell(launch, options, words, terminal, failure);
	job->argv = words ? (char **)words : terminal ? shell : reading;
	return true;
}

static void launch_free(struct launch *launch)
{
	launch_environment_free(&launch->environment);
	free(launch->argv);
	free(launch->program);
}

// A command that died of SIGKILL, or a session that is gone, may have hit the memory limit: that is
// worth a word, since nothing else tells.
static void explain_memory(uint32_t number)
{
	struct usage usage;
	char name[SESSION_NAME_SIZE];

	session_usage(&usage, number);
	session_name(number, name);
	if (usage.value[USAGE_OOM_KILLS] != USAGE_UNKNOWN && usage.value[USAGE_OOM_KILLS] > 0)
		notice("%s has been at its memory limit, and processes were killed for it; --memory "
		       "gives a session more",
		       name);
}

static int launch_job(uint32_t number, struct job *job, struct failure *failure)
{
	struct job_end end = { 0 };
	autoclose int connection = agent_connect(number, failure);

	if (connection < 0)
		return FAILED;
	const bool good = job_run(connection, job, &end, failure);
	if (!good || end.exit_code == EXIT_SIGNAL + SIGKILL)
		explain_memory(number);
	return good ? end.exit_code : FAILED;
}

int launch(uint32_t number, const struct options *options, char *const words[], bool terminal,
	   struct failure *failure)
{
	struct launch prepared;
	int result = FAILED;

	if (launch_prepare(&prepared, options, words, terminal, failure))
		result = launch_job(number, &prepared.job, failure);
	launch_free(&prepared);
	return result;
}

void launch_tied_destroy(const struct created *created, bool report)
{
	struct failure failure;
	struct usage usage;
	char name[SESSION_NAME_SIZE], text[USAGE_LINE];
	bool gone;

	session_name(created->number, name);
	if (report)
		session_usage(&usage, created->number);
	// The session begins to die here, before the helper is even started.
	close(created->tie);
	// The command has ended: what its exit code says must not be lost to this.
	if (!helper_destroy(created->number, &gone, &failure))
		notice("%s", failure.text);
	else if (report)
		notice("%s used: %s", name, usage_line(text, &usage));
}

int launch_tied(const struct options *options, char *const words[], bool terminal,
		struct failure *failure)
{
	struct launch prepared;
	struct created created;
	int result = FAILED;

	if (launch_prepare(&prepared, options, words, terminal, failure) &&
	    helper_create(options->limits, options->network_host, &created, failure)) {
		result = launch_job(created.number, &prepared.job, failure);
		launch_tied_destroy(&created, options->usage);
	}
	launch_free(&prepared);
	return result;
}

static void figure_seconds(char *text, size_t size, uint64_t usec)
{
	if (usec == USAGE_UNKNOWN)
		snprintf(text, size, "not kept by this kernel");
	else
		snprintf(text, size, "%" PRIu64 ".%03us", usec / 1000000,
			 (unsigned int)(usec / 1000 % 1000));
}

char *usage_line(char text[USAGE_LINE], const struct usage *usage)
{
	char cpu[48], wall[48], memory[QUANTITY_SIZE] = "", pids[QUANTITY_SIZE] = "";
	const bool has_memory = usage->value[USAGE_MEMORY_PEAK] != USAGE_UNKNOWN;
	const bool has_pids = usage->value[USAGE_PIDS_PEAK] != USAGE_UNKNOWN;

	figure_seconds(cpu, sizeof(cpu), usage->value[USAGE_CPU]);
	figure_seconds(wall, sizeof(wall), usage->value[USAGE_WALL]);
	if (has_memory)
		size_format(memory, usage->value[USAGE_MEMORY_PEAK]);
	if (has_pids)
		snprintf(pids, sizeof(pids), "%" PRIu64, usage->value[USAGE_PIDS_PEAK]);
	snprintf(text, USAGE_LINE, "CPU time %s, wall time %s, peak memory %s, peak processes %s",
		 cpu, wall, has_memory ? memory : "not kept by this kernel",
		 has_pids ? pids : "not kept by this kernel");
	return text;
}
