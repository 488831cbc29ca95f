// lodger destroy (command.h). Runs as the caller; the helper decides whose session it is.
#include <stdio.h>
#include <unistd.h>

#include "helper_call.h"
#include "json_output.h"
#include "launch.h"
#include "names.h"
#include "session_list.h"

// How far a destroy has come.
struct progress {
	json_t *array; // NULL: plain text
	unsigned int failed;
};

// {"session": "lodger-7", "already_gone": BOOL, "usage": … or null}
static void destroyed_print(const struct progress *progress, const char *name, bool gone,
			    const struct usage *usage)
{
	char text[USAGE_LINE];

	if (!progress->array) {
		if (gone)
			printf("%s is already gone\n", name);
		else
			printf("%s destroyed; it used: %s\n", name, usage_line(text, usage));
		return;
	}

	json_t *object = json_object();
	json_object_set_new(object, "session", json_string(name));
	json_object_set_new(object, "already_gone", json_boolean(gone));
	json_object_set_new(object, "usage", gone ? json_null() : json_usage(usage));
	json_array_append_new(progress->array, object);
}

// One that cannot be destroyed does not spare the others.
static void destroy_one(struct progress *progress, uint32_t number)
{
	struct failure failure;
	struct usage usage;
	char name[SESSION_NAME_SIZE];
	bool gone;

	session_name(number, name);
	session_usage(&usage, number);
	if (helper_destroy(number, &gone, &failure)) {
		destroyed_print(progress, name, gone, &usage);
	} else {
		notice("%s", failure.text);
		progress->failed++;
	}
}

static bool destroy_all(struct progress *progress, struct failure *failure)
{
	struct usage_place place;
	struct session_list list;

	usage_place_find(&place, CGROUP_ROOT, LODGER_POLICY);
	if (!session_list_read(&list, LODGER_SESSIONS, &place, failure))
		return false;
	for (size_t i = 0; i < list.count; i++)
		if (list.sessions[i].record.owner == getuid())
			destroy_one(progress, list.sessions[i].record.number);
	session_list_free(&list);
	return true;
}

static bool destroy_named(struct progress *progress, const struct options *options,
			  struct failure *failure)
{
	// Nothing is destroyed on a command line that is wrong.
	for (int i = 0; i < options->argument_count; i++)
		if (session_parse(options->arguments[i], failure) == 0)
			return false;
	for (int i = 0; i < options->argument_count; i++)
		destroy_one(progress, session_parse(options->arguments[i], failure));
	return true;
}

int destroy_run(const struct options *options, struct failure *failure)
{
	struct progress progress = { 0 };

	if (options->all == (options->argument_count > 0)) {
		fail(failure, "destroy: name the sessions, or give --all for all of yours");
		return FAILED;
	}
	if (options->json)
		progress.array = json_array();
	if (!(options->all ? destroy_all(&progress, failure)
			   : destroy_named(&progress, options, failure))) {
		json_decref(progress.array);
		return FAILED;
	}
	if (progress.array && !json_print(progress.array, failure))
		return FAILED;
	return progress.failed > 0 ? EXIT_LODGER : 0;
}
