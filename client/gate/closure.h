// Which derivations are the channel's, so that the daemon may build them: lists that the
// administrator's channels carry.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "paths.h"

// Most channels that are held at once: the one in use, and earlier ones that sessions still use.
#define CLOSURE_LISTS 16U
// Longest list. One line is about a hundred bytes.
#define CLOSURE_SIZE (16U * 1024U * 1024U)

struct closure {
	struct view lists[CLOSURE_LISTS];
	size_t count;
};

// Maps the file `closure` of each store path to which a link NAME-lodger-channel in the directory
// `roots` points, below the descriptor of the store. A channel without that file allows nothing, and
// neither does one that is not as it should be; the directory must be root's alone to write.
void closure_open(struct closure *closure, const char *roots, int store);
void closure_close(struct closure *closure);

// Whether a derivation's store path stands in one of the lists, as a whole line.
bool closure_has(const struct closure *closure, struct view derivation);

// The same in one list of lines that are sorted bytewise. In one that is not, lines may be missed.
bool closure_list_has(struct view list, struct view line);
