// What the files of the shell share (shell.h).
#pragma once

#include "hand.h"
#include "mark.h"
#include "shell.h"

struct shell {
	uint32_t session;
	char nonce[MARK_NONCE + 1];
	uint32_t pid; // of the bash, in the session
	int connection, master;
	int wake; // eventfd(2): shell_interrupt
	struct hand hand;
	struct mark mark;
	bool waiting; // a command runs, and wants input
	bool paused;
	struct {
		int fd; // -1: none
		shell_ready ready;
		void *context;
	} watch;
	struct {
		shell_talk take; // NULL: nobody
		void *context;
	} talk;
};

// What ends a wait early.
enum wait_aim {
	WAIT_PROMPT, // the first prompt of all: nothing is ended, nothing probed
	WAIT_COMMAND,
};

// Waits for the next prompt, or for what else can end a command, and takes its output meanwhile.
bool shell_wait(struct shell *shell, enum wait_aim aim, const struct shell_limits *limits,
		shell_output output, void *context, struct shell_result *result,
		struct failure *failure);

uint64_t shell_clock(void); // nanoseconds

// Opens the hand anew when it is gone.
bool shell_hand(struct shell *shell, struct failure *failure);

// The hand is gone: closes it, and says so to the conversation.
void shell_hand_lost(struct shell *shell);

// Types a line for the shell itself, whose prompt is there.
bool shell_type(struct shell *shell, const char *line, struct failure *failure);

// What has bash print its marks again, if somebody has taken them away.
#define SHELL_REPAIR " . " LODGER_LIBEXEC "/assistant/rc.bash\n"
