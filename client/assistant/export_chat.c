// Conversations into chat JSONL (export_chat.h). Pure; runs as the caller.
#include "export_chat.h"

#include <stdlib.h>
#include <string.h>

#include "export_identity.h"

// A chat that is being made.
struct chat {
	json_t *messages, *calls, *binary;
	struct text said; // what was told since the last message
	bool saying;
	struct identity identity; // of all that is in it
	struct marks *marks;
	bool lost;
};

static void put(struct chat *chat, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) < 0)
		chat->lost = true;
}

static void append(struct chat *chat, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) < 0)
		chat->lost = true;
}

static json_t *string(const struct text *text)
{
	return text->lost ? NULL : json_stringn(text_get(text), text->size);
}

// Keeps the bytes of what the message that comes next shows otherwise.
static void keep_bytes(struct chat *chat, const char *of, const struct text *bytes)
{
	struct text base64 = { 0 };
	json_t *entry = json_object();

	text_base64(&base64, bytes);
	put(chat, entry, "message", json_integer((json_int_t)json_array_size(chat->messages)));
	put(chat, entry, "of", json_string(of));
	put(chat, entry, "base64", string(&base64));
	append(chat, chat->binary, entry);
	text_free(&base64);
}

// A string with what `from` says, its bytes kept when it does not say all.
static json_t *content(struct chat *chat, const char *of, const struct text *from)
{
	struct text text = { 0 };
	json_t *value;

	if (!marks_text(chat->marks, &text, from))
		keep_bytes(chat, of, from);
	value = string(&text);
	text_free(&text);
	return value;
}

static json_t *message_add(struct chat *chat, const char *role, json_t *content)
{
	json_t *message = json_object();

	identity_add(&chat->identity, role, strlen(role));
	identity_add(&chat->identity, json_string_value(content), json_string_length(content));
	put(chat, message, "role", json_string(role));
	put(chat, message, "content", content);
	append(chat, chat->messages, message);
	return message; // the array's
}

// The message of what was told; NULL content when that was nothing, for a message with a call.
static json_t *assistant_message(struct chat *chat, bool call)
{
	const bool empty = call && chat->said.size == 0;
	json_t *text = empty ? json_null() : content(chat, "content", &chat->said);

	text_free(&chat->said);
	chat->saying = false;
	return message_add(chat, "assistant", text);
}

static void flush(struct chat *chat)
{
	if (chat->saying)
		assistant_message(chat, false);
}

static json_t *talk_make(struct chat *chat, const struct step *step)
{
	json_t *array = json_array();

	for (size_t i = 0; i < step->talk_count; i++) {
		const struct talk *talk = &step->talk[i];
		struct text text = { 0 };
		json_t *entry = json_object();

		put(chat, entry, "role", json_string(talk->told ? "assistant" : "user"));
		if (marks_text(chat->marks, &text, &talk->text)) {
			put(chat, entry, "text", string(&text));
		} else {
			text_free(&text);
			text_base64(&text, &talk->text);
			put(chat, entry, "base64", string(&text));
		}
		append(chat, array, entry);
		text_free(&text);
		chat->marks->aside++;
	}
	return array;
}

// What no message has: how the command ended, and what was said meanwhile.
static void call_describe(struct chat *chat, const char *id, const struct step *step)
{
	json_t *call = json_object();

	put(chat, call, "id", json_string(id));
	put(chat, call, "end", json_string(step_ends[step->end]));
	put(chat, call, "status", json_integer(step->status));
	if (step->dropped > 0)
		put(chat, call, "dropped", json_integer((json_int_t)step->dropped));
	if (step->talk_count > 0)
		put(chat, call, "talk", talk_make(chat, step));
	append(chat, chat->calls, call);
}

// The arguments of a call are JSON in a string.
static json_t *arguments_make(struct chat *chat, const struct text *command)
{
	json_t *object = json_object(), *value;
	char *text;

	put(chat, object, CHAT_ARGUMENT, content(chat, "command", command));
	text = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
	value = text ? json_string(text) : NULL;
	free(text);
	json_decref(object);
	return value;
}

static void add_call(struct chat *chat, const struct step *step)
{
	json_t *call = json_object(), *function = json_object(), *calls = json_array(), *message;
	struct text output = { 0 };
	char id[CALL_ID_SIZE];

	// Before the message is there: its number is what keep_bytes() says.
	put(chat, function, "name", json_string(CHAT_FUNCTION));
	put(chat, function, "arguments", arguments_make(chat, &step->command));
	message = assistant_message(chat, true);
	identity_add_text(&chat->identity, &step->command);
	identity_call(&chat->identity, id);
	put(chat, call, "id", json_string(id));
	put(chat, call, "type", json_string("function"));
	put(chat, call, "function", function);
	append(chat, calls, call);
	put(chat, message, "tool_calls", calls);

	if (!marks_output(chat->marks, &output, step))
		keep_bytes(chat, "content", &step->output);
	message = message_add(chat, "tool", string(&output));
	put(chat, message, "tool_call_id", json_string(id));
	text_free(&output);
	call_describe(chat, id, step);
}

static void add_step(struct chat *chat, const struct step *step)
{
	if (step_tells(step)) {
		text_copy(&chat->said, &step->talk[0].text);
		chat->saying = true;
	} else if (step_listens(step)) {
		flush(chat);
		message_add(chat, "user", content(chat, "content", &step->talk[0].text));
	} else {
		add_call(chat, step);
	}
}

static json_t *tools_make(void)
{
	return json_pack(
		"[{s:s,s:{s:s,s:s,s:{s:s,s:{s:{s:s,s:s}},s:[s]}}}]", "type", "function", "function",
		"name", CHAT_FUNCTION, "description",
		"Types a command into a shell that stays open, and returns what it prints.",
		"parameters", "type", "object", "properties", CHAT_ARGUMENT, "type", "string",
		"description", "one or more lines of bash", "required", CHAT_ARGUMENT);
}

static void put_known(struct chat *chat, json_t *object, const char *key, const struct text *text)
{
	if (text->size > 0)
		put(chat, object, key, content(chat, key, text));
}

static json_t *metadata_make(struct chat *chat, const struct conversation *conversation)
{
	json_t *metadata = json_object();

	put(chat, metadata, "lodger",
	    conversation->lodger.size > 0 ? content(chat, "lodger", &conversation->lodger)
					  : json_string(LODGER_VERSION));
	put_known(chat, metadata, "assistant", &conversation->assistant);
	put_known(chat, metadata, "model", &conversation->model);
	put(chat, metadata, "finish",
	    conversation->finished ? content(chat, "finish", &conversation->reason) : json_null());
	put_known(chat, metadata, "detail", &conversation->detail);
	put(chat, metadata, "calls", json_incref(chat->calls));
	if (json_array_size(chat->binary) > 0)
		put(chat, metadata, "binary", json_incref(chat->binary));
	return metadata;
}

json_t *chat_make(const struct conversation *conversation, const struct text *system,
		  struct marks *marks)
{
	struct chat chat = { .messages = json_array(),
			     .calls = json_array(),
			     .binary = json_array(),
			     .marks = marks };
	json_t *object = json_object();
	char id[UUID_SIZE];

	identity_begin(&chat.identity, "chat");
	if (!system && conversation->prompted)
		system = &conversation->prompt;
	if (system)
		message_add(&chat, "system", content(&chat, "content", system));
	for (size_t i = 0; i < conversation->count; i++)
		add_step(&chat, &conversation->steps[i]);
	flush(&chat);
	identity_uuid(&chat.identity, id);
	put(&chat, object, "id", json_string(id));
	put(&chat, object, "messages", json_incref(chat.messages));
	put(&chat, object, "tools", tools_make());
	put(&chat, object, "metadata", metadata_make(&chat, conversation));
	json_decref(chat.messages);
	json_decref(chat.calls);
	json_decref(chat.binary);
	if (!chat.lost)
		return object;
	json_decref(object);
	return NULL;
}
