// Commands that another program of the same sources has, with more libraries beside it.
#pragma once

#include "command.h"

// Becomes `path` with the same words. Returns only when that failed: FAILED.
int hand_over(const struct options *options, const char *path, struct failure *failure);
