// The reader of events.jsonl (export_events.h). Runs as the caller.
#include "export_events.h"

#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "export_lines.h"
#include "session.h"

// Where the reader is.
struct reader {
	struct lines lines;
	struct conversation *conversation;
	struct failure *failure;
	bool started, running; // between a command and its end
	size_t read;	       // bytes
};

enum field_kind {
	FIELD_STRING,
	FIELD_BYTES, // "text", or "base64" in its place
	FIELD_NUMBER,
	FIELD_INTEGER,
	FIELD_OBJECT,
};

struct field {
	const char *name;
	enum field_kind kind;
	bool needed;
	json_int_t least, most; // FIELD_INTEGER
};

#define FIELDS 8
#define STRING(name, needed)                     \
	{                                        \
		name, FIELD_STRING, needed, 0, 0 \
	}
#define BYTES                                   \
	{                                       \
		"text", FIELD_BYTES, true, 0, 0 \
	}
#define INTEGER(name, needed, least, most)               \
	{                                                \
		name, FIELD_INTEGER, needed, least, most \
	}
#define COUNT_MAX ((json_int_t)1 << 53) // what every reader of JSON can hold
#define REFUSE(reader, ...) lines_fail(&(reader)->lines, (reader)->failure, __VA_ARGS__)

// Whether one of `words`, which end with NULL, is `word`.
static bool one_of(const char *const words[], const char *word)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words != NULL;
}

bool player_known(const char *name)
{
	static const char *const players[] = { "exec", "api", "human", "replay", NULL };

	return one_of(players, name);
}

bool reason_known(const char *name)
{
	static const char *const reasons[] = { "assistant", "person",  "turns",	      "time",
					       "output",    "session", "interrupted", NULL };

	return one_of(reasons, name);
}

static void take_string(struct text *text, const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	if (json_is_string(value))
		text_add(text, json_string_value(value), json_string_length(value));
}

// Its form was checked.
static void take_bytes(struct text *text, const json_t *event)
{
	const json_t *base64 = json_object_get(event, "base64");

	if (base64)
		text_from_base64(text, json_string_value(base64));
	else
		take_string(text, event, "text");
}

static bool take_start(struct reader *reader, const json_t *event)
{
	struct conversation *conversation = reader->conversation;

	if (reader->started)
		return REFUSE(reader, "there is a second start");
	reader->started = true;
	take_string(&conversation->lodger, event, "lodger");
	take_string(&conversation->session, event, "session");
	take_string(&conversation->assistant, event, "assistant");
	take_string(&conversation->model, event, "model");
	take_string(&conversation->prompt, event, "prompt");
	conversation->prompted = json_is_string(json_object_get(event, "prompt"));
	if (session_number(text_get(&conversation->session)) == 0)
		return REFUSE(reader, "'%s' is not the name of a session",
			      text_get(&conversation->session));
	if (!player_known(text_get(&conversation->assistant)))
		return REFUSE(reader, "'%s' is nobody who plays the assistant",
			      text_get(&conversation->assistant));
	return true;
}

static bool take_talk(struct reader *reader, const json_t *event, bool told)
{
	struct text text = { 0 };

	if (reader->conversation->count == 0)
		return REFUSE(reader, "something is %s before the first command",
			      told ? "told" : "said");
	take_bytes(&text, event);
	if (!told && text.size > 0 && memchr(text.data, '\n', text.size)) {
		text_free(&text);
		return REFUSE(reader, "what is said is more than one line");
	}
	conversation_talk(reader->conversation, told, &text);
	return true;
}

static bool take_say(struct reader *reader, const json_t *event)
{
	const char *role = json_string_value(json_object_get(event, "role"));

	if (strcmp(role, "user") != 0)
		return REFUSE(reader, "'%s' is not a role; it is user", role);
	return take_talk(reader, event, false);
}

static bool take_tell(struct reader *reader, const json_t *event)
{
	return take_talk(reader, event, true);
}

static struct step *last(const struct reader *reader)
{
	const struct conversation *conversation = reader->conversation;

	return conversation->count > 0 ? &conversation->steps[conversation->count - 1] : NULL;
}

static bool take_command(struct reader *reader, const json_t *event)
{
	const json_int_t id = json_integer_value(json_object_get(event, "id"));
	const struct step *before = last(reader);
	struct text command = { 0 };

	if (reader->running)
		return REFUSE(reader, "a command begins while command %lld has not ended",
			      (long long)before->id);
	if (before && id <= before->id)
		return REFUSE(reader, "command %lld comes behind command %lld", (long long)id,
			      (long long)before->id);
	take_bytes(&command, event);
	conversation_step(reader->conversation, &command)->id = id;
	reader->running = true;
	return true;
}

// The step that an output or end is of, which is the last one.
static struct step *step_of(const struct reader *reader, const json_t *event)
{
	const json_int_t id = json_integer_value(json_object_get(event, "id"));
	struct step *step = last(reader);

	if (step && step->id == id)
		return step;
	REFUSE(reader, "command %lld is not the last one", (long long)id);
	return NULL;
}

static bool take_output(struct reader *reader, const json_t *event)
{
	struct step *step = step_of(reader, event);

	if (step)
		take_bytes(&step->output, event);
	return step != NULL;
}

static bool take_end(struct reader *reader, const json_t *event)
{
	const char *name = json_string_value(json_object_get(event, "end"));
	const enum step_end end = step_end_find(name);
	struct step *step = step_of(reader, event);

	if (!step)
		return false;
	if (!reader->running)
		return REFUSE(reader, "command %lld has ended already", (long long)step->id);
	if (end == STEP_UNKNOWN || end == STEP_ENDS)
		return REFUSE(reader, "'%s' is no end of a command", name);
	reader->running = false;
	step->end = end;
	step->status = (int)json_integer_value(json_object_get(event, "status"));
	step->dropped = (uint64_t)json_integer_value(json_object_get(event, "dropped"));
	return true;
}

static bool take_usage(struct reader *reader, const json_t *event)
{
	(void)reader;
	(void)event;
	return true; // figures of the machine, which no export has
}

static bool take_finish(struct reader *reader, const json_t *event)
{
	struct conversation *conversation = reader->conversation;

	take_string(&conversation->reason, event, "reason");
	take_string(&conversation->detail, event, "detail");
	if (!reason_known(text_get(&conversation->reason)))
		return REFUSE(reader, "'%s' is no reason to finish",
			      text_get(&conversation->reason));
	conversation->finished = true;
	return true;
}

static const struct event {
	const char *name;
	struct field fields[FIELDS]; // beside the time
	bool (*take)(struct reader *reader, const json_t *event);
} events[] = {
	{ "start",
	  { STRING("lodger", true),
	    STRING("session", true),
	    STRING("assistant", true),
	    STRING("model", false),
	    { "limits", FIELD_OBJECT, false, 0, 0 },
	    STRING("prompt", false),
	    INTEGER("columns", false, 1, UINT16_MAX),
	    INTEGER("rows", false, 1, UINT16_MAX) },
	  take_start },
	{ "say", { STRING("role", true), BYTES }, take_say },
	{ "tell", { BYTES }, take_tell },
	{ "command", { INTEGER("id", true, 0, COUNT_MAX), BYTES }, take_command },
	{ "output", { INTEGER("id", true, 0, COUNT_MAX), BYTES }, take_output },
	{ "end",
	  { INTEGER("id", true, 0, COUNT_MAX),
	    STRING("end", true),
	    INTEGER("status", true, -1, 255),
	    { "seconds", FIELD_NUMBER, true, 0, 0 },
	    INTEGER("dropped", true, 0, COUNT_MAX) },
	  take_end },
	{ "usage", { { 0 } }, take_usage },
	{ "finish", { STRING("reason", true), STRING("detail", false) }, take_finish },
};

static bool bytes_check(const struct reader *reader, const json_t *event)
{
	const json_t *text = json_object_get(event, "text"),
		     *base64 = json_object_get(event, "base64");
	struct text bytes = { 0 };
	bool good;

	if (!text == !base64)
		return REFUSE(reader, "there is %s",
			      text ? "a text and a base64 of it" : "neither a text nor a base64");
	if (!json_is_string(text ? text : base64))
		return REFUSE(reader, "the %s is no string", text ? "text" : "base64");
	if (text)
		return true;
	good = text_from_base64(&bytes, json_string_value(base64));
	text_free(&bytes);
	return good || REFUSE(reader, "the base64 is none");
}

static bool field_check(const struct reader *reader, const struct field *field, const json_t *event)
{
	const json_t *value = json_object_get(event, field->name);

	if (field->kind == FIELD_BYTES)
		return bytes_check(reader, event);
	if (!value || json_is_null(value))
		return !field->needed || REFUSE(reader, "there is no %s", field->name);
	switch (field->kind) {
	case FIELD_STRING:
		return json_is_string(value) || REFUSE(reader, "the %s is no string", field->name);
	case FIELD_OBJECT:
		return json_is_object(value) || REFUSE(reader, "the %s is no object", field->name);
	case FIELD_NUMBER:
		return (json_is_number(value) && isfinite(json_number_value(value)) &&
			json_number_value(value) >= 0) ||
		       REFUSE(reader, "the %s is no number from 0 on", field->name);
	default:
		return (json_is_integer(value) && json_integer_value(value) >= field->least &&
			json_integer_value(value) <= field->most) ||
		       REFUSE(reader, "the %s is no integer from %lld to %lld", field->name,
			      (long long)field->least, (long long)field->most);
	}
}

static bool event_take(struct reader *reader, const json_t *object)
{
	static const struct field always[] = { STRING("event", true),
					       { "time", FIELD_NUMBER, true, 0, 0 } };
	const struct event *event = events;
	const char *name;

	if (!field_check(reader, &always[0], object))
		return false;
	name = json_string_value(json_object_get(object, "event"));
	while (event < events + sizeof(events) / sizeof(events[0]) &&
	       strcmp(event->name, name) != 0)
		event++;
	if (event == events + sizeof(events) / sizeof(events[0]))
		return REFUSE(reader, "there is no event '%s'", name);
	if (!reader->started && event != &events[0])
		return REFUSE(reader, "the first event is not start but %s", name);
	if (reader->conversation->finished && event->take != take_usage)
		return REFUSE(reader, "there is an event behind the finish");
	if (!field_check(reader, &always[1], object))
		return false;
	for (size_t i = 0; i < FIELDS && event->fields[i].name; i++)
		if (!field_check(reader, &event->fields[i], object))
			return false;
	return event->take(reader, object);
}

// Other versions may mean other things by the same names: this is looked at first.
static bool version_check(struct reader *reader, const json_t *object)
{
	static const struct field version = INTEGER("version", true, 0, COUNT_MAX);
	const json_t *number = json_object_get(object, "version");

	if (reader->started || !json_is_string(json_object_get(object, "event")) ||
	    strcmp(json_string_value(json_object_get(object, "event")), "start") != 0)
		return true;
	if (!field_check(reader, &version, object))
		return false;
	return json_integer_value(number) == 1 ||
	       REFUSE(reader, "the recording's version is %lld; this program reads 1",
		      (long long)json_integer_value(number));
}

bool events_read(FILE *file, const char *name, struct conversation *conversation,
		 struct failure *failure)
{
	struct reader reader = { .lines = { .file = file, .name = name },
				 .conversation = conversation,
				 .failure = failure };
	bool good = true;
	int more = 0;

	conversation->name = name;
	while (good && (more = lines_next(&reader.lines, failure)) > 0) {
		json_t *object = lines_object(&reader.lines, failure);

		reader.read += reader.lines.line.size;
		good = object && version_check(&reader, object) && event_take(&reader, object);
		json_decref(object);
		if (good && reader.read > EXPORT_RECORDING_MAX)
			good = REFUSE(&reader, "the recording is larger than %u MiB",
				      EXPORT_RECORDING_MAX >> 20);
	}
	lines_free(&reader.lines);
	if (!good || more < 0)
		return false;
	if (!reader.started)
		return fail(failure, "%s: there is no event in it", name);
	return conversation_whole(conversation) || fail(failure, "reading %s: out of memory", name);
}
