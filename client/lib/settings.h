// What the policy says to the client.
#pragma once

#include <stdbool.h>

// Whether the policy at `path` has commands on demand off for this process's user. A policy that
// cannot be read says nothing: the helper will say what is wrong with it.
bool settings_auto_off(const char *path);
