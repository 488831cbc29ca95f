// Recordings and transcripts that are played again: what the assistant typed, what it printed then, and
// what the person said.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "export_conversation.h"
#include "failure.h"

struct replay {
	struct conversation conversation;
	size_t next;	  // step to be typed
	size_t said_step; // where the person is
	size_t said_talk;
	size_t differing; // steps that did not print what they had
	size_t first;	  // of these, from 1
};

// Reads `path`: a directory or file that --record or lodger export made, or a transcript: lines that
// begin with "> " were typed, those with ">> " belong to the one before, and all else was printed.
struct replay *replay_open(const char *path, struct failure *failure);
void replay_close(struct replay *replay);

// A transcript's text. Pure.
bool replay_transcript(struct conversation *conversation, const char *text, size_t size);
