// Recordings and transcripts (replay.h), and the assistant and the person that they make (player.h,
// person.h). Runs as the caller. Whoever wrote the file, it is typed in the session and nowhere else.
#include "replay.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clean.h"
#include "cleanup.h"
#include "export_source.h"
#include "person.h"
#include "plain.h"
#include "player.h"

#define TYPED "> "
#define TYPED_MORE ">> "

static bool begins(const char *line, size_t size, const char *with)
{
	return size >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

// What assistant_listen printed, the person said.
static void said_take(struct conversation *conversation)
{
	for (size_t i = 0; i < conversation->count; i++) {
		struct step *step = &conversation->steps[i];
		struct text said = { 0 };

		if (!text_is(&step->command, "assistant_listen") || step->output.size == 0)
			continue;
		text_add(&said, step->output.data,
			 step->output.size - (text_ends(&step->output, "\n") ? 1 : 0));
		conversation_step_talk(conversation, step, false, &said);
	}
}

bool replay_transcript(struct conversation *conversation, const char *text, size_t size)
{
	struct step *step = NULL;

	for (const char *at = text, *end; at < text + size; at = end) {
		const char *newline = memchr(at, '\n', (size_t)(text + size - at));
		end = newline ? newline + 1 : text + size;
		const size_t length = (size_t)((newline ? newline : end) - at);
		struct text command = { 0 };

		if (begins(at, length, TYPED)) {
			text_add(&command, at + strlen(TYPED), length - strlen(TYPED));
			step = conversation_step(conversation, &command);
		} else if (step && step->output.size == 0 && begins(at, length, TYPED_MORE)) {
			text_add(&step->command, "\n", 1);
			text_add(&step->command, at + strlen(TYPED_MORE),
				 length - strlen(TYPED_MORE));
		} else if (step) {
			text_add(&step->output, at, (size_t)(end - at));
		} else {
			return false;
		}
	}
	said_take(conversation);
	return conversation_whole(conversation) && conversation->count > 0;
}

static bool source_replay(struct replay *replay, const char *path, struct failure *failure)
{
	struct source source;
	bool good = source_open(&source, path, false, failure);

	if (good) {
		const int count = source_next(&source, &replay->conversation, failure);
		good = count > 0 || (count == 0 && fail(failure, "--replay: %s is empty", path));
	}
	source_close(&source);
	return good;
}

static bool text_replay(struct replay *replay, const char *path, struct failure *failure)
{
	struct text text = { 0 };
	bool good = source_text(path, &text, failure);

	if (good && !replay_transcript(&replay->conversation, text_get(&text), text.size))
		good = fail(
			failure,
			"--replay: %s is neither a recording nor a transcript, which would begin "
			"with \"> \" and a command",
			path);
	text_free(&text);
	return good;
}

static bool is_transcript(const char *path)
{
	struct stat status;
	FILE *file = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "re") : NULL;
	const int first = file ? fgetc(file) : EOF;

	if (file)
		(void)fclose(file);
	return first == '>';
}

struct replay *replay_open(const char *path, struct failure *failure)
{
	struct replay *replay = calloc(1, sizeof(*replay));

	if (!replay) {
		fail(failure, "--replay: out of memory");
		return NULL;
	}
	if (is_transcript(path) ? text_replay(replay, path, failure)
				: source_replay(replay, path, failure))
		return replay;
	replay_close(replay);
	return NULL;
}

void replay_close(struct replay *replay)
{
	if (!replay)
		return;
	conversation_free(&replay->conversation);
	free(replay);
}

struct replayer {
	struct player player; // first
	struct replay *replay;
};

static bool replayer_next(struct player *player, char **text, size_t *size, bool *ended,
			  struct failure *failure)
{
	struct replay *replay = ((struct replayer *)player)->replay;

	*ended = replay->next == replay->conversation.count;
	if (*ended)
		return false;
	const struct text *command = &replay->conversation.steps[replay->next].command;
	*text = malloc(command->size + 1);
	if (!*text)
		return fail(failure, "--replay: out of memory");
	memcpy(*text, text_get(command), command->size);
	*size = command->size;
	replay->next++;
	return true;
}

// Both in UTF-8, as the recording's output may not be.
static bool replayer_result(struct player *player, const char *output, size_t size,
			    const struct shell_result *result, struct failure *failure)
{
	struct replay *replay = ((struct replayer *)player)->replay;
	const struct step *step = &replay->conversation.steps[replay->next - 1];

	struct clean clean = { 0 };
	enum plain_state state = PLAIN_TEXT;
	autofree char *plain = malloc(step->output.size + 1);
	autofree char *then = malloc(CLEAN_GROWTH * (step->output.size + 2 * CLEAN_KEPT));

	if (!then || !plain)
		return fail(failure, "--replay: out of memory");
	const size_t plain_size =
		plain_text(&state, plain, text_get(&step->output), step->output.size);
	size_t then_size = clean_text(&clean, then, plain, plain_size);
	then_size += clean_end(&clean, then + then_size);
	if (size == then_size && memcmp(output, then, size) == 0 &&
	    step->dropped == result->dropped)
		return true;
	if (replay->differing++ == 0)
		replay->first = replay->next;
	return true;
}

static void replayer_close(struct player *player)
{
	free(player);
}

struct player *player_replay(const struct player_start *start, struct failure *failure)
{
	static const struct player_operations operations = { replayer_next, replayer_result,
							     replayer_close };
	struct replayer *made = calloc(1, sizeof(*made));

	if (!made) {
		fail(failure, "--replay: out of memory");
		return NULL;
	}
	made->player.operations = &operations;
	made->replay = start->replay;
	return &made->player;
}

struct said {
	struct person person; // first
	struct replay *replay;
};

static void said_tell(struct person *person, const char *text, size_t size)
{
	(void)person;
	(void)text;
	(void)size;
}

static void said_want(struct person *person)
{
	(void)person;
}

static enum person_state said_next(struct person *person, const char **line, size_t *size)
{
	struct replay *replay = ((struct said *)person)->replay;

	for (; replay->said_step < replay->conversation.count; replay->said_step++) {
		const struct step *step = &replay->conversation.steps[replay->said_step];

		while (replay->said_talk < step->talk_count) {
			const struct talk *talk = &step->talk[replay->said_talk++];

			if (talk->told)
				continue;
			*line = text_get(&talk->text);
			*size = talk->text.size;
			return PERSON_LINE;
		}
		replay->said_talk = 0;
	}
	return PERSON_ENDED;
}

static void said_close(struct person *person)
{
	free(person);
}

struct person *person_replay(struct replay *replay, struct failure *failure)
{
	static const struct person_operations operations = { said_tell, said_want, said_next,
							     said_close };
	struct said *made = calloc(1, sizeof(*made));

	if (!made) {
		fail(failure, "--replay: out of memory");
		return NULL;
	}
	made->person = (struct person){ &operations, -1 };
	made->replay = replay;
	return &made->person;
}
