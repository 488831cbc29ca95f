// lodger packages (command.h): what the channel has. Runs as the caller, or in a session as the
// lodger; reads only.
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "cleanup.h"
#include "command.h"
#include "json_output.h"
#include "package_print.h"
#include "package_table.h"
#include "providers.h"

enum where { LOCAL, TO_FETCH, NOT_IN_CHANNEL };

struct listed {
	struct package package;
	enum where where;
};

struct listing {
	struct listed *list;
	size_t count;
};

// The shell pattern that fits wherever in a text the given one does.
static char *pattern_make(const char *word)
{
	char *pattern = NULL;

	return asprintf(&pattern, "*%s*", word) < 0 ? NULL : pattern;
}

static bool column_fits(const struct package *package, enum package_column column,
			const char *pattern)
{
	autofree char *text = package_text(package, column);

	return text && fnmatch(pattern, text, FNM_CASEFOLD) == 0;
}

static bool package_fits(const struct package *package, const char *pattern)
{
	return !pattern || column_fits(package, PACKAGE_ATTRIBUTE, pattern) ||
	       column_fits(package, PACKAGE_DESCRIPTION, pattern);
}

static enum where package_where(const struct package_table *table, const struct package *package)
{
	autofree char *path = package_text(package, PACKAGE_PATH);

	if (table->more)
		return NOT_IN_CHANNEL;
	return path && store_has(path) ? LOCAL : TO_FETCH;
}

static bool listing_add(struct listing *listing, const struct package *package, enum where where)
{
	struct listed *list = reallocarray(listing->list, listing->count + 1, sizeof(*list));

	if (!list)
		return false;
	listing->list = list;
	list[listing->count++] = (struct listed){ .package = *package, .where = where };
	return true;
}

static bool listing_make(struct listing *listing, const struct package_table *table,
			 const struct options *options, struct failure *failure)
{
	const char *word = options->argument_count > 0 ? options->arguments[0] : NULL;
	autofree char *pattern = word ? pattern_make(word) : NULL;
	struct package package;
	size_t at = 0;

	if (word && !pattern)
		return fail(failure, "packages: out of memory");
	while (package_next(table, &at, &package))
		if (package_fits(&package, pattern) &&
		    !listing_add(listing, &package, package_where(table, &package)))
			return fail(failure, "packages: out of memory");
	return true;
}

static int listing_print(const struct listing *listing, const struct options *options,
			 struct failure *failure)
{
	struct package_widths widths = PACKAGE_WIDTHS;
	const enum where last = options->cached ? LOCAL : NOT_IN_CHANNEL;
	json_t *array = options->json ? json_array() : NULL;

	for (size_t i = 0; i < listing->count; i++)
		package_widen(&widths, &listing->list[i].package);
	if (!array) {
		package_print_head(&widths);
		printf("  DESCRIPTION\n");
	}
	for (enum where where = LOCAL; where <= last; where++) {
		for (size_t i = 0; i < listing->count; i++) {
			const struct listed *listed = &listing->list[i];

			if (listed->where != where)
				continue;
			if (array) {
				json_array_append_new(
					array, package_json(&listed->package, where == LOCAL));
				continue;
			}
			package_print(&widths, &listed->package, where == LOCAL);
			printf("  ");
			package_print_column(&listed->package, PACKAGE_DESCRIPTION);
			printf("\n");
		}
	}
	return !array || json_print(array, failure) ? 0 : FAILED;
}

int packages_run(const struct options *options, struct failure *failure)
{
	struct package_table table, more;
	struct listing listing = { 0 };
	char channel[STORE_PATH_SIZE];
	int result = FAILED;

	if (!channel_here(channel, failure) || !package_table_open(&table, channel, failure))
		return FAILED;
	package_table_open_more(&more, channel);
	// As JSON, for programs, only what they can have.
	if (listing_make(&listing, &table, options, failure) &&
	    (options->json || listing_make(&listing, &more, options, failure)))
		result = listing_print(&listing, options, failure);
	free(listing.list);
	package_table_close(&more);
	package_table_close(&table);
	return result;
}
