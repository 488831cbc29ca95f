// Conversations as Open-Assistant message trees (lodger-export(1)): those that begin alike share what
// they have in common. Pure.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "export_conversation.h"
#include "export_marks.h"
#include "failure.h"

// The most messages on one way through a tree: each is two levels of JSON, and common readers
// (Python's, at its default) go no deeper than 1,000.
#define TREE_DEPTH_MAX 480

// Begin with both NULL.
struct forest {
	json_t *trees; // a list, in the order in which they were begun
	json_t *nodes; // by message_id
};

// Adds a conversation, in language `language` (BCP 47).
bool forest_add(struct forest *forest, const struct conversation *conversation,
		const char *language, struct marks *marks, struct failure *failure);
void forest_free(struct forest *forest);
