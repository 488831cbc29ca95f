// Running what a text says (fill_run.h). Runs as the caller.
#include "fill_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/timerfd.h>

#include "clean.h"
#include "cleanup.h"
#include "conversation.h"
#include "quantity.h"

#define PYTHON LODGER_LIBEXEC "/fill-python"
// What a command that wants input gets instead: it is to end.
#define INTERRUPT "^C"
#define END_OF_INPUT "^D"
#define GIVE_UP_MS 2000U
// Packages may have to be fetched first.
#define PREPARE_MS 600000U
#define PREPARE_OUTPUT ((size_t)1 << 20)

void fill_runner_start(struct fill_runner *runner, uint32_t session,
		       const struct shell_options *options, const char *prepare,
		       const struct fill_bounds *bounds)
{
	*runner = (struct fill_runner){
		.session = session, .shell_options = *options, .prepare = prepare, .bounds = *bounds
	};
}

void fill_runner_end(struct fill_runner *runner)
{
	if (runner->shell)
		shell_close(runner->shell);
	free(runner->result);
	*runner = (struct fill_runner){ 0 };
}

// The result -------------------------------------------------------------------------------------

static bool result_add(struct fill_runner *runner, const char *text, size_t size)
{
	char *grown = realloc(runner->result, runner->size + size + 1);

	if (!grown)
		return false;
	runner->result = grown;
	memcpy(grown + runner->size, text, size);
	runner->size += size;
	return true;
}

static void newlines_cut(struct fill_runner *runner, size_t from)
{
	while (runner->size > from && runner->result[runner->size - 1] == '\n')
		runner->size--;
}

// Output on its way into the result.
struct collector {
	struct fill_runner *runner;
	struct clean clean;
	bool failed;
};

static void output_take(void *context, const char *data, size_t size)
{
	struct collector *collector = context;
	char *cleaned = malloc(CLEAN_GROWTH * (size + CLEAN_KEPT));

	// A result that lacks something is given to nobody.
	if (!cleaned || !result_add(collector->runner, cleaned,
				    clean_text(&collector->clean, cleaned, data, size)))
		collector->failed = true;
	free(cleaned);
}

// What the output does not say itself.
static void note_write(char *note, size_t room, const struct shell_limits *limits,
		       const struct shell_result *result)
{
	char time[QUANTITY_SIZE];

	switch (result->end) {
	case SHELL_DONE:
		if (result->status != 0)
			snprintf(note, room, "[exit status %d]", result->status);
		break;
	case SHELL_WAITING:
		snprintf(note, room, "[it wanted input, and was ended]");
		break;
	case SHELL_SCREEN:
		snprintf(note, room, "[it wanted the whole screen, and was ended]");
		break;
	case SHELL_TIMEOUT:
		snprintf(note, room, "[it ran for more than %s, and was ended]",
			 duration_format(time, (limits->time_ms + 999) / 1000));
		break;
	case SHELL_FLOOD:
		snprintf(note, room, "[it printed without end, and was ended]");
		break;
	case SHELL_GONE:
		snprintf(note, room, "[the shell has ended; the next one begins anew]");
		break;
	}
}

// Says it behind the output, on a line of its own where there is more than one.
static bool note_add(struct fill_runner *runner, const struct shell_limits *limits,
		     const struct shell_result *result, size_t from)
{
	char notes[2][120] = { "", "" };

	if (result->dropped > 0)
		snprintf(notes[0], sizeof(notes[0]), "[%zu more bytes were dropped]",
			 result->dropped);
	note_write(notes[1], sizeof(notes[1]), limits, result);
	newlines_cut(runner, from);
	const bool lines = memchr(runner->result + from, '\n', runner->size - from);
	for (size_t i = 0; i < 2; i++)
		if (notes[i][0] &&
		    ((runner->size > from && !result_add(runner, lines ? "\n" : " ", 1)) ||
		     !result_add(runner, notes[i], strlen(notes[i]))))
			return false;
	return true;
}

// The shell --------------------------------------------------------------------------------------

// How long the next command may run. False: no longer at all.
static bool time_left(const struct fill_runner *runner, uint64_t most, uint64_t *time_ms,
		      struct failure *failure)
{
	struct itimerspec left;

	*time_ms = most;
	if (runner->bounds.deadline < 0 || timerfd_gettime(runner->bounds.deadline, &left) < 0)
		return true;
	const uint64_t all =
		(uint64_t)left.it_value.tv_sec * 1000 + (uint64_t)left.it_value.tv_nsec / 1000000;
	if (all == 0)
		return fail_with(failure, EXIT_TIMEOUT, "the time of all commands is over");
	if (all < *time_ms)
		*time_ms = all;
	return true;
}

// What was said while a shell was prepared, for a message.
struct words {
	char text[600];
	size_t size;
};

static void words_take(void *context, const char *data, size_t size)
{
	struct words *words = context;
	const size_t room = sizeof(words->text) - words->size;
	const size_t taken = size < room ? size : room;

	memcpy(words->text + words->size, data, taken);
	words->size += taken;
}

// Has a shell, and it is prepared.
static bool ready(struct fill_runner *runner, struct failure *failure)
{
	struct shell_limits limits = { .output = PREPARE_OUTPUT };
	struct shell_result result = { .end = SHELL_DONE };
	struct words words = { .size = 0 };

	if (runner->shell)
		return true;
	runner->shell = shell_open(runner->session, &runner->shell_options, failure);
	if (!runner->shell)
		return false;
	if (!runner->prepare)
		return true;
	if (!time_left(runner, PREPARE_MS, &limits.time_ms, failure) ||
	    !shell_run(runner->shell, runner->prepare, strlen(runner->prepare), &limits, words_take,
		       &words, &result, failure))
		return false;
	if (result.end == SHELL_DONE && result.status == 0)
		return true;
	return fail(failure, "%.200s: %s: %.*s", runner->prepare, shell_end_names[result.end],
		    (int)words.size, words.text);
}

// Ends a command that waits for input. One that cannot be ended takes its shell with it.
static bool waiting_end(struct fill_runner *runner, struct failure *failure)
{
	static const char *const keys[] = { INTERRUPT, END_OF_INPUT, INTERRUPT };
	const struct shell_limits limits = { .time_ms = GIVE_UP_MS, .output = 1 };
	struct shell_result result = { .end = SHELL_WAITING };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && result.end == SHELL_WAITING; i++)
		if (!shell_run(runner->shell, keys[i], strlen(keys[i]), &limits, NULL, NULL,
			       &result, failure))
			return false;
	if (result.end == SHELL_WAITING || result.end == SHELL_GONE) {
		shell_close(runner->shell);
		runner->shell = NULL;
	}
	return true;
}

// Runs one text, and adds its output, and what is to be said of it, to the result.
static bool run(struct fill_runner *runner, const char *text, size_t size,
		struct shell_result *result, struct failure *failure)
{
	const struct fill_bounds *bounds = &runner->bounds;
	const size_t from = runner->size;
	struct collector collector = { .runner = runner };
	struct shell_limits limits = { .output = bounds->output };
	char rest[CLEAN_GROWTH * CLEAN_KEPT];

	if (runner->turns == bounds->turns)
		return fail_with(failure, EXIT_TURNS,
				 "%" PRIu64 " commands have run, and no more may; --turns allows "
				 "more",
				 bounds->turns);
	if (runner->total == bounds->total)
		return fail_with(failure, EXIT_OUTPUT,
				 "the commands have printed %zu bytes, and no more may; "
				 "--total-output allows more",
				 bounds->total);
	if (!ready(runner, failure) ||
	    !time_left(runner, bounds->command_ms, &limits.time_ms, failure))
		return false;
	if (bounds->total - runner->total < limits.output)
		limits.output = bounds->total - runner->total;
	runner->turns++;
	if (!shell_run(runner->shell, text, size, &limits, output_take, &collector, result,
		       failure))
		return false;
	runner->total += result->size;
	if (result->end == SHELL_GONE) {
		shell_close(runner->shell);
		runner->shell = NULL;
	} else if (result->end == SHELL_WAITING && !waiting_end(runner, failure)) {
		return false;
	}
	if (collector.failed || !result_add(runner, rest, clean_end(&collector.clean, rest)) ||
	    !note_add(runner, &limits, result, from))
		return fail(failure, "taking a command's output: out of memory");
	return true;
}

// Python code is the input of a program that has the interpreter that stays run it.
static bool run_python(struct fill_runner *runner, const char *code, size_t size,
		       struct shell_result *result, struct failure *failure)
{
	autofree char *text = NULL;
	uint64_t mark = 0;

	// The code cannot have the mark in it unless it was guessed.
	if (getrandom(&mark, sizeof(mark), 0) != sizeof(mark))
		return fail(failure, "running Python: no random number is to be had");
	const int length = asprintf(&text, PYTHON " <<'END-%016" PRIx64 "'\n%.*sEND-%016" PRIx64,
				    mark, (int)size, code, mark);
	if (length < 0) {
		text = NULL;
		return fail(failure, "running Python: out of memory");
	}
	return run(runner, text, (size_t)length, result, failure);
}

static bool run_piece(struct fill_runner *runner, const struct fill_parser *parser,
		      const struct fill_piece *piece, struct shell_result *result,
		      struct failure *failure)
{
	const char *code = parser->text + piece->offset;

	if (piece->language == FILL_PYTHON)
		return run_python(runner, code, piece->size, result, failure);
	// Without its last newline.
	return run(runner, code, piece->size - 1, result, failure);
}

static bool run_work(struct fill_runner *runner, const struct fill_parser *parser,
		     struct failure *failure)
{
	static const char open[] = "\n<output>\n", close[] = "</output>";
	const size_t begun = strlen(open);
	struct shell_result result = { .end = SHELL_DONE };
	bool good = result_add(runner, open, begun);

	if (parser->refused) {
		char note[100];

		snprintf(note, sizeof(note), "[not run: %s]", parser->refused);
		good = good && result_add(runner, note, strlen(note));
	}
	// As in a script that ends with its first error.
	for (size_t i = 0; good && !parser->refused && i < parser->piece_count &&
			   result.end == SHELL_DONE && result.status == 0;
	     i++) {
		const size_t before = runner->size;

		good = before == begun || result_add(runner, "\n", 1);
		const size_t from = runner->size;
		if (good && !run_piece(runner, parser, &parser->pieces[i], &result, failure))
			return false;
		// What prints nothing has no line.
		if (runner->size == from)
			runner->size = before;
	}
	good = good && (runner->size == begun || result_add(runner, "\n", 1)) &&
	       result_add(runner, close, strlen(close));
	return good || fail(failure, "running a work block: out of memory");
}

bool fill_run_event(struct fill_runner *runner, const struct fill_parser *parser,
		    enum fill_event event, struct failure *failure)
{
	struct shell_result result;

	runner->size = 0;
	if (event == FILL_WORK)
		return run_work(runner, parser, failure);
	return run(runner, parser->text, parser->size, &result, failure) &&
	       (result_add(runner, "}", 1) || fail(failure, "running a command: out of memory"));
}
