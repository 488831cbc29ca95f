// Chat JSONL into conversations (export_chat.h): of lodger export itself, or of others, as far as it
// is text and calls of the one function. Runs as the caller; trusts nothing that it reads.
#include "export_chat.h"

#include <string.h>

#include "export_events.h"

// A line that is being read.
struct chat_reader {
	const struct lines *lines;
	struct conversation *conversation;
	struct failure *failure;
	json_t *known;	 // id → what the metadata says of the call
	json_t *bytes;	 // "MESSAGE content", "MESSAGE command" → base64
	json_t *pending; // id → number of the step that waits for its result
	size_t message;	 // its number
};

#define REFUSE(reader, ...) lines_fail((reader)->lines, (reader)->failure, __VA_ARGS__)
#define KEY_SIZE 48

static const char *get(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

// Adds the text of a content: a string, parts of type text, or null.
static bool take_content(const struct chat_reader *reader, const json_t *content, struct text *text)
{
	const json_t *part;
	size_t i;

	if (!content || json_is_null(content))
		return true;
	if (json_is_string(content)) {
		text_add(text, json_string_value(content), json_string_length(content));
		return true;
	}
	if (!json_is_array(content))
		return REFUSE(reader, "message %zu: the content is no text", reader->message);
	json_array_foreach(content, i, part)
	{
		const char *type = get(part, "type");

		if (!type || strcmp(type, "text") != 0 || !get(part, "text"))
			return REFUSE(reader, "message %zu: part %zu of the content is no text",
				      reader->message, i);
		take_content(reader, json_object_get(part, "text"), text);
	}
	return true;
}

// Replaces `text` by the bytes that the metadata keeps of it, if it does.
static bool take_bytes(const struct chat_reader *reader, const char *of, struct text *text)
{
	char key[KEY_SIZE];
	const char *base64;

	snprintf(key, sizeof(key), "%zu %s", reader->message, of);
	base64 = get(reader->bytes, key);
	if (!base64)
		return true;
	text_free(text);
	return text_from_base64(text, base64) ||
	       REFUSE(reader, "metadata: the base64 of message %zu is none", reader->message);
}

static struct step *step_add(const struct chat_reader *reader, struct text *command)
{
	struct step *step = conversation_step(reader->conversation, command);

	step->id = (int64_t)reader->conversation->count;
	step->end = STEP_DONE;
	return step;
}

static bool take_system(struct chat_reader *reader, const json_t *message)
{
	if (reader->message > 0)
		return REFUSE(reader, "message %zu: only the first can be the system's",
			      reader->message);
	reader->conversation->prompted = true;
	return take_content(reader, json_object_get(message, "content"),
			    &reader->conversation->prompt);
}

static void hear_line(const struct chat_reader *reader, const char *line, size_t size)
{
	struct text command = { 0 }, heard = { 0 };
	struct step *step;

	text_string(&command, LISTEN_COMMAND);
	text_add(&heard, line, size);
	step = step_add(reader, &command);
	text_copy(&step->output, &heard);
	text_string(&step->output, "\n");
	if (reader->conversation->lost)
		text_free(&heard);
	else
		conversation_talk(reader->conversation, false, &heard);
}

static bool take_user(struct chat_reader *reader, const json_t *message)
{
	struct text text = { 0 };
	const char *line, *end;

	if (!take_content(reader, json_object_get(message, "content"), &text) ||
	    !take_bytes(reader, "content", &text)) {
		text_free(&text);
		return false;
	}
	// The person says one line at a time; an end of line at the end ends the last one.
	line = text_get(&text);
	end = line + text.size;
	do {
		const char *next = memchr(line, '\n', (size_t)(end - line));

		hear_line(reader, line, (size_t)((next ? next : end) - line));
		line = next ? next + 1 : end;
	} while (line < end);
	reader->conversation->lost = reader->conversation->lost || text.lost;
	text_free(&text);
	return true;
}

static bool tell(const struct chat_reader *reader, struct text *text)
{
	struct text command = { 0 };

	if (text->size > 0 && memchr(text->data, '\0', text->size))
		return REFUSE(reader, "message %zu: the assistant cannot tell a NUL",
			      reader->message);
	tell_command(&command, text);
	step_add(reader, &command);
	if (!reader->conversation->lost)
		conversation_talk(reader->conversation, true, text);
	return true;
}

// What is told of the middle of a call.
static bool take_talk(const struct chat_reader *reader, const json_t *talk)
{
	const char *role = get(talk, "role"), *base64 = get(talk, "base64");
	const json_t *text = json_object_get(talk, "text");
	const bool told = role && strcmp(role, "assistant") == 0;
	struct text said = { 0 };

	if (!role || (!told && strcmp(role, "user") != 0) || (!base64 && !json_is_string(text)) ||
	    (base64 && !text_from_base64(&said, base64))) {
		text_free(&said);
		return REFUSE(reader, "metadata: the talk of a call is none");
	}
	if (!base64)
		take_content(reader, text, &said);
	if (!told && said.size > 0 && memchr(said.data, '\n', said.size)) {
		text_free(&said);
		return REFUSE(reader, "metadata: what was heard is more than one line");
	}
	if (reader->conversation->lost)
		text_free(&said);
	else
		conversation_talk(reader->conversation, told, &said);
	return true;
}

static bool describe_call(const struct chat_reader *reader, const char *id, struct step *step)
{
	const json_t *known = json_object_get(reader->known, id), *talk;
	const char *name = get(known, "end");
	const json_int_t status = json_integer_value(json_object_get(known, "status")),
			 dropped = json_integer_value(json_object_get(known, "dropped"));
	size_t i;

	if (!known)
		return true;
	step->end = name ? step_end_find(name) : STEP_ENDS;
	if (step->end == STEP_ENDS || status < -1 || status > 255 || dropped < 0)
		return REFUSE(reader, "metadata: end, status or dropped of call %s is none", id);
	step->status = (int)status;
	step->dropped = (uint64_t)dropped;
	json_array_foreach(json_object_get(known, "talk"), i,
			   talk) if (!take_talk(reader, talk)) return false;
	return true;
}

// The command in a call's arguments, which are JSON in a string.
static bool take_arguments(const struct chat_reader *reader, const char *arguments,
			   struct text *command)
{
	json_t *object = arguments ? json_loads(arguments, JSON_ALLOW_NUL, NULL) : NULL;
	const json_t *value = json_object_get(object, CHAT_ARGUMENT);
	bool good = json_is_string(value);

	if (good)
		good = take_content(reader, value, command);
	else
		REFUSE(reader, "message %zu: a call has no arguments with a " CHAT_ARGUMENT,
		       reader->message);
	json_decref(object);
	return good && take_bytes(reader, "command", command);
}

static bool take_call(const struct chat_reader *reader, const json_t *call)
{
	const json_t *function = json_object_get(call, "function");
	const char *id = get(call, "id"), *name = get(function, "name");
	struct text command = { 0 };
	struct step *step;

	if (!id || json_object_get(reader->pending, id))
		return REFUSE(reader, "message %zu: a call has no id of its own", reader->message);
	if (!name || strcmp(name, CHAT_FUNCTION) != 0)
		return REFUSE(reader, "message %zu: a call is of '%s'; only %s can be replayed",
			      reader->message, name ? name : "nothing", CHAT_FUNCTION);
	if (!take_arguments(reader, get(function, "arguments"), &command)) {
		text_free(&command);
		return false;
	}
	step = step_add(reader, &command);
	if (json_object_set_new(reader->pending, id,
				json_integer((json_int_t)reader->conversation->count - 1)) < 0)
		reader->conversation->lost = true;
	return describe_call(reader, id, step);
}

static bool take_assistant(struct chat_reader *reader, const json_t *message)
{
	const json_t *calls = json_object_get(message, "tool_calls"), *call,
		     *content = json_object_get(message, "content");
	struct text text = { 0 };
	bool good;
	size_t i;

	if (json_object_get(message, "function_call"))
		return REFUSE(reader, "message %zu: function_call is not read, tool_calls are",
			      reader->message);
	if (calls && !json_is_null(calls) && !json_is_array(calls))
		return REFUSE(reader, "message %zu: the tool_calls are no list", reader->message);
	good = take_content(reader, content, &text) && take_bytes(reader, "content", &text);
	// Beside calls, an empty text is how some write none.
	if (good && (text.size > 0 || (json_is_string(content) && json_array_size(calls) == 0)))
		good = tell(reader, &text);
	text_free(&text);
	json_array_foreach(calls, i, call) good = good && take_call(reader, call);
	return good;
}

static bool take_result(struct chat_reader *reader, const json_t *message)
{
	const char *id = get(message, "tool_call_id");
	const json_t *number = json_object_get(reader->pending, id);
	struct step *step;

	if (!number)
		return REFUSE(reader, "message %zu: it is the result of no call", reader->message);
	if (reader->conversation->lost)
		return true;
	step = &reader->conversation->steps[json_integer_value(number)];
	json_object_del(reader->pending, id);
	if (!take_content(reader, json_object_get(message, "content"), &step->output))
		return false;
	marks_take_off(&step->output, step->dropped);
	return take_bytes(reader, "content", &step->output);
}

static bool take_message(struct chat_reader *reader, const json_t *message)
{
	static const struct {
		const char *role;
		bool (*take)(struct chat_reader *reader, const json_t *message);
	} roles[] = {
		{ "system", take_system }, { "developer", take_system },
		{ "user", take_user },	   { "assistant", take_assistant },
		{ "tool", take_result },
	};
	const char *role = get(message, "role");

	for (size_t i = 0; role && i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (strcmp(roles[i].role, role) != 0)
			continue;
		if (roles[i].take != take_result && json_object_size(reader->pending) > 0)
			return REFUSE(reader, "message %zu: call %s has no result before it",
				      reader->message,
				      json_object_iter_key(json_object_iter(reader->pending)));
		return roles[i].take(reader, message);
	}
	return REFUSE(reader, "message %zu: %s%s is no role", reader->message, role ? role : "",
		      role ? "" : "nothing");
}

static void take_string(struct text *text, const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	text_add(text, json_string_value(value), json_string_length(value));
}

// Sorts what the metadata keeps, to be found by id and by message.
static bool take_metadata(struct chat_reader *reader, const json_t *metadata)
{
	struct conversation *conversation = reader->conversation;
	json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(metadata, "calls"), i,
			   entry) if (!get(entry, "id") ||
				      json_object_set(reader->known, get(entry, "id"), entry) <
					      0) return REFUSE(reader,
							       "metadata: call %zu has no id", i);
	json_array_foreach(json_object_get(metadata, "binary"), i, entry)
	{
		json_t *base64 = json_object_get(entry, "base64");
		const char *of = get(entry, "of");
		char key[KEY_SIZE];

		snprintf(key, sizeof(key), "%lld %s",
			 (long long)json_integer_value(json_object_get(entry, "message")),
			 of ? of : "");
		if (!json_is_string(base64) || json_object_set(reader->bytes, key, base64) < 0)
			return REFUSE(reader, "metadata: binary %zu has no base64", i);
	}
	take_string(&conversation->lodger, metadata, "lodger");
	take_string(&conversation->assistant, metadata, "assistant");
	take_string(&conversation->model, metadata, "model");
	take_string(&conversation->reason, metadata, "finish");
	take_string(&conversation->detail, metadata, "detail");
	conversation->finished = conversation->reason.size > 0;
	if (conversation->assistant.size > 0 && !player_known(text_get(&conversation->assistant)))
		return REFUSE(reader, "metadata: '%s' is nobody who plays the assistant",
			      text_get(&conversation->assistant));
	if (conversation->finished && !reason_known(text_get(&conversation->reason)))
		return REFUSE(reader, "metadata: '%s' is no reason to finish",
			      text_get(&conversation->reason));
	return true;
}

// A conversation may end between its last call and the result, and nowhere else.
static bool take_end(const struct chat_reader *reader)
{
	struct conversation *conversation = reader->conversation;
	const size_t waiting = json_object_size(reader->pending);
	const char *id;
	json_t *number;

	if (conversation->lost || conversation->count == 0)
		return true;
	json_object_foreach(
		reader->pending, id,
		number) if (waiting > 1 ||
			    json_integer_value(number) !=
				    (json_int_t)conversation->count -
					    1) return REFUSE(reader, "call %s has no result", id);
	if (waiting > 0)
		conversation->steps[conversation->count - 1].end = STEP_UNKNOWN;
	for (size_t i = 0; i + 1 < conversation->count; i++)
		if (conversation->steps[i].end == STEP_UNKNOWN)
			return REFUSE(reader, "metadata: a call that is not the last has no end");
	return true;
}

static bool take_conversation(struct chat_reader *reader, const json_t *object)
{
	const json_t *messages = json_object_get(object, "messages"), *message,
		     *metadata = json_object_get(object, "metadata");

	if (!json_is_array(messages))
		return REFUSE(reader, "there is no list of messages");
	// Other programs' metadata is none of ours.
	if (get(metadata, "lodger") && !take_metadata(reader, metadata))
		return false;
	json_array_foreach(messages, reader->message,
			   message) if (!take_message(reader, message)) return false;
	return take_end(reader);
}

int chat_next(struct lines *lines, struct conversation *conversation, struct failure *failure)
{
	struct chat_reader reader = { .lines = lines,
				      .conversation = conversation,
				      .failure = failure,
				      .known = json_object(),
				      .bytes = json_object(),
				      .pending = json_object() };
	json_t *object = NULL;
	int more = lines_next(lines, failure);

	conversation->name = lines->name;
	if (more > 0) {
		object = lines_object(lines, failure);
		if (!object || !take_conversation(&reader, object))
			more = -1;
		else if (!conversation_whole(conversation) || !reader.pending)
			more = lines_fail(lines, failure, "out of memory") - 1;
	}
	json_decref(object);
	json_decref(reader.known);
	json_decref(reader.bytes);
	json_decref(reader.pending);
	return more;
}
