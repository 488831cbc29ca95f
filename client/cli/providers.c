// Who has a program, and in which order (providers.h). Runs as the caller, or in a session as the
// lodger; reads only.
#include "providers.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "program_index.h"

#define BLANKS " \t\n"

bool program_name_valid(const char *name)
{
	const size_t length = strlen(name);

	return length > 0 && length <= NAME_MAX && strchr(name, '/') == NULL &&
	       strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

bool pin_find(const char *pins, const char *name, char attribute[ATTRIBUTE_SIZE])
{
	const size_t length = strlen(name);
	bool found = false;

	while (pins && *(pins += strspn(pins, BLANKS))) {
		const size_t word = strcspn(pins, BLANKS);

		// The last one counts, as with options.
		if (word > length + 1 && word - length - 1 < ATTRIBUTE_SIZE &&
		    strncmp(pins, name, length) == 0 && pins[length] == '=') {
			memcpy(attribute, pins + length + 1, word - length - 1);
			attribute[word - length - 1] = '\0';
			found = true;
		}
		pins += word;
	}
	return found;
}

static int compare(const void *left, const void *right, void *context)
{
	const struct provider *a = left, *b = right;
	const char *name = context;
	const bool a_named = strcmp(a->attribute, name) == 0;
	const bool b_named = strcmp(b->attribute, name) == 0;
	const size_t a_length = strlen(a->attribute), b_length = strlen(b->attribute);

	if (a->pinned != b->pinned)
		return a->pinned ? -1 : 1;
	if (a->local != b->local)
		return a->local ? -1 : 1;
	if (a_named != b_named)
		return a_named ? -1 : 1;
	if (a_length != b_length)
		return a_length < b_length ? -1 : 1;
	return strcmp(a->attribute, b->attribute);
}

void providers_sort(struct provider *list, size_t count, const char *name)
{
	if (count > 1)
		qsort_r(list, count, sizeof(*list), compare, (void *)name);
}

// Adds an attribute of the index. One that the table does not have is none of this channel's.
static bool provider_add(void *context, const char *attribute)
{
	struct providers *providers = context;
	struct provider added = { 0 };

	if (!package_find(&providers->table, attribute, &added.package))
		return true;

	struct provider *list =
		reallocarray(providers->list, providers->count + 1, sizeof(*providers->list));
	if (!list)
		return false;
	providers->list = list;
	added.attribute = package_text(&added.package, PACKAGE_ATTRIBUTE);
	added.path = package_text(&added.package, PACKAGE_PATH);
	list[providers->count++] = added;
	if (!added.attribute || !added.path)
		return false;
	list[providers->count - 1].local = store_has(added.path);
	return true;
}

bool providers_find(struct providers *providers, const char *channel, const char *name,
		    struct failure *failure)
{
	*providers = (struct providers){ 0 };
	providers->pin_missing = pin_find(getenv(PINS_VARIABLE), name, providers->pin);
	if (!package_table_open(&providers->table, channel, failure) ||
	    !program_index_look_up(channel, name, provider_add, providers, failure))
		return false;
	for (size_t i = 0; providers->pin_missing && i < providers->count; i++) {
		providers->list[i].pinned =
			strcmp(providers->list[i].attribute, providers->pin) == 0;
		providers->pin_missing = !providers->list[i].pinned;
	}
	providers_sort(providers->list, providers->count, name);
	return true;
}

void providers_free(struct providers *providers)
{
	for (size_t i = 0; i < providers->count; i++) {
		free(providers->list[i].attribute);
		free(providers->list[i].path);
	}
	free(providers->list);
	package_table_close(&providers->table);
	*providers = (struct providers){ 0 };
}
