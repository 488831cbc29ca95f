// What lodger export reads: directories of recordings, files of events or of chat JSONL, or standard
// input. Runs as the caller.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "export_conversation.h"
#include "export_lines.h"
#include "failure.h"

struct source {
	FILE *file;
	char *name; // for messages
	bool chat;  // a conversation a line; else a recording
	bool read;  // the recording was
	struct lines lines;
};

// Opens `path`: "-" is standard input, and a directory one that lodger assistant --record made.
// False with `failure`; source_close() in any case.
bool source_open(struct source *source, const char *path, bool chat, struct failure *failure);
void source_close(struct source *source);

// Reads the next conversation, to be freed in any case. Returns 1, 0 when there are no more, or -1.
int source_next(struct source *source, struct conversation *conversation, struct failure *failure);

// Reads the text file at `path`, which must be UTF-8 and no larger than a mebibyte.
bool source_text(const char *path, struct text *text, struct failure *failure);
