// What run, exec and shell share: from options and words to a job, and running it.
#pragma once

#include <stdbool.h>

#include "channel.h"
#include "command.h"
#include "failure.h"
#include "helper_call.h"
#include "protocol.h"
#include "usage.h"

#define LAUNCH_NIX_PATH "NIX_PATH=nixpkgs="
#define LAUNCH_PATH "PATH=" SESSION_PATH ":"

// What a job's environment has beside the session's own: what leads to the channel, LODGER_AUTO, TERM
// with a terminal, and the options' own variables.
struct launch_environment {
	char **list; // points into this struct and into the options
	size_t count;
	char term[80];
	char channel[STORE_PATH_SIZE];
	char nix_path[sizeof(LAUNCH_NIX_PATH) + STORE_PATH_SIZE];
	char path[sizeof(LAUNCH_PATH) + STORE_PATH_SIZE + sizeof(CHANNEL_COMMANDS)];
};

// Makes it, after a look whether the channel has the options' packages. False, with `failure`; what
// was made is to be freed then, too.
bool launch_environment_make(struct launch_environment *made, const struct options *options,
			     bool terminal, struct failure *failure);
void launch_environment_free(struct launch_environment *made);

// Runs `words` (NULL-terminated; NULL itself: an interactive shell) in session `number`, with the
// options' packages, environment, directory and time limit.
// Returns the exit code, or FAILED.
int launch(uint32_t number, const struct options *options, char *const words[], bool terminal,
	   struct failure *failure);

// The same in a session that is made for it, tied to this process, and destroyed afterwards.
int launch_tied(const struct options *options, char *const words[], bool terminal,
		struct failure *failure);

// Destroys a session that is tied to this process; with `report` says what it used. What goes wrong is
// no more than said.
void launch_tied_destroy(const struct created *created, bool report);

// Puts what `usage` knows into one line.
#define USAGE_LINE 256
char *usage_line(char text[USAGE_LINE], const struct usage *usage);
