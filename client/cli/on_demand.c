// lodger command (command.h), and what links to a channel's programs do (on_demand.h): becomes the
// program, from the package that comes first (providers.h). Runs in a session as the lodger; does
// nothing that what runs in a session could not do by itself.
#include "on_demand.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channel.h"
#include "cleanup.h"
#include "command.h"
#include "names.h"
#include "protocol.h"
#include "providers.h"
#include "quantity.h"
#include "shellquote.h"
#include "signals.h"

// Counts how many programs have been had on demand one inside the other.
#define DEPTH_VARIABLE "LODGER_COMMAND_DEPTH"
// More than any honest chain of makes, shells and interpreters.
#define DEPTH_MAX 50
#define NAMED_MAX 5
#define SAID_MAX 8192

// The path by which the kernel was asked to execute this program (getauxval(3)). Not argv[0], which
// is whatever the caller says.
static const char *called_as(void)
{
	const char *path = (const char *)getauxval(AT_EXECFN);

	return path ? path : "";
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool on_demand_called(void)
{
	char own[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[length > 0 ? length : 0] = '\0';
	return length > 0 && strcmp(last_part(own), last_part(called_as())) != 0;
}

// Finds the channel whose link was called; failing that, this process's channel.
static bool called_channel(char channel[STORE_PATH_SIZE], struct failure *failure)
{
	const char *path = called_as();
	const size_t above = (size_t)(last_part(path) - path);
	const size_t behind = strlen(CHANNEL_COMMANDS "/");

	if (above > behind && strncmp(path + above - behind, CHANNEL_COMMANDS "/", behind) == 0 &&
	    store_path_valid(path, above - behind)) {
		memcpy(channel, path, above - behind);
		channel[above - behind] = '\0';
		return true;
	}
	return channel_here(channel, failure);
}

// A program that calls itself by its name, or two that call each other, must come to an end.
static bool depth_count(const char *name, struct failure *failure)
{
	const char *text = getenv(DEPTH_VARIABLE);
	const long depth = text ? strtol(text, NULL, 10) : 0;
	char next[24];

	if (depth < 0 || depth >= DEPTH_MAX)
		return fail_with(failure, EXIT_NOT_EXECUTABLE,
				 "'%.255s' is not run: %d programs had on demand run one inside "
				 "the other (%s)",
				 name, DEPTH_MAX, DEPTH_VARIABLE);
	snprintf(next, sizeof(next), "%ld", depth + 1);
	return setenv(DEPTH_VARIABLE, next, 1) == 0 || fail(failure, "out of memory");
}

// Whether the same tree stands further up: the same program by another attribute.
static bool seen(const struct providers *providers, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(providers->list[i].path, providers->list[index].path) == 0)
			return true;
	return false;
}

// Names the packages from `first` on that have programs of their own, as "a, b and 3 more".
static char *others(const struct providers *providers, size_t first, char *text, size_t size)
{
	size_t used = 0, named = 0, more = 0;

	*text = '\0';
	for (size_t i = first; i < providers->count; i++) {
		const char *attribute = providers->list[i].attribute;

		if (seen(providers, i))
			continue;
		if (named == NAMED_MAX || used + strlen(attribute) + sizeof(", ") > size) {
			more++;
			continue;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%s", named ? ", " : "",
					 attribute);
		named++;
	}
	if (more > 0)
		snprintf(text + used, size - used, " and %zu more", more);
	return text;
}

static void say(const struct providers *providers, const char *name)
{
	const struct provider *taken = &providers->list[0];
	char names[500], also[sizeof(names) + 20] = "", size[QUANTITY_SIZE] = "size unknown";
	char fetched[QUANTITY_SIZE + 20] = "";

	if (*others(providers, 1, names, sizeof(names) - 30))
		snprintf(also, sizeof(also), " (also in: %s)", names);
	if (taken->package.size != PACKAGE_SIZE_UNKNOWN)
		size_format(size, taken->package.size);
	if (!taken->local)
		snprintf(fetched, sizeof(fetched), ", to be fetched (%s)", size);
	notice("%.255s is from %s%s%s", name, taken->attribute, fetched, also);
}

// Prints the last lines of what a program said into `file`.
static void tail_print(int file)
{
	char text[SAID_MAX + 1], *rest = text, *line;
	const off_t size = lseek(file, 0, SEEK_END);
	const ssize_t length = pread(file, text, SAID_MAX, size > SAID_MAX ? size - SAID_MAX : 0);

	text[length > 0 ? length : 0] = '\0';
	while ((line = strsep(&rest, "\n")))
		if (*line)
			notice("nix-store: %.900s", line);
}

// Has nix put the package into the store. What nix says is worth reading only when it fails.
static bool realise(const struct provider *provider, struct failure *failure)
{
	char *argv[] = { (char[]){ "nix-store" }, (char[]){ "--realise" }, provider->path, NULL };
	posix_spawn_file_actions_t actions;
	int status = -1;
	pid_t pid;

	autoclose int said = memfd_create("nix-store", MFD_CLOEXEC);
	if (said < 0)
		return fail(failure, "getting %s: %s", provider->attribute, strerror(errno));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, said, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, said, STDERR_FILENO);
	const int error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		return fail(failure, "getting %s: starting nix-store: %s", provider->attribute,
			    strerror(error));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status == 0 && store_has(provider->path))
		return true;
	tail_print(said);
	return fail(failure, "getting %s: nix-store could not get %s", provider->attribute,
		    provider->path);
}

// Sets what the channel's `environment` says and is not set: NAME=VALUE, one a line.
static void environment_take(const char *channel)
{
	char path[PATH_MAX], *line = NULL;
	size_t room = 0;

	snprintf(path, sizeof(path), "%s/environment", channel);
	FILE *file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		char *value = strchr(line, '=');

		line[strcspn(line, "\n")] = '\0';
		if (!value || value == line)
			continue;
		*value++ = '\0';
		// Without memory for it, the execution says so.
		(void)setenv(line, value, 0);
	}
	free(line);
	if (file)
		fclose(file);
}

// Whether a shell with the package has more than its programs: what it propagates, or its hook.
static bool needs_shell(const char *path)
{
	char input[PATH_MAX], hook[PATH_MAX];

	snprintf(input, sizeof(input), "%s/nix-support/propagated-build-inputs", path);
	snprintf(hook, sizeof(hook), "%s/nix-support/setup-hook", path);
	return store_has(input) || store_has(hook);
}

static bool shell_execute(const char *channel, const struct provider *provider, char *const words[],
			  struct failure *failure)
{
	char search[STORE_PATH_SIZE + 10];

	// It becomes a piece of a program.
	if (!package_check(provider->attribute, failure))
		return false;
	snprintf(search, sizeof(search), "nixpkgs=%s", channel);

	autofree char *command = shellquote(words);
	autofree char *text = NULL;
	if (!command || asprintf(&text, "exec %s", command) < 0)
		return fail(failure, "starting %s: out of memory", words[0]);
	execlp("nix-shell", "nix-shell", "-I", search, "-p", provider->attribute, "--run", text,
	       NULL);
	return fail(failure, "starting nix-shell: %s", strerror(errno));
}

// Becomes the program. argv[0] is its whole path: some, as python, look for their files from there,
// and by their name alone they would find the link.
static bool execute(const char *channel, const struct provider *provider, const char *name,
		    char *const arguments[], struct failure *failure)
{
	char program[STORE_PATH_SIZE + NAME_MAX + 8];
	size_t count = 0;

	snprintf(program, sizeof(program), "%s/bin/%s", provider->path, name);
	while (arguments[count])
		count++;
	autofree char **words = calloc(count + 2, sizeof(*words));
	if (!words)
		return fail(failure, "starting %s: out of memory", program);
	words[0] = program;
	memcpy(words + 1, arguments, count * sizeof(*words));

	environment_take(channel);
	signals_restore();
	if (needs_shell(provider->path))
		return shell_execute(channel, provider, words, failure);
	execv(program, words);
	const int error = errno;
	return fail_with(failure, error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE,
			 "starting %s: %s", program, strerror(error));
}

static bool auto_is_off(void)
{
	const char *value = getenv(AUTO_VARIABLE);

	return value && strcmp(value, "0") == 0;
}

static bool refuse_auto(const struct providers *providers, const char *name,
			struct failure *failure)
{
	char names[500];

	others(providers, 0, names, sizeof(names) - 30);
	return fail_with(failure, EXIT_NOT_FOUND,
			 "'%.255s' is not found, and not to be had on demand (" AUTO_VARIABLE
			 "=0); packages that have it: %s; nix-shell -p %s gets it",
			 name, names, providers->list[0].attribute);
}

static bool find_and_execute(const char *channel, const char *name, char *const arguments[],
			     struct providers *providers, struct failure *failure)
{
	if (!providers_find(providers, channel, name, failure))
		return false;
	if (providers->count == 0)
		return fail_with(failure, EXIT_NOT_FOUND,
				 "'%.255s' is not found, and no package of the channel has it",
				 name);
	if (auto_is_off())
		return refuse_auto(providers, name, failure);
	if (providers->pin_missing)
		return fail_with(failure, EXIT_NOT_FOUND,
				 "'%.255s' is pinned to %s (" PINS_VARIABLE
				 "), which does not have it; lodger which shows who has",
				 name, providers->pin);
	if (!depth_count(name, failure))
		return false;
	say(providers, name);
	if (!providers->list[0].local && !realise(&providers->list[0], failure))
		return false;
	return execute(channel, &providers->list[0], name, arguments, failure);
}

static int on_demand(const char *channel, const char *name, char *const arguments[],
		     struct failure *failure)
{
	struct providers providers = { 0 };

	if (program_name_valid(name))
		(void)find_and_execute(channel, name, arguments, &providers, failure);
	else
		fail_with(failure, EXIT_NOT_FOUND, "'%.255s' is not the name of a program", name);
	providers_free(&providers);
	return FAILED;
}

int on_demand_called_run(char *argv[], struct failure *failure)
{
	static char *none[] = { NULL };
	char channel[STORE_PATH_SIZE];

	if (!called_channel(channel, failure))
		return FAILED;
	// A program can be started without even a name.
	return on_demand(channel, last_part(called_as()), argv[0] ? argv + 1 : none, failure);
}

int on_demand_run(const struct options *options, struct failure *failure)
{
	char channel[STORE_PATH_SIZE];

	if (!session_inside()) {
		fail(failure,
		     "command: programs are had on demand in sessions alone; outside, "
		     "lodger which says who has one, and lodger run -p gets it into a session");
		return FAILED;
	}
	if (!channel_here(channel, failure))
		return FAILED;
	return on_demand(channel, options->arguments[0], options->arguments + 1, failure);
}
