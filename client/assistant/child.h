// Programs of the caller's that play the assistant or the person: two pipes, and standard error as it is.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "export_text.h"
#include "failure.h"
#include "line_reader.h"

// What a program has not read yet may be this much. One that reads less is given no more.
#define CHILD_PENDING_MAX ((size_t)16 << 20)

struct child {
	pid_t pid;
	int to; // -1: closed, by either side
	struct line_reader from;
	struct text pending; // for it
};

// Starts `program` with sh -c, in a process group of its own.
bool child_start(struct child *child, const char *program, struct failure *failure);

// Adds to what is pending, and writes what it takes at once. Never waits.
void child_write(struct child *child, const void *data, size_t size);
void child_flush(struct child *child);

// Closes the pipes and waits for its end, which after two seconds is brought about.
void child_end(struct child *child);
