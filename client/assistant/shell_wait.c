// Waiting for a command's end (shell.h). Runs as the caller. The end is a mark, the shell's own end, or
// that the command waits for input, which the hand finds out inside; all else is ended from here: ^C's
// signal first, then those that ask less nicely, to what is in the terminal's foreground.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent_call.h"
#include "shell_inner.h"

#define MS 1000000U // nanoseconds
// How long a terminal is quiet before it is looked at, and the longest that a look waits for the next.
#define QUIET_MS 40U
#define QUIET_MAX_MS 1000U
// As many looks have to say the same.
#define LOOKS 2
// A program that has asked for the screen is given that long to be done with it.
#define SCREEN_MS 300U
// What is left of a shell's output once it has ended.
#define LAST_MS 200
#define HUNG_MS 20

struct wait {
	struct shell *shell;
	enum wait_aim aim;
	const struct shell_limits *limits;
	shell_output output;
	void *context;
	struct shell_result *result;
	uint64_t now, left;	      // of the time limit
	uint64_t look_at, look_after; // when, and how long after that the next one
	bool looking;		      // the hand has been asked
	enum hand_probe seen;
	int seen_count;
	bool screen;
	uint64_t screen_at;
	int stage; // of ending it
	uint64_t stage_at;
	enum shell_end end; // why it is ended
	bool over;
};

// What is sent, and when after the one before. The first byte of a ^C is not: a terminal in raw mode
// would pass it on.
static const struct {
	int signal;
	uint64_t patience_ms;
} stages[] = {
	{ SIGINT, 500 }, { SIGTERM, 300 }, { SIGINT, 500 }, { SIGKILL, 1500 }, { SIGKILL, 3000 },
};
#define STAGES ((int)(sizeof(stages) / sizeof(stages[0])))

static void give(struct wait *wait, const char *data, size_t size)
{
	struct shell_result *result = wait->result;
	const size_t most = wait->limits->output;
	const size_t room = most == 0 ? size : most > result->size ? most - result->size : 0;
	const size_t kept = size < room ? size : room;

	result->size += kept;
	result->dropped += size - kept;
	if (wait->output && kept > 0)
		wait->output(wait->context, data, kept);
}

// To what is in front; what is stopped has to go on in order to end.
static void signal_send(const struct shell *shell, int number)
{
	agent_signal(shell->connection, number);
	agent_signal(shell->connection, SIGCONT);
}

static void end_begin(struct wait *wait, enum shell_end end)
{
	if (wait->stage > 0 || wait->aim == WAIT_PROMPT)
		return;
	wait->end = end;
	wait->stage = 1;
	wait->stage_at = wait->now + stages[0].patience_ms * MS;
	signal_send(wait->shell, stages[0].signal);
}

// Whether the shell itself is in front: then a signal that kills would end it.
static bool shell_in_front(const struct shell *shell)
{
	pid_t group = 0, session = 0;

	return ioctl(shell->master, TIOCGPGRP, &group) < 0 ||
	       ioctl(shell->master, TIOCGSID, &session) < 0 || group == session;
}

// The next signal. The shell is spared until nothing else is left.
static void end_go_on(struct wait *wait)
{
	const int stage = wait->stage;

	if (stage == 0 || wait->now < wait->stage_at)
		return;
	if (stage == STAGES) {
		wait->result->end = SHELL_GONE;
		wait->result->status = 128 + SIGKILL;
		wait->over = true;
		return;
	}
	wait->stage++;
	wait->stage_at = wait->now + stages[stage].patience_ms * MS;
	if (stages[stage].signal != SIGKILL || stage == STAGES - 1 || !shell_in_front(wait->shell))
		signal_send(wait->shell, stages[stage].signal);
}

static void finish(struct wait *wait, enum shell_end end, int status)
{
	char rest[MARK_KEPT];

	give(wait, rest, mark_flush(&wait->shell->mark, rest));
	wait->result->end = end;
	wait->result->status = status;
	wait->over = true;
}

// True: there was something.
static bool master_read(struct wait *wait)
{
	struct mark *mark = &wait->shell->mark;
	char data[16384], clean[sizeof(data) + MARK_KEPT];
	const ssize_t count = read(wait->shell->master, data, sizeof(data));

	if (count <= 0)
		return false;
	give(wait, clean, mark_feed(mark, clean, data, (size_t)count));
	wait->look_after = QUIET_MS;
	wait->look_at = wait->now + QUIET_MS * MS;
	wait->seen_count = 0;
	if (mark->screen) {
		mark->screen = false;
		wait->screen = true;
		wait->screen_at = wait->now + SCREEN_MS * MS;
	}
	if (mark->found) {
		mark->found = false;
		finish(wait, wait->stage > 0 ? wait->end : SHELL_DONE, mark->status);
	} else if (wait->result->dropped > SHELL_DROPPED_MAX) {
		end_begin(wait, SHELL_FLOOD);
	}
	return true;
}

// The agent says that the shell has ended, or is gone itself.
static bool shell_ended(struct wait *wait, struct failure *failure)
{
	struct pollfd last = { .fd = wait->shell->master, .events = POLLIN };
	struct agent_reply reply;
	int status = 128 + SIGKILL;

	if (!agent_receive(wait->shell->connection, 0, &reply, failure))
		return false;
	if (reply.descriptor >= 0)
		close(reply.descriptor);
	if (reply.kind == AGENT_EXITED)
		status = reply.exit_code;
	while (!wait->over && wait->result->dropped <= SHELL_DROPPED_MAX &&
	       poll(&last, 1, LAST_MS) > 0 && master_read(wait))
		;
	wait->over = false;
	finish(wait, SHELL_GONE, status);
	return true;
}

static bool look_take(struct wait *wait, const struct hand_frame *frame, struct failure *failure)
{
	const enum hand_probe seen =
		frame->size == 1 ? (enum hand_probe)frame->data[0] : PROBE_BUSY;

	if (!wait->looking)
		return true;
	wait->looking = false;
	wait->seen_count = seen == wait->seen ? wait->seen_count + 1 : 1;
	wait->seen = seen;
	if (seen == PROBE_BUSY || wait->seen_count < LOOKS)
		return true;
	if (seen == PROBE_WAITING && wait->stage == 0) {
		finish(wait, SHELL_WAITING, 0);
	} else if (seen == PROBE_SHELL) {
		// A prompt, and no mark: the command has changed PROMPT_COMMAND.
		wait->seen_count = 0;
		return shell_type(wait->shell, SHELL_REPAIR, failure);
	}
	return true;
}

static bool hand_take(struct wait *wait, struct failure *failure)
{
	struct shell *shell = wait->shell;
	struct hand_frame frame;

	if (!hand_read(&shell->hand)) {
		// It is started again when it is needed.
		shell_hand_lost(shell);
		wait->looking = false;
		return true;
	}
	while (hand_next(&shell->hand, &frame)) {
		if (frame.type == HAND_PROBED) {
			if (!look_take(wait, &frame, failure))
				return false;
		} else if (frame.type != HAND_WRITTEN && shell->talk.take) {
			shell->talk.take(shell->talk.context, &frame);
		}
	}
	return true;
}

// The next look comes later and later, but a terminal that was just written to is soon looked at.
static void look(struct wait *wait)
{
	struct shell *shell = wait->shell;
	struct failure ignored;
	char pid[16];

	if (wait->aim == WAIT_PROMPT || wait->now < wait->look_at || shell->paused)
		return;
	if (wait->seen_count == 0 || wait->seen == PROBE_BUSY)
		wait->look_after =
			wait->look_after * 2 < QUIET_MAX_MS ? wait->look_after * 2 : QUIET_MAX_MS;
	wait->look_at = wait->now + wait->look_after * MS;
	// A session at its limits may have no room for a hand: then there are no looks.
	if (wait->looking || !shell_hand(shell, &ignored))
		return;
	snprintf(pid, sizeof(pid), "%u", shell->pid);
	wait->looking = hand_send(&shell->hand, HAND_PROBE, 0, pid, strlen(pid));
	if (!wait->looking)
		shell_hand_lost(shell);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int timeout_ms(const struct wait *wait)
{
	uint64_t at = wait->now + 1000U * MS;

	if (wait->aim == WAIT_COMMAND && !wait->shell->paused)
		at = earlier(at, wait->look_at);
	if (wait->stage > 0)
		at = earlier(at, wait->stage_at);
	else if (wait->limits->time_ms > 0 && !wait->shell->paused)
		at = earlier(at, wait->now + wait->left);
	if (wait->screen)
		at = earlier(at, wait->screen_at);
	return at <= wait->now ? 0 : (int)((at - wait->now + MS - 1) / MS);
}

static void clock_look(struct wait *wait)
{
	const uint64_t now = shell_clock(), passed = now - wait->now;

	wait->now = now;
	if (wait->shell->paused || wait->limits->time_ms == 0)
		return;
	wait->left = passed < wait->left ? wait->left - passed : 0;
	if (wait->left > 0)
		return;
	if (wait->aim == WAIT_PROMPT)
		finish(wait, SHELL_TIMEOUT, 0);
	else
		end_begin(wait, SHELL_TIMEOUT);
}

static bool turn(struct wait *wait, struct failure *failure)
{
	struct shell *shell = wait->shell;
	struct pollfd waits[] = {
		{ shell->master, POLLIN, 0 },	{ shell->connection, POLLIN, 0 },
		{ shell->wake, POLLIN, 0 },	{ shell->hand.from, POLLIN, 0 },
		{ shell->watch.fd, POLLIN, 0 },
	};
	uint64_t count;

	if (poll(waits, sizeof(waits) / sizeof(waits[0]), timeout_ms(wait)) < 0 && errno != EINTR)
		return fail(failure, "waiting for a command: %s", strerror(errno));
	clock_look(wait);
	if (waits[2].revents && read(shell->wake, &count, sizeof(count)) > 0)
		end_begin(wait, SHELL_TIMEOUT);
	const bool some = !wait->over && waits[0].revents && master_read(wait);
	if (wait->over)
		return true;
	// A terminal that nobody has open can always be "read".
	if (waits[0].revents && !some && !waits[1].revents)
		(void)poll(NULL, 0, HUNG_MS);
	if (waits[1].revents && !some)
		return shell_ended(wait, failure);
	if (waits[3].revents && !hand_take(wait, failure))
		return false;
	if (waits[4].revents && shell->watch.ready)
		shell->watch.ready(shell->watch.context);
	if (wait->over)
		return true;
	if (wait->screen && wait->now >= wait->screen_at) {
		wait->screen = false;
		end_begin(wait, SHELL_SCREEN);
	}
	end_go_on(wait);
	if (!wait->over)
		look(wait);
	return true;
}

bool shell_wait(struct shell *shell, enum wait_aim aim, const struct shell_limits *limits,
		shell_output output, void *context, struct shell_result *result,
		struct failure *failure)
{
	const uint64_t start = shell_clock();
	struct wait wait = {
		.shell = shell,
		.aim = aim,
		.limits = limits,
		.output = output,
		.context = context,
		.result = result,
		.now = start,
		.left = limits->time_ms * MS,
		.look_at = start + QUIET_MS * MS,
		.look_after = QUIET_MS,
	};
	bool good = true;

	while (good && !wait.over)
		good = turn(&wait, failure);
	result->nanoseconds = shell_clock() - start;
	return good;
}
