// Who plays the assistant: a program, a model behind an API, a person, a recording. A player is given
// what the shell printed, and gives back what to type next.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "failure.h"
#include "shell.h"

struct player;
struct line_reader;
struct replay;

struct player_operations {
	// The text to type next, to be freed, in *text; false: `failure`, or with *ended the
	// assistant has nothing more to do.
	bool (*next)(struct player *player, char **text, size_t *size, bool *ended,
		     struct failure *failure);
	// What came of it: the output is capped and UTF-8.
	bool (*result)(struct player *player, const char *output, size_t size,
		       const struct shell_result *result, struct failure *failure);
	void (*close)(struct player *player);
};

// What every player begins with; a player's own struct has it as its first member.
struct player {
	const struct player_operations *operations;
};

// What a player is made from. All of it lives as long as the player.
struct player_start {
	const char *prompt;   // the system prompt, or NULL
	const char *argument; // PROGRAM, FILE or URL of the option that chose it
	const char *model;    // --model, or NULL
	const char *key_file; // --key-file, or NULL
	const char *key_env;  // --key-env, or NULL
	uint64_t max_tokens;  // --max-tokens, or 0
	bool json_lines;
	int terminal;		   // the caller's, for a person, or -1
	struct line_reader *input; // standard input, for a person
	struct replay *replay;	   // for player_replay
	// Has the running wait for the next text end, when it is set: by a signal, or at the time's
	// end. Players that wait look at it whenever a wait is interrupted.
	const volatile bool *stop;
	int deadline; // can be read (poll(2)) once the wait is to end: at the time's end, or by a signal
};

// Each returns NULL with `failure`.
struct player *player_exec(const struct player_start *start, struct failure *failure);
struct player *player_human(const struct player_start *start, struct failure *failure);
struct player *player_replay(const struct player_start *start, struct failure *failure);
struct player *player_api(const struct player_start *start, struct failure *failure);
