// A program as the assistant (player.h, --exec). Runs as the caller; the program is the caller's. Its
// lines are what is typed; it is sent the output's lines behind "| " ("+ " without a newline), and one
// that begins with "= " and says how the command ended. With JSON lines it is objects both ways.
#include <jansson.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "cleanup.h"
#include "player.h"

struct exec_player {
	struct player player; // first
	struct child child;
	bool json_lines;
	const volatile bool *stop;
	int deadline;
};

static void json_send(struct exec_player *exec, json_t *object)
{
	autofree char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;

	json_decref(object);
	if (!line)
		return;
	child_write(&exec->child, line, strlen(line));
	child_write(&exec->child, "\n", 1);
}

// Each line of `text` behind `mark`, which for one without an end is "+ ".
static void lines_send(struct exec_player *exec, const char *mark, const char *text, size_t size)
{
	struct text lines = { 0 };

	for (const char *at = text, *end; at < text + size; at = end) {
		const char *newline = memchr(at, '\n', (size_t)(text + size - at));

		end = newline ? newline + 1 : text + size;
		text_string(&lines, newline ? mark : "+ ");
		text_add(&lines, at, (size_t)(end - at));
		if (!newline)
			text_string(&lines, "\n");
	}
	child_write(&exec->child, text_get(&lines), lines.size);
	text_free(&lines);
}

static bool exec_result(struct player *player, const char *output, size_t size,
			const struct shell_result *result, struct failure *failure)
{
	struct exec_player *exec = (struct exec_player *)player;
	struct text end = { 0 };

	(void)failure;
	if (exec->json_lines) {
		json_send(exec, json_pack("{s:s%, s:s, s:i, s:I, s:f}", "output", output, size,
					  "end", shell_end_names[result->end], "status",
					  result->status, "dropped", (json_int_t)result->dropped,
					  "seconds", (double)result->nanoseconds / 1e9));
		return true;
	}
	lines_send(exec, "| ", output, size);
	text_printf(&end, "= %s %d %zu\n", shell_end_names[result->end], result->status,
		    result->dropped);
	child_write(&exec->child, text_get(&end), end.size);
	text_free(&end);
	return true;
}

// {"command": TEXT}
static bool command_read(const char *line, size_t size, char **text, size_t *text_size,
			 struct failure *failure)
{
	json_t *object = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
	const json_t *command = json_object_get(object, "command");
	const bool good =
		json_is_string(command) && (*text = strdup(json_string_value(command))) != NULL;

	if (good)
		*text_size = json_string_length(command);
	json_decref(object);
	return good || fail(failure, "--exec: the program wrote a line that is no "
				     "{\"command\": TEXT}");
}

static bool exec_line(struct exec_player *exec, const char *line, size_t size, char **text,
		      size_t *text_size, struct failure *failure)
{
	if (exec->json_lines)
		return command_read(line, size, text, text_size, failure);
	*text = strndup(line, size);
	*text_size = *text ? strlen(*text) : 0;
	return *text || fail(failure, "--exec: out of memory");
}

static bool exec_next(struct player *player, char **text, size_t *size, bool *ended,
		      struct failure *failure)
{
	struct exec_player *exec = (struct exec_player *)player;
	struct line_reader *from = &exec->child.from;
	const char *line;
	size_t length;

	for (*ended = false;;) {
		struct pollfd waits[] = { { from->fd, POLLIN, 0 },
					  { exec->deadline, POLLIN, 0 },
					  { exec->child.to, POLLOUT, 0 } };

		if (line_reader_next(from, &line, &length))
			return exec_line(exec, line, length, text, size, failure);
		if (from->over)
			return fail(failure, "--exec: the program wrote a line of more than a "
					     "mebibyte");
		if (from->end) {
			*ended = true;
			return false;
		}
		child_flush(&exec->child);
		if (exec->child.pending.size == 0)
			waits[2].fd = -1;
		(void)poll(waits, 3, -1);
		if (*exec->stop || waits[1].revents)
			return fail(failure, "stopped");
		if (waits[0].revents)
			line_reader_read(from);
	}
}

static void exec_close(struct player *player)
{
	child_end(&((struct exec_player *)player)->child);
	free(player);
}

struct player *player_exec(const struct player_start *start, struct failure *failure)
{
	static const struct player_operations operations = { exec_next, exec_result, exec_close };
	struct exec_player *exec = calloc(1, sizeof(*exec));

	if (!exec) {
		fail(failure, "--exec: out of memory");
		return NULL;
	}
	exec->player.operations = &operations;
	exec->json_lines = start->json_lines;
	exec->stop = start->stop;
	exec->deadline = start->deadline;
	if (!child_start(&exec->child, start->argument, failure)) {
		exec_close(&exec->player);
		return NULL;
	}
	if (exec->json_lines) {
		json_send(exec, json_pack("{s:s?}", "prompt", start->prompt));
	} else if (start->prompt) {
		lines_send(exec, "# ", start->prompt, strlen(start->prompt));
		child_write(&exec->child, "= ready 0 0\n", strlen("= ready 0 0\n"));
	}
	return &exec->player;
}
