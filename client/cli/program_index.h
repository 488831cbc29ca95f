// The index of a channel's programs, programs.sqlite: which packages have a program of a name.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "failure.h"

// Takes an attribute that the index has for the name. Returns false to make an end.
typedef bool index_taker(void *context, const char *attribute);

// Gives `take` each attribute that has a program called `name`, for this kind of machine, in the
// channel at `channel`. False, with `failure`: there is no index, or it cannot be read, or `take`
// made an end.
bool program_index_look_up(const char *channel, const char *name, index_taker *take, void *context,
			   struct failure *failure);
