// lodger fill --api: a model writes the text, is stopped where something is to be run, is given the
// result, and goes on (fill.h). Runs as the caller.
#include <stdio.h>
#include <string.h>

#include "chat.h"
#include "cleanup.h"
#include "fill.h"

enum style {
	STYLE_CHAT,	   // the result is the next message to the model
	STYLE_PREFILL,	   // its own message is begun again, with the result in it
	STYLE_COMPLETIONS, // all of it is one text
	STYLE_COUNT,
};

static const char *const style_names[STYLE_COUNT] = { "chat", "prefill", "completions" };

// Between what it is told first and the text that it is to go on with.
#define BREAK "\n\n"
static const char go_on[] = "This is there already; go on with the text right behind it:\n";

struct writing {
	struct fill *fill;
	struct failure *failure;
	enum style style;
	json_t *messages;
	struct {
		char *data;
		size_t size, begun; // `begun`: where the model's last answer begins
	} text;
	size_t told; // bytes in all
	enum fill_event event;
	bool failed;
};

static enum style style_find(const char *name)
{
	enum style style = STYLE_CHAT;

	while (name && style < STYLE_COUNT && strcmp(name, style_names[style]) != 0)
		style++;
	return style;
}

bool fill_api_check(const struct options *options, struct failure *failure)
{
	if (!options->api && (options->model || options->key_file || options->key_env ||
			      options->prompt_file || options->style || options->max_tokens > 0))
		return fail(failure, "fill: --model, --key-file, --key-env, --max-tokens, "
				     "--prompt-file and --style are for a model behind --api");
	if (style_find(options->style) == STYLE_COUNT)
		return fail(failure, "--style: '%s' is none of chat, prefill and completions",
			    options->style);
	return true;
}

static bool fail_memory(struct writing *writing)
{
	return fail(writing->failure, "talking to the model: out of memory");
}

static bool text_add(struct writing *writing, const char *data, size_t size)
{
	if (size > FILL_TOLD_MOST - writing->told)
		return fail(writing->failure,
			    "the text is longer than %zu bytes, which is too much "
			    "for any model",
			    FILL_TOLD_MOST);
	char *grown = realloc(writing->text.data, writing->text.size + size + 1);
	if (!grown)
		return fail_memory(writing);
	memcpy(grown + writing->text.size, data, size);
	writing->text.data = grown;
	writing->text.size += size;
	grown[writing->text.size] = '\0';
	writing->told += size;
	return true;
}

static bool message_add(struct writing *writing, const char *role, const char *text, size_t size)
{
	json_t *content = json_stringn(text, size);

	if (!content)
		return fail(writing->failure, "the text for the model is not UTF-8");
	return json_array_append_new(writing->messages, json_pack("{s:s, s:o}", "role", role,
								  "content", content)) == 0 ||
	       fail_memory(writing);
}

// Passes text on up to the first thing that is to be run: writing->event.
static bool pass_on(struct writing *writing, const char *data, size_t size, size_t *taken)
{
	*taken = fill_read(&writing->fill->parser, data, size, &writing->event);
	if (writing->event == FILL_DROP) {
		writing->event = FILL_TEXT;
		return true;
	}
	return fill_pass(writing->fill, data, *taken, writing->failure) &&
	       text_add(writing, data, *taken);
}

// A piece of the model's text. What it wrote behind something that is to be run it only guessed.
static bool piece_take(void *context, const char *data, size_t size)
{
	struct writing *writing = context;
	size_t taken;

	while (size > 0 && writing->event == FILL_TEXT) {
		if (!pass_on(writing, data, size, &taken)) {
			writing->failed = true;
			return false;
		}
		data += taken;
		size -= taken;
	}
	return writing->event == FILL_TEXT;
}

static json_t *request_make(struct writing *writing)
{
	json_t *request;

	if (writing->style == STYLE_COMPLETIONS)
		return json_pack("{s:s%}", "prompt", writing->text.data, writing->text.size);
	request = json_pack("{s:O}", "messages", writing->messages);
	if (request && writing->style == STYLE_PREFILL && writing->text.size > 0) {
		json_t *messages = json_copy(writing->messages);

		json_array_append_new(messages,
				      json_pack("{s:s, s:s%}", "role", "assistant", "content",
						writing->text.data, writing->text.size));
		json_object_set_new(request, "messages", messages);
		// vLLM's words for it; others see a last message of the model's, or do not look.
		json_object_set_new(request, "add_generation_prompt", json_false());
		json_object_set_new(request, "continue_final_message", json_true());
	}
	return request;
}

// Runs what the model was stopped for, and tells it.
static bool result_give(struct writing *writing)
{
	struct fill_runner *runner = &writing->fill->runner;
	const size_t begun = writing->text.begun;
	autofree char *told = NULL;

	if (!fill_run_event(runner, &writing->fill->parser, writing->event, writing->failure) ||
	    !fill_pass(writing->fill, runner->result, runner->size, writing->failure))
		return false;
	if (writing->style != STYLE_CHAT)
		return text_add(writing, runner->result, runner->size);

	const int length = asprintf(&told, "%s%.*s", go_on, (int)runner->size, runner->result);
	if (length < 0) {
		told = NULL;
		return fail_memory(writing);
	}
	writing->told += (size_t)length;
	return (writing->told <= FILL_TOLD_MOST || text_add(writing, "", 1)) &&
	       message_add(writing, "assistant", writing->text.data + begun,
			   writing->text.size - begun) &&
	       message_add(writing, "user", told, (size_t)length);
}

// A text that the model only goes on with: what is to be run in it is run.
static bool beginning_take(struct writing *writing, const char *data, size_t size)
{
	size_t taken;

	for (; size > 0; data += taken, size -= taken)
		if (!pass_on(writing, data, size, &taken) ||
		    (writing->event != FILL_TEXT && !result_give(writing)))
			return false;
	return true;
}

// Takes the whole input: what the model is to do, or the text that it is to go on with.
static bool task_take(struct writing *writing, const char *prompt)
{
	const bool whole = writing->style == STYLE_COMPLETIONS;
	char piece[4096];
	size_t size;

	if (!text_add(writing, prompt, whole ? strlen(prompt) : 0) ||
	    (whole && *prompt && !text_add(writing, BREAK, strlen(BREAK))))
		return false;
	do {
		if (!fill_input(writing->fill, piece, sizeof(piece), &size, writing->failure) ||
		    !(whole ? beginning_take(writing, piece, size)
			    : text_add(writing, piece, size)))
			return false;
	} while (size > 0);
	if (whole)
		return true;
	if (*prompt && !message_add(writing, "system", prompt, strlen(prompt)))
		return false;
	if (!message_add(writing, "user", writing->text.data, writing->text.size))
		return false;
	// From here on it is the model's own text.
	writing->text.size = 0;
	return true;
}

static bool write_on(struct writing *writing, struct chat *chat)
{
	enum chat_finish finish = CHAT_NONE;
	const char *reason = "";

	do {
		json_t *request = request_make(writing);

		if (!request)
			return fail(writing->failure, "the text for the model is not UTF-8");
		writing->event = FILL_TEXT;
		writing->text.begun = writing->text.size;
		const bool answered = chat_ask(chat, request, piece_take, writing, &finish, &reason,
					       writing->failure);
		json_decref(request);
		if (!answered || writing->failed)
			return false;
		if (writing->event != FILL_TEXT && !result_give(writing))
			return false;
	} while (writing->event != FILL_TEXT);
	if (finish == CHAT_LENGTH)
		notice("the model's answer ended at its limit of tokens; --max-tokens gives it more");
	else if (finish == CHAT_OTHER)
		notice("the model ended its answer with \"%s\"", reason);
	return true;
}

bool fill_api(struct fill *fill, const struct options *options, const char *prompt,
	      struct failure *failure)
{
	const struct chat_options chat_options = {
		.url = options->api,
		.model = options->model,
		.key_file = options->key_file,
		.key_env = options->key_env,
		.max_tokens = options->max_tokens,
		.deadline = fill->deadline,
	};
	struct writing writing = { .fill = fill,
				   .failure = failure,
				   .style = style_find(options->style),
				   .messages = json_array() };
	struct chat *chat = chat_open(&chat_options, failure);
	bool good = false;

	if (chat && !writing.messages)
		fail_memory(&writing);
	else if (chat)
		good = task_take(&writing, prompt) && write_on(&writing, chat);
	chat_close(chat);
	json_decref(writing.messages);
	free(writing.text.data);
	return good;
}
