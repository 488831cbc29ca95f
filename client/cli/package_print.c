// Showing packages (package_print.h). Runs as the caller, or in a session as the lodger.
#include "package_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "printable.h"

#define COLUMN_SIZE 1024
#define WIDTH_MAX 40

static char *column_text(char text[COLUMN_SIZE], const struct package *package,
			 enum package_column column)
{
	autofree char *raw = package_text(package, column);

	return printable(text, COLUMN_SIZE, raw ? raw : "");
}

static void widen(int *width, const struct package *package, enum package_column column)
{
	char text[COLUMN_SIZE];
	const int length = (int)strlen(column_text(text, package, column));

	if (length > *width)
		*width = length < WIDTH_MAX ? length : WIDTH_MAX;
}

void package_widen(struct package_widths *widths, const struct package *package)
{
	widen(&widths->attribute, package, PACKAGE_ATTRIBUTE);
	widen(&widths->version, package, PACKAGE_VERSION);
}

void package_print(const struct package_widths *widths, const struct package *package, bool local)
{
	char attribute[COLUMN_SIZE], version[COLUMN_SIZE], size[QUANTITY_SIZE] = "?";

	if (package->size != PACKAGE_SIZE_UNKNOWN)
		size_format(size, package->size);
	else if (package->column[PACKAGE_SIZE].length == 1 &&
		 *package->column[PACKAGE_SIZE].text == '-')
		strcpy(size, "-");
	printf("%-*s  %-*s  %6s", widths->attribute,
	       column_text(attribute, package, PACKAGE_ATTRIBUTE), widths->version,
	       column_text(version, package, PACKAGE_VERSION), local ? "local" : size);
}

void package_print_head(const struct package_widths *widths)
{
	printf("%-*s  %-*s  %6s", widths->attribute, "ATTRIBUTE", widths->version, "VERSION",
	       "FETCH");
}

void package_print_column(const struct package *package, enum package_column column)
{
	char text[COLUMN_SIZE];

	fputs(column_text(text, package, column), stdout);
}

json_t *json_text(const char *text)
{
	json_t *string = json_string(text);

	if (string)
		return string;

	const size_t size = PRINTABLE_GROWTH * strlen(text) + 1;
	autofree char *plain = malloc(size);
	return plain ? json_string(printable(plain, size, text)) : NULL;
}

json_t *package_json(const struct package *package, bool local)
{
	static const struct {
		const char *name;
		enum package_column column;
	} members[] = {
		{ "attribute", PACKAGE_ATTRIBUTE },
		{ "version", PACKAGE_VERSION },
		{ "description", PACKAGE_DESCRIPTION },
		{ "path", PACKAGE_PATH },
	};
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		autofree char *text = package_text(package, members[i].column);

		json_object_set_new(object, members[i].name, json_text(text ? text : ""));
	}
	json_object_set_new(object, "local", json_boolean(local));
	json_object_set_new(object, "size",
			    package->size == PACKAGE_SIZE_UNKNOWN
				    ? json_null()
				    : json_integer((json_int_t)package->size));
	return object;
}
