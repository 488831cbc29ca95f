// Conversations into scripts (export_script.h): events.jsonl again, with all times 0, so that whatever
// reads recordings reads them. Runs as the caller.
#include "export_script.h"

#include <jansson.h>
#include <string.h>

#include "export_events.h"
#include "export_lines.h"

// Neutral, and of the form of a session's name.
#define SESSION "lodger-1"

struct script {
	FILE *file;
	struct failure *failure;
};

static json_t *event_make(const char *name)
{
	return json_pack("{s:s,s:i}", "event", name, "time", 0);
}

// Sets a string; one that there is no memory for shows in the end as an event that is none.
static void put(json_t **event, const char *key, json_t *value)
{
	if (json_object_set_new(*event, key, value) == 0)
		return;
	json_decref(*event);
	*event = NULL;
}

// As "text", or in base64 when it is no UTF-8.
static void put_bytes(json_t **event, const struct text *bytes)
{
	struct text text = { 0 };
	bool utf8 = text_utf8(&text, bytes) == 0;

	if (!utf8) {
		text_free(&text);
		text_base64(&text, bytes);
	}
	put(event, utf8 ? "text" : "base64",
	    text.lost ? NULL : json_stringn(text_get(&text), text.size));
	text_free(&text);
}

static void put_text(json_t **event, const char *key, const struct text *text)
{
	put(event, key, json_stringn(text_get(text), text->size));
}

static bool start_write(struct script *script, const struct conversation *conversation)
{
	json_t *event = event_make("start");

	put(&event, "version", json_integer(1));
	if (conversation->lodger.size > 0)
		put_text(&event, "lodger", &conversation->lodger);
	else
		put(&event, "lodger", json_string(LODGER_VERSION));
	put(&event, "session", json_string(SESSION));
	if (player_known(text_get(&conversation->assistant)))
		put_text(&event, "assistant", &conversation->assistant);
	else
		put(&event, "assistant", json_string("replay"));
	if (conversation->model.size > 0)
		put_text(&event, "model", &conversation->model);
	if (conversation->prompted)
		put_text(&event, "prompt", &conversation->prompt);
	return line_write(script->file, event, script->failure);
}

static bool talk_write(struct script *script, const struct talk *talk)
{
	json_t *event = event_make(talk->told ? "tell" : "say");

	if (!talk->told)
		put(&event, "role", json_string("user"));
	put_bytes(&event, &talk->text);
	return line_write(script->file, event, script->failure);
}

static bool bytes_write(struct script *script, const char *name, const struct step *step,
			const struct text *bytes)
{
	json_t *event = event_make(name);

	put(&event, "id", json_integer(step->id));
	put_bytes(&event, bytes);
	return line_write(script->file, event, script->failure);
}

static bool end_write(struct script *script, const struct step *step)
{
	json_t *event = event_make("end");

	put(&event, "id", json_integer(step->id));
	put(&event, "end", json_string(step_ends[step->end]));
	put(&event, "status", json_integer(step->status));
	put(&event, "seconds", json_integer(0));
	put(&event, "dropped", json_integer((json_int_t)step->dropped));
	return line_write(script->file, event, script->failure);
}

static bool step_write(struct script *script, const struct step *step)
{
	if (!bytes_write(script, "command", step, &step->command))
		return false;
	for (size_t i = 0; i < step->talk_count; i++)
		if (!talk_write(script, &step->talk[i]))
			return false;
	if (step->output.size > 0 && !bytes_write(script, "output", step, &step->output))
		return false;
	return step->end == STEP_UNKNOWN || end_write(script, step);
}

bool script_write(FILE *file, const struct conversation *conversation, struct failure *failure)
{
	struct script script = { file, failure };
	json_t *event;

	if (!start_write(&script, conversation))
		return false;
	for (size_t i = 0; i < conversation->count; i++)
		if (!step_write(&script, &conversation->steps[i]))
			return false;
	// Where nobody said why it ended, the assistant had no more to do.
	event = event_make("finish");
	put(&event, "reason",
	    json_string(conversation->finished ? text_get(&conversation->reason) : "assistant"));
	if (conversation->detail.size > 0)
		put_text(&event, "detail", &conversation->detail);
	return line_write(file, event, failure);
}
