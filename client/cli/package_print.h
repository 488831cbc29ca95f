// How packages are shown, as lines of a table and as JSON. What comes from the channel is printed
// printable.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "package_table.h"
#include "quantity.h"

// Widths of the first two columns.
struct package_widths {
	int attribute, version;
};

// Makes room for a package, or for the head of the table.
void package_widen(struct package_widths *widths, const struct package *package);
#define PACKAGE_WIDTHS                                         \
	{                                                      \
		sizeof("ATTRIBUTE") - 1, sizeof("VERSION") - 1 \
	}

// Prints attribute, version, and "local" or what there is to fetch, without an end of line.
void package_print(const struct package_widths *widths, const struct package *package, bool local);
void package_print_head(const struct package_widths *widths);

// Prints one column.
void package_print_column(const struct package *package, enum package_column column);

// {"attribute": NAME, "version": TEXT, "description": TEXT, "path": PATH, "local": BOOL,
//  "size": BYTES or null}
json_t *package_json(const struct package *package, bool local);

// A JSON string of any bytes: as they are where they are UTF-8, else printable.
json_t *json_text(const char *text);
