// One bash in a session, on a terminal of the session's own (80x24 unless told), whose prompts carry
// marks, so that a command's end and exit status are facts and not guesses.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"

struct shell;

enum shell_end {
	SHELL_DONE,    // the prompt came back; status is $?
	SHELL_WAITING, // the command reads the terminal: it wants input (the next text goes to it)
	SHELL_SCREEN,  // a full-screen program (alternate screen) was started; it has been ended
	SHELL_TIMEOUT, // ran past its time; it has been ended, the shell lives
	SHELL_FLOOD,   // printed far more than it may (SHELL_DROPPED_MAX); it has been ended
	SHELL_GONE,    // the shell itself ended (exit, session over): status is its exit code
};

// "done", "waiting", …
extern const char *const shell_end_names[];

struct shell_result {
	enum shell_end end;
	int status;
	size_t size, dropped; // bytes of output kept, and dropped
	uint64_t nanoseconds;
};

struct shell_options {
	uint32_t rows, columns; // 0: 24, 80
	char **environment;	// NAME=VALUE each
	size_t environment_count;
	const char *directory; // NULL: the lodger's home
};

// Output above the limit is dropped and counted; a command that goes on for this long is ended.
#define SHELL_DROPPED_MAX ((size_t)16 << 20)

// 0: no such limit.
struct shell_limits {
	uint64_t time_ms;
	size_t output;
};

// Called with output as it comes: raw bytes of the terminal, marks removed, CRLF made LF.
typedef void (*shell_output)(void *context, const char *data, size_t size);

// Starts the shell in session `number`.
struct shell *shell_open(uint32_t number, const struct shell_options *options,
			 struct failure *failure);

// Types `text` (one line, or several, without NUL: typed as one bash command unit) and waits for the end of it.
// After SHELL_WAITING the text goes to the program that waits; "^C" and "^D" are these keys then.
// False, with `failure`: Lodger's own failure, after which the shell is of no more use.
bool shell_run(struct shell *shell, const char *text, size_t size,
	       const struct shell_limits *limits, shell_output output, void *context,
	       struct shell_result *result, struct failure *failure);

// What the hand in the session (hand_protocol.h) reports of a conversation goes to `take`, during
// shell_run(); without one it is not listened to.
struct hand_frame;
typedef void (*shell_talk)(void *context, const struct hand_frame *frame);
void shell_talk_to(struct shell *shell, shell_talk take, void *context);
bool shell_talk_send(struct shell *shell, uint32_t type, uint32_t id, const void *data,
		     size_t size);

// Has `ready` called during shell_run() whenever descriptor `fd` can be read; -1: no longer.
typedef void (*shell_ready)(void *context);
void shell_watch(struct shell *shell, int fd, shell_ready ready, void *context);

// While it is paused, a command's time stands still: it waits for the person.
void shell_pause(struct shell *shell, bool paused);

// Has a running shell_run() end its command, as at a time-out. Async-signal-safe.
void shell_interrupt(struct shell *shell);

void shell_close(struct shell *shell);
