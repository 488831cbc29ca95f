// What put and get share: SESSION SOURCE... DEST, --max and --timeout.
#pragma once

#include "command.h"
#include "transfer.h"

typedef bool copier(struct transfer *transfer, char *const sources[], size_t count,
		    const char *target, struct failure *failure);

// Returns 0; 1 when something was skipped; FAILED.
int copy_run(const struct options *options, copier *copy, struct failure *failure);
