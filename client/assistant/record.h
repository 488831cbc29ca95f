// Recordings: a directory with events.jsonl, transcript.txt and terminal.cast (asciicast v2). What is
// in them is in lodger-assistant(1).
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "failure.h"
#include "shell.h"
#include "usage.h"

struct recorder;

struct record_start {
	const char *session;   // lodger-7
	const char *assistant; // exec, api, human, replay
	const char *model;     // NULL: none
	const char *prompt;    // NULL: none
	json_t *limits;	       // json_limits; stays the caller's
	uint32_t columns, rows;
};

// Makes directory `path` (0700) with the files of a new recording, and writes the start. A directory
// that is there already must have no recording in it. NULL with `failure`.
struct recorder *recorder_open(const char *path, const struct record_start *start,
			       struct failure *failure);

// Each of these does nothing when `recorder` is NULL. What cannot be written is kept in mind for
// recorder_close.

// One line of the person, without its end, when it is handed over.
void record_say(struct recorder *recorder, const char *text, size_t size);
// One assistant_tell.
void record_tell(struct recorder *recorder, const char *text, size_t size);
// What the assistant typed.
void record_command(struct recorder *recorder, const char *text, size_t size);
// A piece of what it printed, as it comes; the event is written at the end.
void record_output(struct recorder *recorder, const char *data, size_t size);
void record_end(struct recorder *recorder, const struct shell_result *result);
void record_usage(struct recorder *recorder, const struct usage *usage);
// "assistant", "person", "turns", "time", "output", "session" or "interrupted".
void record_finish(struct recorder *recorder, const char *reason, const char *detail);

// Closes the files. False: the recording is not complete.
bool recorder_close(struct recorder *recorder, struct failure *failure);
