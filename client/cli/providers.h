// The packages that have a program, in the order in which they are taken: the one that LODGER_PINS
// names, those that are in the store already, the one that is called as the program, then shorter
// names before longer ones, then the alphabet. Nobody is asked, and the same channel and store give
// the same answer.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "failure.h"
#include "package_table.h"

// NAME=ATTRIBUTE, separated by blanks.
#define PINS_VARIABLE "LODGER_PINS"
#define ATTRIBUTE_SIZE 257

struct provider {
	struct package package;
	char *attribute, *path;
	bool pinned, local;
};

struct providers {
	struct package_table table;
	struct provider *list;
	size_t count;
	bool pin_missing; // LODGER_PINS names a package that does not have it
	char pin[ATTRIBUTE_SIZE];
};

// Finds who has the program called `name` in the channel at `channel`; none is no failure.
bool providers_find(struct providers *providers, const char *channel, const char *name,
		    struct failure *failure);
void providers_free(struct providers *providers);

// Sorts `list` into the order above. Pure.
void providers_sort(struct provider *list, size_t count, const char *name);

// Finds what `pins` says about `name`. False: nothing. Pure.
bool pin_find(const char *pins, const char *name, char attribute[ATTRIBUTE_SIZE]);

// Whether a program can be called `name`: not empty, not "." or "..", without a '/', and no longer
// than a file's name. Pure.
bool program_name_valid(const char *name);
