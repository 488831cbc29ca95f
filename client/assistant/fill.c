// lodger fill (command.h): a text whose commands are run while it passes. Runs as the caller; what is run,
// is in a session of its own.
#include "fill.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>

#include "cleanup.h"
#include "launch.h"
#include "prompt.h"
#include "session_list.h"
#include "shellquote.h"

#define READ_SIZE 65536U
// What there is of each when nothing is asked for.
#define TURNS 1000U
#define COMMAND_SECONDS 60U
#define OUTPUT ((size_t)64 << 10)
#define TOTAL ((size_t)4 << 20)

bool fill_pass(struct fill *fill, const char *text, size_t size, struct failure *failure)
{
	autofree char *cleaned = NULL;

	if (fill->terminal) {
		cleaned = malloc(CLEAN_GROWTH * (size + CLEAN_KEPT));
		if (!cleaned)
			return fail(failure, "writing the text: out of memory");
		size = clean_text(&fill->clean, cleaned, text, size);
		text = cleaned;
	}
	if (fwrite(text, 1, size, stdout) != size || fflush(stdout) != 0)
		return fail(failure, "writing the text: %s", strerror(errno));
	return true;
}

bool fill_text(struct fill *fill, const char *text, size_t size, struct failure *failure)
{
	while (size > 0) {
		enum fill_event event;
		const size_t taken = fill_read(&fill->parser, text, size, &event);

		if (event != FILL_DROP && !fill_pass(fill, text, taken, failure))
			return false;
		if ((event == FILL_COMMAND || event == FILL_WORK) &&
		    (!fill_run_event(&fill->runner, &fill->parser, event, failure) ||
		     !fill_pass(fill, fill->runner.result, fill->runner.size, failure)))
			return false;
		text += taken;
		size -= taken;
	}
	return true;
}

bool fill_input(struct fill *fill, char *text, size_t size, size_t *got, struct failure *failure)
{
	struct pollfd polled[] = { { .fd = fill->input, .events = POLLIN },
				   { .fd = fill->deadline, .events = POLLIN } };
	ssize_t n;

	do {
		if (poll(polled, 2, -1) < 0 && errno != EINTR)
			return fail(failure, "waiting for the text: %s", strerror(errno));
		if (polled[1].revents)
			return fail_with(failure, EXIT_TIMEOUT,
					 "the time was over before the text");
		n = polled[0].revents ? read(fill->input, text, size) : -1;
	} while (n < 0 && (!polled[0].revents || errno == EINTR || errno == EAGAIN));
	if (n < 0)
		return fail(failure, "reading the text: %s", strerror(errno));
	*got = (size_t)n;
	return true;
}

static bool fill_stream(struct fill *fill, struct failure *failure)
{
	char text[READ_SIZE];
	size_t size;

	do {
		if (!fill_input(fill, text, sizeof(text), &size, failure) ||
		    !fill_text(fill, text, size, failure))
			return false;
	} while (size > 0);
	return true;
}

// At the end of the text: what was begun and is not complete was not run.
static bool fill_end(struct fill *fill, struct failure *failure)
{
	const char *open = fill_open(&fill->parser);
	char rest[CLEAN_GROWTH * CLEAN_KEPT];

	if (open)
		notice("the text ends in the middle of %s, which was not run", open);
	fwrite(rest, 1, clean_end(&fill->clean, rest), stdout);
	return fflush(stdout) == 0 || fail(failure, "writing the text: %s", strerror(errno));
}

static bool deadline_make(struct fill *fill, uint64_t seconds, struct failure *failure)
{
	const struct itimerspec end = { .it_value.tv_sec = (time_t)seconds };

	fill->deadline = -1;
	if (seconds == 0)
		return true;
	fill->deadline = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fill->deadline < 0 || timerfd_settime(fill->deadline, 0, &end, NULL) < 0)
		return fail(failure, "--timeout: making a timer: %s", strerror(errno));
	return true;
}

static bool input_open(struct fill *fill, const struct options *options, struct failure *failure)
{
	fill->input = STDIN_FILENO;
	if (options->argument_count == 0)
		return true;
	fill->input = open(options->arguments[0], O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return fill->input >= 0 ||
	       fail(failure, "fill: opening %s: %s", options->arguments[0], strerror(errno));
}

// "nix-shell -p PACKAGE…", to be freed, or NULL.
static char *packages_command(const struct options *options)
{
	static const char shell[] = "nix-shell -p ";
	char *text = NULL;
	char *words = options->package_count > 0 ? shellquote(options->packages) : NULL;

	if (words && asprintf(&text, "%s%s", shell, words) < 0)
		text = NULL;
	free(words);
	return text;
}

// What the model is told first, or NULL.
static char *prompt_of(const struct fill_runner *runner, const struct options *options,
		       struct failure *failure)
{
	struct session session;

	if (!session_made(&session, runner->session, failure))
		return NULL;
	const struct prompt_facts facts = {
		.file = options->prompt_file,
		.limits = session.record.limits,
		.network = options->network_host,
		.auto_off = options->auto_off,
		.seconds = options->timeout,
		.turns = runner->bounds.turns,
		.command_seconds = runner->bounds.command_ms / 1000,
		.command_output = runner->bounds.output,
		.total_output = runner->bounds.total,
	};

	return prompt_make(PROMPT_FILL, &facts, failure);
}

// The text, in the session that has been made for it.
static bool fill_in(struct fill *fill, const struct options *options, struct failure *failure)
{
	autofree char *prompt = NULL;

	if (!options->api)
		return fill_stream(fill, failure);
	prompt = prompt_of(&fill->runner, options, failure);
	return prompt && fill_api(fill, options, prompt, failure);
}

static bool fill_session(struct fill *fill, const struct options *options,
			 const struct launch_environment *environment, struct failure *failure)
{
	const struct shell_options shell_options = { .environment = environment->list,
						     .environment_count = environment->count,
						     .directory = options->directory };
	const struct fill_bounds bounds = {
		.turns = options->turns > 0 ? options->turns : TURNS,
		.command_ms = 1000 * (options->command_timeout > 0 ? options->command_timeout
								   : COMMAND_SECONDS),
		.output = options->command_output > 0 ? options->command_output : OUTPUT,
		.total = options->total_output > 0 ? options->total_output : TOTAL,
		.deadline = fill->deadline,
	};
	autofree char *prepare = packages_command(options);
	struct created created;
	bool good;

	if (options->package_count > 0 && !prepare)
		return fail(failure, "fill: out of memory");
	if (!helper_create(options->limits, options->network_host, &created, failure))
		return false;
	fill_start(&fill->parser);
	fill_runner_start(&fill->runner, created.number, &shell_options, prepare, &bounds);
	good = fill_in(fill, options, failure) && fill_end(fill, failure);
	fill_runner_end(&fill->runner);
	launch_tied_destroy(&created, false);
	return good;
}

int fill_run(const struct options *options, struct failure *failure)
{
	autofree struct fill *fill = calloc(1, sizeof(*fill));
	struct launch_environment environment;
	bool good = false;

	if (!fill) {
		fail(failure, "fill: out of memory");
		return FAILED;
	}
	fill->terminal = isatty(STDOUT_FILENO) == 1;
	fill->clean.ascii = !clean_terminal_utf8();
	if (!fill_api_check(options, failure) || !input_open(fill, options, failure) ||
	    !deadline_make(fill, options->timeout, failure))
		return FAILED;
	if (launch_environment_make(&environment, options, false, failure))
		good = fill_session(fill, options, &environment, failure);
	launch_environment_free(&environment);
	return good ? 0 : FAILED;
}
