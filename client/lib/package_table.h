// The table of a channel's packages, packages.tsv: a line for each attribute, sorted by bytes.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"

// The columns, separated by tabs. Channels of before there was a last one are without sizes.
enum package_column {
	PACKAGE_ATTRIBUTE,
	PACKAGE_VERSION,
	PACKAGE_PATH,
	PACKAGE_DERIVATION,
	PACKAGE_DESCRIPTION,
	PACKAGE_SIZE,
	PACKAGE_COLUMNS,
};

#define PACKAGE_SIZE_UNKNOWN UINT64_MAX

struct package_table {
	const char *text;
	size_t size;
	void *mapped;
	bool more; // without store paths
};

// A line; what it points to is the table's, and not terminated.
struct package {
	struct {
		const char *text;
		size_t length;
	} column[PACKAGE_COLUMNS];
	uint64_t size; // bytes
};

// Maps the table of the channel at `channel`. False, with `failure`: it has none.
bool package_table_open(struct package_table *table, const char *channel, struct failure *failure);
// Maps the table of what the channel could have besides, more.tsv: of the same form, sorted alike, with "-"
// for all but name and description. Not every channel has one; without it the table is empty.
void package_table_open_more(struct package_table *table, const char *channel);
void package_table_close(struct package_table *table);

// Reads the first line at or behind *at that is one of a package, and moves *at behind it. Lines
// with too few columns or, but of what there is besides, without a store path are passed over. False:
// there are no more.
bool package_next(const struct package_table *table, size_t *at, struct package *package);

// Finds the package called `attribute`.
bool package_find(const struct package_table *table, const char *attribute,
		  struct package *package);

// Copies a column, terminated, to memory to be freed; NULL when there is none left.
char *package_text(const struct package *package, enum package_column column);

// Writes names that are near to `attribute`, which there is not, as "a, b, c": those whose last part
// is the same, whatever the case, or else begins with the other's or the other way round. Returns
// how many; with 0, `names` is "".
#define PACKAGE_NAMES_SIZE 400
unsigned int package_near(const struct package_table *table, const char *attribute,
			  char names[PACKAGE_NAMES_SIZE]);
