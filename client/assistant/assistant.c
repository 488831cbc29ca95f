// lodger assistant (command.h): makes the session, the shell in it, and who plays whom, and has them play.
// Runs as the caller.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cleanup.h"
#include "conversation.h"
#include "helper_call.h"
#include "json_output.h"
#include "launch.h"
#include "line_reader.h"
#include "prompt.h"
#include "replay.h"
#include "session_list.h"

// What there is without an option.
#define TURNS 200U
#define SECONDS 3600U
#define COMMAND_SECONDS 60U
#define COMMAND_OUTPUT ((size_t)64 << 10)
#define TOTAL_OUTPUT ((size_t)4 << 20)
#define ROWS 24
#define COLUMNS 80

struct play {
	const struct options *options;
	struct stage stage;
	struct line_reader input;
	struct replay *replay;
	char *prompt;
	const char *kind; // of who plays the assistant
};

static bool kind_find(struct play *play, struct failure *failure)
{
	const struct options *options = play->options;
	const struct {
		bool given;
		const char *kind;
	} kinds[] = { { options->exec != NULL, "exec" },
		      { options->api != NULL, "api" },
		      { options->human, "human" },
		      { options->replay != NULL, "replay" } };
	int count = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		count += kinds[i].given ? 1 : 0;
		play->kind = kinds[i].given ? kinds[i].kind : play->kind;
	}
	if (count != 1)
		return fail(failure,
			    "assistant: say who plays it: one of --exec, --api, --human and "
			    "--replay");
	if (options->json_lines && !options->exec && !options->user_exec)
		return fail(failure, "assistant: --json-lines is for --exec and --user-exec");
	if (!options->api && (options->model || options->key_file || options->key_env))
		return fail(failure, "assistant: --model, --key-file and --key-env are for --api");
	return true;
}

static uint64_t given(uint64_t value, uint64_t otherwise)
{
	return value > 0 ? value : otherwise;
}

static void bounds_take(struct conversation_bounds *bounds, const struct options *options)
{
	bounds->turns = given(options->turns, TURNS);
	bounds->seconds = given(options->timeout, SECONDS);
	bounds->command_seconds = given(options->command_timeout, COMMAND_SECONDS);
	bounds->command_output = given(options->command_output, COMMAND_OUTPUT);
	bounds->total_output = given(options->total_output, TOTAL_OUTPUT);
}

static bool prompt_take(struct play *play, const uint64_t *limits, struct failure *failure)
{
	const struct conversation_bounds *bounds = &play->stage.bounds;
	const struct prompt_facts facts = {
		.file = play->options->prompt_file,
		.limits = limits,
		.network = play->options->network_host,
		.auto_off = play->options->auto_off,
		.turns = bounds->turns,
		.seconds = bounds->seconds,
		.command_seconds = bounds->command_seconds,
		.command_output = bounds->command_output,
		.total_output = bounds->total_output,
	};

	if (play->replay)
		return true;
	play->prompt = prompt_make(PROMPT_SHELL, &facts, failure);
	return play->prompt != NULL;
}

static bool player_make(struct play *play, bool terminal, struct failure *failure)
{
	const struct options *options = play->options;
	const struct player_start start = {
		.prompt = play->prompt,
		.argument = options->exec ? options->exec : options->api,
		.model = options->model,
		.key_file = options->key_file,
		.key_env = options->key_env,
		.max_tokens = options->max_tokens,
		.json_lines = options->json_lines,
		.terminal = terminal ? STDIN_FILENO : -1,
		.input = &play->input,
		.replay = play->replay,
		.stop = &play->stage.stop,
		.deadline = play->stage.events,
	};

	play->stage.player = options->exec    ? player_exec(&start, failure)
			     : options->api   ? player_api(&start, failure)
			     : options->human ? player_human(&start, failure)
					      : player_replay(&start, failure);
	return play->stage.player != NULL;
}

static bool person_make(struct play *play, bool terminal, struct failure *failure)
{
	const struct options *options = play->options;

	play->stage.person =
		options->user_exec ? person_exec(options->user_exec, options->json_lines, failure)
		: play->replay	   ? person_replay(play->replay, failure)
			       : person_terminal(&play->input, terminal, options->human, failure);
	return play->stage.person != NULL;
}

static bool recorder_make(struct play *play, const struct record *record, struct failure *failure)
{
	char name[SESSION_NAME_SIZE];
	json_t *limits = json_limits(record->limits);
	const struct record_start start = {
		.session = name,
		.assistant = play->kind,
		.model = play->options->model,
		.prompt = play->prompt,
		.limits = limits,
		.columns = COLUMNS,
		.rows = ROWS,
	};

	session_name(record->number, name);
	if (play->options->record)
		play->stage.recorder = recorder_open(play->options->record, &start, failure);
	json_decref(limits);
	return !play->options->record || play->stage.recorder;
}

static bool shell_make(struct play *play, struct failure *failure)
{
	struct launch_environment environment;
	struct shell_options options = { .rows = ROWS,
					 .columns = COLUMNS,
					 .directory = play->options->directory };

	if (launch_environment_make(&environment, play->options, false, failure)) {
		options.environment = environment.list;
		options.environment_count = environment.count;
		play->stage.shell = shell_open(play->stage.session, &options, failure);
	}
	launch_environment_free(&environment);
	return play->stage.shell != NULL;
}

// In the session that has been made for it.
static int play_in(struct play *play, struct failure *failure)
{
	struct stage *stage = &play->stage;
	const bool terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
	struct session session;
	struct failure second;
	int result = FAILED;

	if (!session_made(&session, stage->session, failure))
		return FAILED;
	// The player first: it takes the API's key out of the environment, which the person's program gets.
	if (prompt_take(play, session.record.limits, failure) && shell_make(play, failure) &&
	    recorder_make(play, &session.record, failure) && player_make(play, terminal, failure) &&
	    person_make(play, terminal, failure))
		result = stage_play(stage, failure);
	if (stage->player)
		stage->player->operations->close(stage->player);
	if (stage->person)
		stage->person->operations->close(stage->person);
	if (!recorder_close(stage->recorder, &second) && result != FAILED) {
		*failure = second;
		result = FAILED;
	}
	if (stage->shell)
		shell_close(stage->shell);
	return result;
}

static int differs(const struct play *play, int result)
{
	if (result != 0 || !play->replay || play->replay->differing == 0)
		return result;
	notice("--replay: %zu commands printed something else than in %s; the first is number %zu",
	       play->replay->differing, play->options->replay, play->replay->first);
	return EXIT_DIFFERS;
}

int assistant_run(const struct options *options, struct failure *failure)
{
	autofree struct play *play = calloc(1, sizeof(*play));
	struct created created;
	int result = FAILED;

	if (!play) {
		fail(failure, "assistant: out of memory");
		return FAILED;
	}
	play->options = options;
	play->input.fd = STDIN_FILENO;
	if (!kind_find(play, failure))
		return FAILED;
	bounds_take(&play->stage.bounds, options);
	play->stage.human = options->human;
	play->stage.show = options->human;
	play->stage.transcript = options->replay != NULL;
	play->stage.shown.ascii = isatty(STDOUT_FILENO) == 1 && !clean_terminal_utf8();
	if (options->replay && !(play->replay = replay_open(options->replay, failure)))
		return FAILED;
	if (stage_open(&play->stage, failure) &&
	    helper_create(options->limits, options->network_host, &created, failure)) {
		play->stage.session = created.number;
		result = differs(play, play_in(play, failure));
		launch_tied_destroy(&created, false);
	}
	stage_close(&play->stage);
	line_reader_free(&play->input);
	replay_close(play->replay);
	free(play->prompt);
	return result;
}
