// The loop of lodger assistant (conversation.h). Runs as the caller. All limits are looked after here: of
// turns, of time, and of output.
#include "conversation.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "agent_call.h"
#include "cleanup.h"
#include "session_list.h"

enum source {
	SOURCE_TIMER,
	SOURCE_PERSON, // as dialogue.c adds it
	SOURCE_SIGNALS,
	SOURCE_EVENTS,
};

static bool epoll_add(int epoll, int fd, enum source source)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = source };

	return epoll >= 0 && fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

bool stage_open(struct stage *stage, struct failure *failure)
{
	const struct itimerspec end = { .it_value.tv_sec = (time_t)stage->bounds.seconds };
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &stage->mask_before);
	stage->signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	stage->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	stage->events = epoll_create1(EPOLL_CLOEXEC);
	stage->watch = epoll_create1(EPOLL_CLOEXEC);
	if (stage->timer < 0 || timerfd_settime(stage->timer, 0, &end, NULL) < 0 ||
	    !epoll_add(stage->events, stage->timer, SOURCE_TIMER) ||
	    !epoll_add(stage->events, stage->signals, SOURCE_SIGNALS) ||
	    !epoll_add(stage->watch, stage->events, SOURCE_EVENTS))
		return fail(failure, "preparing the conversation: %s", strerror(errno));
	return true;
}

void stage_close(struct stage *stage)
{
	cleanup_close(&stage->watch);
	cleanup_close(&stage->events);
	cleanup_close(&stage->timer);
	cleanup_close(&stage->signals);
	free(stage->output);
	stage->output = NULL;
	sigprocmask(SIG_SETMASK, &stage->mask_before, NULL);
}

static void stop(struct stage *stage, int signal)
{
	if (!stage->stop)
		stage->stop_signal = signal;
	stage->stop = true;
	shell_interrupt(stage->shell);
}

static void signals_take(struct stage *stage)
{
	struct signalfd_siginfo info;

	while (read(stage->signals, &info, sizeof(info)) == sizeof(info)) {
		if (stage->human && stage->running && info.ssi_signo == SIGINT)
			shell_interrupt(stage->shell);
		else
			stop(stage, (int)info.ssi_signo);
	}
}

static void events_take(struct stage *stage)
{
	struct epoll_event events[4];
	const int count = epoll_wait(stage->events, events, 4, 0);

	for (int i = 0; i < count; i++) {
		if (events[i].data.u32 == SOURCE_SIGNALS)
			signals_take(stage);
		else
			stop(stage, 0);
	}
}

static void ready(void *context)
{
	struct stage *stage = context;
	struct epoll_event events[4];
	const int count = epoll_wait(stage->watch, events, 4, 0);

	for (int i = 0; i < count; i++) {
		if (events[i].data.u32 == SOURCE_PERSON)
			dialogue_look(&stage->dialogue);
		else if (!stage->stop)
			events_take(stage);
	}
	// The time's end stays to be read: players see it, too. Here it has been seen.
	if (stage->stop)
		shell_watch(stage->shell, -1, NULL, NULL);
}

static void print(struct stage *stage, const char *text, size_t size)
{
	if (size == 0)
		return;
	stage->line_open = text[size - 1] != '\n';
	// What cannot be written, output_check tells in the end.
	(void)fwrite(text, 1, size, stdout);
	(void)fflush(stdout);
}

static void output_keep(struct stage *stage, const char *data, size_t size)
{
	const size_t most = CLEAN_GROWTH * (size + CLEAN_KEPT);

	if (stage->output_size + most > stage->output_room) {
		const size_t room = 2 * (stage->output_size + most);
		char *more = realloc(stage->output, room);

		if (!more)
			return;
		stage->output = more;
		stage->output_room = room;
	}
	stage->output_size +=
		clean_text(&stage->clean, stage->output + stage->output_size, data, size);
}

static void output_take(void *context, const char *data, size_t size)
{
	struct stage *stage = context;
	autofree char *plain = malloc(size + 1);
	autofree char *clean = malloc(CLEAN_GROWTH * (size + 1 + CLEAN_KEPT));

	stage->total += size;
	record_output(stage->recorder, data, size);
	// The player gets less; the recording has it all.
	if (!plain || !clean)
		return;
	const size_t left = plain_text(&stage->plain, plain, data, size);
	output_keep(stage, plain, left);
	if (stage->show || stage->transcript)
		print(stage, clean, clean_text(&stage->shown, clean, plain, left));
}

// For whoever reads along.
static void typed_print(struct stage *stage, const char *text, size_t size)
{
	struct clean clean = { .ascii = stage->shown.ascii };
	autofree char *shown = malloc(CLEAN_GROWTH * (size + CLEAN_KEPT));

	if (!stage->transcript || !shown)
		return;
	if (stage->line_open)
		print(stage, "\n", 1);
	print(stage, "> ", 2);
	const size_t length = clean_text(&clean, shown, text, size);
	for (size_t i = 0; i < length; i++) {
		print(stage, &shown[i], 1);
		if (shown[i] == '\n' && i + 1 < length)
			print(stage, ">> ", 3);
	}
	if (stage->line_open)
		print(stage, "\n", 1);
}

// What the player cannot see in the output: that some is missing, and how the command ended.
static void end_tell(struct stage *stage, const struct shell_result *result)
{
	static const char *const words[] = {
		[SHELL_SCREEN] = "a program wanted the whole screen, and was ended",
		[SHELL_TIMEOUT] = "its time was over, and it was ended",
		[SHELL_FLOOD] = "it printed far too much, and was ended",
	};
	char text[160] = "";
	int size = 0;

	if (result->dropped > 0)
		size = snprintf(text, sizeof(text), "[%zu bytes dropped]\n", result->dropped);
	if (result->end < sizeof(words) / sizeof(words[0]) && words[result->end] &&
	    !(result->end == SHELL_TIMEOUT && stage->stop))
		size += snprintf(text + size, sizeof(text) - (size_t)size, "[%s]\n",
				 words[result->end]);
	if (size > 0 && stage->output_size > 0 && stage->output[stage->output_size - 1] != '\n')
		output_keep(stage, "\n", 1);
	if (size > 0)
		output_keep(stage, text, (size_t)size);
}

static bool command_run(struct stage *stage, const char *text, size_t size,
			struct shell_result *result, struct failure *failure)
{
	const struct conversation_bounds *bounds = &stage->bounds;
	// Never 0, which would be no limit: stage_play has looked.
	const size_t left = bounds->total_output - stage->total;
	const struct shell_limits limits = {
		.time_ms = bounds->command_seconds * 1000,
		.output = left < bounds->command_output ? left : bounds->command_output,
	};

	record_command(stage->recorder, text, size);
	typed_print(stage, text, size);
	stage->output_size = 0;
	stage->plain = PLAIN_TEXT;
	stage->running = true;
	const bool good =
		shell_run(stage->shell, text, size, &limits, output_take, stage, result, failure);
	stage->running = false;
	if (!good)
		return false;
	record_end(stage->recorder, result);
	// An end is no part of what was printed: a replay compares that.
	if (!stage->transcript)
		end_tell(stage, result);
	output_keep(stage, "", 0);
	stage->output_size += clean_end(&stage->clean, stage->output + stage->output_size);
	return true;
}

static int finish(struct stage *stage, int exit_code, const char *reason, const char *detail)
{
	struct usage usage;

	session_usage(&usage, stage->session);
	record_usage(stage->recorder, &usage);
	record_finish(stage->recorder, reason, detail);
	if (exit_code != 0)
		notice("the conversation was ended: %s", detail);
	return exit_code;
}

static int finish_stopped(struct stage *stage)
{
	char text[80];

	if (stage->stop_signal == 0)
		return finish(stage, EXIT_TIMEOUT, "time", "its time was over (--timeout)");
	snprintf(text, sizeof(text), "by signal %d", stage->stop_signal);
	return finish(stage, EXIT_SIGNAL + stage->stop_signal, "interrupted", text);
}

// The shell is gone: whether the session is, too, its agent knows.
static int finish_gone(struct stage *stage, const struct shell_result *result)
{
	struct failure ignored;
	struct agent_reply reply;
	char text[80];
	autoclose int connection = agent_connect(stage->session, &ignored);

	if (connection < 0 || !agent_status(connection, &reply, &ignored))
		return finish(stage, EXIT_SESSION, "session", "the session has ended");
	snprintf(text, sizeof(text), "its shell ended with %d", result->status);
	return finish(stage, 0, "assistant", text);
}

int stage_play(struct stage *stage, struct failure *failure)
{
	const struct conversation_bounds *bounds = &stage->bounds;
	const struct player_operations *play = stage->player->operations;
	struct shell_result result;

	stage->dialogue = (struct dialogue){
		.shell = stage->shell,
		.person = stage->person,
		.recorder = stage->recorder,
		.total = &stage->total,
		.most = bounds->total_output,
		.epoll = stage->watch,
	};
	dialogue_start(&stage->dialogue);
	shell_watch(stage->shell, stage->watch, ready, stage);
	for (uint64_t turns = 0;; turns++) {
		autofree char *text = NULL;
		size_t size = 0;
		bool ended = false;

		if (turns == bounds->turns)
			return finish(stage, EXIT_TURNS, "turns",
				      "it has had all its turns (--turns)");
		if (stage->total >= bounds->total_output)
			return finish(stage, EXIT_OUTPUT, "output",
				      "all commands together have printed and told what they "
				      "may (--total-output)");
		const bool good = play->next(stage->player, &text, &size, &ended, failure);
		events_take(stage);
		if (stage->stop)
			return finish_stopped(stage);
		if (!good && ended)
			return finish(stage, 0, "assistant", "it has nothing more to do");
		if (!good || !command_run(stage, text, size, &result, failure))
			return -1;
		if (stage->stop)
			return finish_stopped(stage);
		if (!play->result(stage->player, stage->output, stage->output_size, &result,
				  failure))
			return -1;
		if (result.end == SHELL_GONE)
			return finish_gone(stage, &result);
		if (dialogue_over(&stage->dialogue))
			return finish(stage, 0, "person", "the person has gone");
	}
}
