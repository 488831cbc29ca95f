// The loop of lodger assistant: the player types, the shell answers, the person is asked, until somebody
// or a limit ends it.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "clean.h"
#include "dialogue.h"
#include "failure.h"
#include "plain.h"
#include "player.h"
#include "record.h"
#include "shell.h"

// Exit codes beside EXIT_TIMEOUT and EXIT_LODGER.
enum {
	EXIT_TURNS = 3,	  // --turns
	EXIT_OUTPUT = 4,  // --total-output
	EXIT_SESSION = 5, // the session ended
	EXIT_DIFFERS = 6, // --replay: something printed something else
};

struct conversation_bounds {
	uint64_t turns, seconds, command_seconds;
	size_t command_output, total_output;
};

struct stage {
	uint32_t session;
	struct shell *shell;
	struct player *player;
	struct person *person;
	struct recorder *recorder; // NULL: none
	struct conversation_bounds bounds;
	bool human;	 // ^C ends the command, not the conversation
	bool transcript; // what happens is printed in the form of a transcript
	bool show;	 // what the shell prints is
	// Made by stage_open:
	int events; // epoll(7): the time is over, or a signal came
	int watch;  // that, and the person's descriptor
	int timer, signals;
	sigset_t mask_before;
	volatile bool stop;
	int stop_signal; // 0: the time
	// The loop's own:
	struct dialogue dialogue;
	bool running;
	enum plain_state plain;
	struct clean clean, shown; // of the output, for the player and for standard output
	char *output;
	size_t output_size, output_room, total;
	bool line_open;
};

// Opens what the loop waits for; from here on signals are taken by it. stage_close in any case.
bool stage_open(struct stage *stage, struct failure *failure);
void stage_close(struct stage *stage);

// Plays it. Returns the exit code, or -1 with `failure`.
int stage_play(struct stage *stage, struct failure *failure);
