// A model behind an API as the assistant (player.h): what it answers is typed, and what the shell prints
// is the next thing that it is told. Runs as the caller. What the model says is taken for hostile; it
// gets nowhere but into the session.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chat.h"
#include "cleanup.h"
#include "player.h"

// The longest answer that is taken for commands.
#define REPLY_MOST 65536U
// How much of the conversation is sent. What is older is left out.
#define TOLD_MOST ((size_t)1 << 20)
#define BLANKS " \t\r\n"

struct api_player {
	struct player player; // first
	struct chat *chat;
	json_t *messages;
	size_t told;  // bytes of text in `messages`
	size_t fixed; // how many messages at the beginning stay
	char reply[REPLY_MOST + 1];
	size_t size;
};

static bool message_add(struct api_player *api, const char *role, const char *text, size_t size)
{
	json_t *content = json_stringn(text, size);

	if (!content)
		return false;
	api->told += size;
	if (json_array_append_new(api->messages,
				  json_pack("{s:s, s:o}", "role", role, "content", content)) < 0)
		return false;
	// The oldest answer, and what came of it.
	while (api->told > TOLD_MOST && json_array_size(api->messages) > api->fixed + 3) {
		for (int i = 0; i < 2; i++) {
			const json_t *oldest = json_array_get(api->messages, api->fixed);

			api->told -= json_string_length(json_object_get(oldest, "content"));
			json_array_remove(api->messages, api->fixed);
		}
	}
	return true;
}

static bool reply_take(void *context, const char *text, size_t size)
{
	struct api_player *api = context;

	if (size > REPLY_MOST - api->size)
		return false;
	memcpy(api->reply + api->size, text, size);
	api->size += size;
	api->reply[api->size] = '\0';
	// One that writes a whole transcript is taken at its first line: the rest it only dreams.
	return api->reply[0] != '>' || !strchr(api->reply, '\n');
}

static const char *blanks_skip(const char *text)
{
	return text + strspn(text, BLANKS);
}

// Cuts `text` at its last byte that is no blank.
static void blanks_cut(char *text)
{
	size_t size = strlen(text);

	while (size > 0 && strchr(BLANKS, text[size - 1]))
		size--;
	text[size] = '\0';
}

// The code in the first fence of `text`, to be freed; NULL: there is no fence.
static char *fence_code(const char *text)
{
	static const char marks[] = "```";
	const char *fence = strncmp(text, marks, strlen(marks)) == 0 ? text : strstr(text, "\n```");

	if (!fence)
		return NULL;
	fence = strchr(fence + 1, '\n');
	if (!fence)
		return NULL;
	// With the newline before it, an empty fence is found too.
	const char *end = strstr(fence, "\n```");
	return strndup(fence + 1,
		       end ? (size_t)(end > fence ? end - fence - 1 : 0) : strlen(fence + 1));
}

// What is to be typed for an answer, to be freed: without what a model thought aloud first, and
// without the Markdown or the prompt sign that it was told to leave out.
static char *reply_command(const char *reply)
{
	static const char think[] = "<think>", thought[] = "</think>";
	const char *text = blanks_skip(reply), *end;
	char *command;

	if (strncmp(text, think, strlen(think)) == 0 && (end = strstr(text, thought)) != NULL)
		text = blanks_skip(end + strlen(thought));
	command = fence_code(text);
	if (!command) {
		if (strncmp(text, "> ", 2) == 0 || strncmp(text, "$ ", 2) == 0)
			text = blanks_skip(text + 2);
		command = strdup(text);
	}
	if (command)
		blanks_cut(command);
	return command;
}

static bool fail_memory(struct failure *failure)
{
	return fail(failure, "talking to the model: out of memory");
}

static bool api_next(struct player *player, char **text, size_t *size, bool *ended,
		     struct failure *failure)
{
	struct api_player *api = (struct api_player *)player;
	enum chat_finish finish = CHAT_NONE;
	const char *reason = "";
	json_t *request = json_pack("{s:O}", "messages", api->messages);

	*ended = false;
	api->size = 0;
	api->reply[0] = '\0';
	if (!request)
		return fail_memory(failure);
	const bool answered =
		chat_ask(api->chat, request, reply_take, api, &finish, &reason, failure);
	json_decref(request);
	if (!answered)
		return false;
	if (finish == CHAT_ENOUGH && api->reply[0] != '>')
		return fail(failure,
			    "the model's answer is longer than %u bytes, which is no command",
			    REPLY_MOST);
	if (finish == CHAT_LENGTH)
		return fail(failure, "the model's answer was cut off at its limit of tokens; "
				     "--max-tokens gives it more");
	if (finish == CHAT_OTHER && api->size == 0)
		return fail(failure, "the model ended its answer with \"%s\" and no text", reason);

	*text = reply_command(api->reply);
	if (!*text || !message_add(api, "assistant", api->reply, api->size))
		return fail_memory(failure);
	*size = strlen(*text);
	*ended = *size == 0;
	if (*ended) {
		free(*text);
		*text = NULL;
	}
	return !*ended;
}

static bool api_result(struct player *player, const char *output, size_t size,
		       const struct shell_result *result, struct failure *failure)
{
	struct api_player *api = (struct api_player *)player;
	autofree char *text = NULL;
	char note[100] = "";

	if (result->end == SHELL_WAITING)
		snprintf(note, sizeof(note), "[it waits for input]");
	else if (result->end != SHELL_DONE)
		snprintf(note, sizeof(note), "[ended: %s]", shell_end_names[result->end]);
	else if (result->status != 0)
		snprintf(note, sizeof(note), "[exit status %d]", result->status);
	else if (size == 0)
		snprintf(note, sizeof(note), "[no output]");
	const size_t noted = strlen(note);
	const bool line = size > 0 && noted > 0 && output[size - 1] != '\n';

	text = malloc(size + noted + 1);
	if (!text)
		return fail_memory(failure);
	memcpy(text, output, size);
	if (line)
		text[size] = '\n';
	memcpy(text + size + line, note, noted);
	return message_add(api, "user", text, size + line + noted) || fail_memory(failure);
}

static void api_close(struct player *player)
{
	struct api_player *api = (struct api_player *)player;

	chat_close(api->chat);
	json_decref(api->messages);
	free(api);
}

struct player *player_api(const struct player_start *start, struct failure *failure)
{
	static const struct player_operations operations = { api_next, api_result, api_close };
	static const char ready[] = "The shell is ready.";
	const struct chat_options options = {
		.url = start->argument,
		.model = start->model,
		.key_file = start->key_file,
		.key_env = start->key_env,
		.max_tokens = start->max_tokens,
		.stop = start->stop,
		.deadline = start->deadline,
	};
	struct api_player *api = calloc(1, sizeof(*api));

	if (!api) {
		fail_memory(failure);
		return NULL;
	}
	api->player.operations = &operations;
	api->chat = chat_open(&options, failure);
	if (!api->chat) {
		free(api);
		return NULL;
	}
	api->messages = json_array();
	if (!api->messages ||
	    (start->prompt && !message_add(api, "system", start->prompt, strlen(start->prompt))) ||
	    !message_add(api, "user", ready, strlen(ready))) {
		api_close(&api->player);
		fail_memory(failure);
		return NULL;
	}
	api->fixed = json_array_size(api->messages);
	return &api->player;
}
