// Where the channel is: the package set of sessions, one store path.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "failure.h"

// Room for a store path: nix allows 211 characters behind the directory.
#define STORE_PATH_SIZE 256

// Whether `text` is a path in the store, and none inside of one: "/nix/store/" and a name of the
// characters that nix allows there.
bool store_path_valid(const char *text, size_t length);

// Whether the store has the path.
bool store_has(const char *path);

// Finds the channel that sessions of this machine get. False: there is none.
bool channel_find(char path[STORE_PATH_SIZE]);

// Whether this process runs in a session.
bool session_inside(void);

// Finds the channel for this process: in a session NIX_PATH names it, elsewhere it is that of new
// sessions.
bool channel_here(char path[STORE_PATH_SIZE], struct failure *failure);
