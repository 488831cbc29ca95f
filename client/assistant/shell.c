// The persistent shell (shell.h): opening, typing, closing. Runs as the caller. What is to be run never
// goes through the terminal, whose lines are short and whose keys mean things: the hand puts it into a
// file, and what is typed is always the same line. Nothing here waits for the session without a bound.
#include "shell.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "agent_call.h"
#include "cleanup.h"
#include "job.h"
#include "session.h"
#include "shell_inner.h"

#define START_MS 60000
#define WRITE_MS 5000
#define ROWS 24
#define COLUMNS 80
// The longest line that a terminal takes (N_TTY_BUF_SIZE), less its end.
#define LINE_MAX_BYTES 4094U
// The first blank keeps it out of a history.
#define RUN_LINE " . " HAND_COMMAND_FILE "\n"

const char *const shell_end_names[] = {
	[SHELL_DONE] = "done",	     [SHELL_WAITING] = "waiting", [SHELL_SCREEN] = "screen",
	[SHELL_TIMEOUT] = "timeout", [SHELL_FLOOD] = "flood",	  [SHELL_GONE] = "gone",
};

uint64_t shell_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

bool shell_hand(struct shell *shell, struct failure *failure)
{
	if (shell->hand.connection >= 0)
		return true;
	if (hand_open(&shell->hand, shell->session, shell->nonce, failure))
		return true;
	hand_close(&shell->hand);
	return false;
}

void shell_hand_lost(struct shell *shell)
{
	const struct hand_frame gone = { .type = HAND_GONE };

	hand_close(&shell->hand);
	if (shell->talk.take)
		shell->talk.take(shell->talk.context, &gone);
}

// The terminal as commands shall find it: the master's modes are the session's (pty(7)). No echo, no
// flow control, newlines as they are.
static void modes_set(int master)
{
	struct termios modes;

	if (tcgetattr(master, &modes) < 0)
		return;
	modes.c_iflag = ICRNL | IUTF8 | BRKINT;
	modes.c_oflag = OPOST;
	modes.c_lflag = ISIG | ICANON | IEXTEN;
	modes.c_cc[VINTR] = 3;
	modes.c_cc[VQUIT] = 28;
	modes.c_cc[VEOF] = 4;
	modes.c_cc[VSUSP] = 26;
	modes.c_cc[VERASE] = 127;
	modes.c_cc[VKILL] = 21;
	modes.c_cc[VMIN] = 1;
	modes.c_cc[VTIME] = 0;
	// Failing, a command finds what the one before it left.
	(void)tcsetattr(master, TCSANOW, &modes);
}

bool shell_type(struct shell *shell, const char *line, struct failure *failure)
{
	modes_set(shell->master);
	return write_patiently(shell->master, line, strlen(line), WRITE_MS) ||
	       fail(failure, "typing at the session's shell: its terminal takes nothing");
}

// Waits for what the hand says to a command. What else it says goes to the conversation.
static bool command_written(struct shell *shell, struct failure *failure)
{
	struct hand_frame frame;

	for (;;) {
		struct pollfd wait = { .fd = shell->hand.from, .events = POLLIN };

		while (hand_next(&shell->hand, &frame)) {
			if (frame.type == HAND_WRITTEN)
				return frame.size == 0 ||
				       fail(failure, "putting the command into the session: %.*s",
					    (int)(frame.size < 100 ? frame.size : 100), frame.data);
			if (frame.type != HAND_PROBED && shell->talk.take)
				shell->talk.take(shell->talk.context, &frame);
		}
		if (shell->hand.from < 0 || poll(&wait, 1, WRITE_MS) <= 0 ||
		    !hand_read(&shell->hand))
			return fail(failure, "putting the command into the session: its hand "
					     "there is gone or stopped");
	}
}

// The hand may have been ended with everything else in the session: once it is started anew.
static bool command_put(struct shell *shell, const char *text, size_t size, struct failure *failure)
{
	if (size >= HAND_COMMAND_MAX)
		return fail(failure, "a command of %zu bytes: %u are the most", size,
			    HAND_COMMAND_MAX - 1);
	for (int attempt = 0; attempt < 2; attempt++) {
		if (!shell_hand(shell, failure))
			return false;
		if (hand_send(&shell->hand, HAND_COMMAND, 0, text, size) &&
		    command_written(shell, failure))
			return true;
		shell_hand_lost(shell);
	}
	return false;
}

// What was printed since the last command ended, by what that left running.
static void drain(struct shell *shell, shell_output output, void *context,
		  struct shell_result *result, size_t most)
{
	char data[4096], clean[sizeof(data) + MARK_KEPT];

	for (size_t all = 0; all < SHELL_DROPPED_MAX;) {
		const ssize_t count = read(shell->master, data, sizeof(data));
		if (count <= 0)
			break;
		size_t size = mark_feed(&shell->mark, clean, data, (size_t)count);
		const size_t room = most > 0 ? most - result->size : size;

		all += (size_t)count;
		if (size > room) {
			result->dropped += size - room;
			size = room;
		}
		result->size += size;
		if (output && size > 0)
			output(context, clean, size);
	}
	shell->mark.found = false;
	shell->mark.screen = false;
}

// To the program that waits for it.
static bool input_type(struct shell *shell, const char *text, size_t size, struct failure *failure)
{
	const bool key = size == 2 && text[0] == '^' && (text[1] == 'C' || text[1] == 'D');
	const char control = key ? (char)(text[1] - '@') : '\n';

	for (const char *at = text, *end; !key && at < text + size; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text + size - at));
		if (!end)
			end = text + size;
		if ((size_t)(end - at) > LINE_MAX_BYTES)
			return fail(failure,
				    "typing to a program: a line of %zu bytes; a terminal "
				    "takes %u",
				    (size_t)(end - at), LINE_MAX_BYTES);
	}
	const bool line = !key && (size == 0 || text[size - 1] != '\n');

	return ((key || write_patiently(shell->master, text, size, WRITE_MS)) &&
		(!(key || line) || write_patiently(shell->master, &control, 1, WRITE_MS))) ||
	       fail(failure, "typing to a program: its terminal takes nothing");
}

bool shell_run(struct shell *shell, const char *text, size_t size,
	       const struct shell_limits *limits, shell_output output, void *context,
	       struct shell_result *result, struct failure *failure)
{
	*result = (struct shell_result){ 0 };
	// One that listens in the background gives no time to what is in front.
	shell->paused = false;
	if (memchr(text, '\0', size))
		return fail(failure, "a command with a NUL in it cannot be typed");
	if (shell->waiting) {
		if (!input_type(shell, text, size, failure))
			return false;
	} else {
		drain(shell, output, context, result, limits->output);
		if (!command_put(shell, text, size, failure) ||
		    !shell_type(shell, RUN_LINE, failure))
			return false;
	}
	const bool good = shell_wait(shell, WAIT_COMMAND, limits, output, context, result, failure);
	shell->waiting = good && result->end == SHELL_WAITING;
	return good;
}

// Starts the bash, and takes the master of its terminal.
static bool bash_start(struct shell *shell, const struct job *job, struct failure *failure)
{
	struct agent_reply started;

	shell->connection = agent_connect(shell->session, failure);
	if (shell->connection < 0 || !job_start(shell->connection, job, NULL, &started, failure))
		return false;
	shell->master = started.descriptor;
	shell->pid = started.pid;
	(void)fcntl(shell->master, F_SETFL, fcntl(shell->master, F_GETFL) | O_NONBLOCK);
	modes_set(shell->master);
	return true;
}

static bool shell_start(struct shell *shell, const struct shell_options *options,
			struct failure *failure)
{
	static char bash[] = "/bin/bash", noediting[] = "--noediting", rcfile[] = "--rcfile",
		    interactive[] = "-i", rc[] = LODGER_LIBEXEC "/assistant/rc.bash";
	char *argv[] = { bash, noediting, rcfile, rc, interactive, NULL };
	const struct shell_limits limits = { .time_ms = START_MS };
	char name[SESSION_NAME_SIZE], nix_shell[128], term[] = "TERM=dumb";
	struct shell_result result = { 0 };
	autofree char **environment = calloc(options->environment_count + 2, sizeof(*environment));

	if (!environment)
		return fail(failure, "starting the session's shell: out of memory");
	session_name(shell->session, name);
	snprintf(nix_shell, sizeof(nix_shell),
		 "NIX_BUILD_SHELL=/home/%s/" HAND_DIRECTORY "/" HAND_NIX_SHELL "%s", name,
		 shell->nonce);
	for (size_t i = 0; i < options->environment_count; i++)
		environment[i] = options->environment[i];
	environment[options->environment_count] = nix_shell;
	environment[options->environment_count + 1] = term;

	struct job job = {
		.argv = argv,
		.environment = environment,
		.environment_count = options->environment_count + 2,
		.directory = options->directory,
		.terminal = true,
		.rows = options->rows > 0 ? options->rows : ROWS,
		.columns = options->columns > 0 ? options->columns : COLUMNS,
	};
	if (!shell_hand(shell, failure) || !bash_start(shell, &job, failure) ||
	    !shell_wait(shell, WAIT_PROMPT, &limits, NULL, NULL, &result, failure))
		return false;
	return result.end == SHELL_DONE ||
	       fail(failure, "starting the session's shell: it ended, or gave no sign, before its "
			     "first prompt; lodger doctor tells what is missing");
}

struct shell *shell_open(uint32_t number, const struct shell_options *options,
			 struct failure *failure)
{
	unsigned char random[MARK_NONCE / 2];
	struct shell *shell = calloc(1, sizeof(*shell));

	if (!shell) {
		fail(failure, "starting the session's shell: out of memory");
		return NULL;
	}
	shell->session = number;
	shell->connection = shell->master = shell->watch.fd = -1;
	shell->hand.connection = shell->hand.to = shell->hand.from = -1;
	shell->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (shell->wake < 0 || getrandom(random, sizeof(random), 0) != sizeof(random)) {
		fail(failure, "starting the session's shell: %s", strerror(errno));
		shell_close(shell);
		return NULL;
	}
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(shell->nonce + 2 * i, 3, "%02x", random[i]);
	mark_start(&shell->mark, shell->nonce);
	if (shell_start(shell, options, failure))
		return shell;
	shell_close(shell);
	return NULL;
}

void shell_talk_to(struct shell *shell, shell_talk take, void *context)
{
	shell->talk.take = take;
	shell->talk.context = context;
}

bool shell_talk_send(struct shell *shell, uint32_t type, uint32_t id, const void *data, size_t size)
{
	return hand_send(&shell->hand, type, id, data, size);
}

void shell_watch(struct shell *shell, int fd, shell_ready ready, void *context)
{
	shell->watch.fd = fd;
	shell->watch.ready = ready;
	shell->watch.context = context;
}

void shell_pause(struct shell *shell, bool paused)
{
	shell->paused = paused;
}

void shell_interrupt(struct shell *shell)
{
	const uint64_t one = 1;
	const int error = errno;

	// Cannot block, and one that is not counted was there already.
	(void)!write(shell->wake, &one, sizeof(one));
	errno = error;
}

void shell_close(struct shell *shell)
{
	hand_close(&shell->hand);
	if (shell->master >= 0)
		close(shell->master);
	if (shell->connection >= 0)
		close(shell->connection);
	if (shell->wake >= 0)
		close(shell->wake);
	free(shell);
}
