// A person at the caller's terminal as the assistant (player.h, --human). Runs as the caller. What the
// session prints is shown as it comes, made harmless (assistant.c); here is the prompt, and the reading.
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "line_reader.h"
#include "player.h"

struct human {
	struct player player; // first
	struct line_reader *input;
	bool prompts, waiting;
	const volatile bool *stop;
	int deadline;
};

static bool human_next(struct player *player, char **text, size_t *size, bool *ended,
		       struct failure *failure)
{
	struct human *human = (struct human *)player;
	struct line_reader *input = human->input;
	const char *line;
	size_t length;

	*ended = false;
	if (human->prompts && !human->waiting)
		printf("> ");
	(void)fflush(stdout);
	for (;;) {
		struct pollfd waits[] = { { input->fd, POLLIN, 0 },
					  { human->deadline, POLLIN, 0 } };

		if (line_reader_next(input, &line, &length)) {
			*text = strndup(line, length);
			*size = *text ? strlen(*text) : 0;
			return *text || fail(failure, "--human: out of memory");
		}
		if (input->over)
			return fail(failure, "--human: a line of more than a mebibyte");
		if (input->end) {
			*ended = true;
			return false;
		}
		(void)poll(waits, 2, -1);
		if (*human->stop || waits[1].revents)
			return fail(failure, "stopped");
		line_reader_read(input);
	}
}

static bool human_result(struct player *player, const char *output, size_t size,
			 const struct shell_result *result, struct failure *failure)
{
	struct human *human = (struct human *)player;

	(void)failure;
	human->waiting = result->end == SHELL_WAITING;
	if (size > 0 && output[size - 1] != '\n' && !human->waiting)
		printf("\n");
	return true;
}

static void human_close(struct player *player)
{
	free(player);
}

struct player *player_human(const struct player_start *start, struct failure *failure)
{
	static const struct player_operations operations = { human_next, human_result,
							     human_close };
	struct human *human = calloc(1, sizeof(*human));

	if (!human) {
		fail(failure, "--human: out of memory");
		return NULL;
	}
	human->player.operations = &operations;
	human->input = start->input;
	human->prompts = start->terminal >= 0;
	human->stop = start->stop;
	human->deadline = start->deadline;
	return &human->player;
}
