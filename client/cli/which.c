// lodger which (command.h): who has a program, and whose would be taken. Runs as the caller, or in a
// session as the lodger; reads only.
#include <stdio.h>
#include <stdlib.h>

#include "channel.h"
#include "cleanup.h"
#include "command.h"
#include "json_output.h"
#include "package_print.h"
#include "printable.h"
#include "providers.h"

#define EXIT_NONE 1

static bool is_taken(const struct providers *providers, size_t index)
{
	return index == 0 && !providers->pin_missing;
}

static char *program_path(const struct provider *provider, const char *name)
{
	char *path = NULL;

	return asprintf(&path, "%s/bin/%s", provider->path, name) < 0 ? NULL : path;
}

static void providers_print(const struct providers *providers, const char *name)
{
	struct package_widths widths = PACKAGE_WIDTHS;

	for (size_t i = 0; i < providers->count; i++)
		package_widen(&widths, &providers->list[i].package);
	printf("  ");
	package_print_head(&widths);
	printf("  PROGRAM\n");
	for (size_t i = 0; i < providers->count; i++) {
		const struct provider *provider = &providers->list[i];
		char text[PRINTABLE_GROWTH * (STORE_PATH_SIZE + 256)];
		autofree char *path = program_path(provider, name);

		printf("%s ", is_taken(providers, i) ? "*" : " ");
		package_print(&widths, &provider->package, provider->local);
		printf("  %s\n", printable(text, sizeof(text), path ? path : ""));
	}
}

// As in packages, and "program": PATH, "taken": BOOL
static json_t *providers_json(const struct providers *providers, const char *name)
{
	json_t *array = json_array();

	for (size_t i = 0; i < providers->count; i++) {
		const struct provider *provider = &providers->list[i];
		json_t *object = package_json(&provider->package, provider->local);
		autofree char *path = program_path(provider, name);

		json_object_set_new(object, "program", json_text(path ? path : ""));
		json_object_set_new(object, "taken", json_boolean(is_taken(providers, i)));
		json_array_append_new(array, object);
	}
	return array;
}

static int which(const struct providers *providers, const char *name, const struct options *options,
		 struct failure *failure)
{
	if (options->json && !json_print(providers_json(providers, name), failure))
		return FAILED;
	if (providers->count == 0) {
		fail_with(failure, EXIT_NONE, "no package of the channel has a program '%.255s'",
			  name);
		return FAILED;
	}
	if (!options->json)
		providers_print(providers, name);
	if (!output_check(failure))
		return FAILED;
	if (providers->pin_missing)
		notice("'%.255s' is pinned to %s (" PINS_VARIABLE "), which does not have it; it "
		       "would not be run",
		       name, providers->pin);
	return 0;
}

int which_run(const struct options *options, struct failure *failure)
{
	const char *name = options->arguments[0];
	struct providers providers = { 0 };
	char channel[STORE_PATH_SIZE];
	int result = FAILED;

	if (!program_name_valid(name))
		fail_with(failure, EXIT_NONE, "'%.255s' is not the name of a program", name);
	else if (channel_here(channel, failure) &&
		 providers_find(&providers, channel, name, failure))
		result = which(&providers, name, options, failure);
	providers_free(&providers);
	return result;
}
