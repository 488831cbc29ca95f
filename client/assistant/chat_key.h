// Keys of an API: read from a file or a variable, never from a command line.
#pragma once

#include <stdbool.h>

#include "failure.h"

#define CHAT_KEY_SIZE 4096U

// Reads the key from file `path` or from variable `variable`, which is then no longer handed down to
// any program; with neither, `key` is "". Blanks and newlines around it are left out. False, with
// `failure`, which does not have it: it cannot be read, or is none.
bool chat_key_read(const char *path, const char *variable, char key[CHAT_KEY_SIZE],
		   struct failure *failure);

// Takes the key out of a message.
void chat_key_hide(const char *key, char *text);
