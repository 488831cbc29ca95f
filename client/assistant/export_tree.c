// Conversations into message trees (export_tree.h). Pure; runs as the caller. The fields are those of
// Open-Assistant's oasst_data (ExportMessageTree, ExportMessageNode).
#include "export_tree.h"

#include <string.h>

#include "export_identity.h"

// A way through a tree that is being made.
struct growth {
	struct forest *forest;
	const struct conversation *conversation;
	const char *language;
	struct marks *marks;
	struct text text; // of the message that is being put together
	bool prompter;	  // whose message that is
	json_t *parent;	  // the message before, or NULL
	bool lost;
};

static void put(struct growth *growth, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) < 0)
		growth->lost = true;
}

// Whether a program wrote the assistant's part, as far as the recording says.
static json_t *synthetic(const struct growth *growth)
{
	const struct text *assistant = &growth->conversation->assistant;

	if (growth->prompter)
		return json_null();
	if (text_is(assistant, "human"))
		return json_false();
	return text_is(assistant, "exec") || text_is(assistant, "api") ? json_true() : json_null();
}

static json_t *string(const struct text *text)
{
	return text->lost ? NULL : json_stringn(text_get(text), text->size);
}

static json_t *node_make(struct growth *growth, const char *id)
{
	static const char *const unknown[] = { "review_count", "review_result", "rank",
					       "emojis",       "labels",	"events",
					       "tree_state" };
	const struct text *model = &growth->conversation->model;
	json_t *node = json_object();
	json_t *parent = json_object_get(growth->parent, "message_id");

	put(growth, node, "message_id", json_string(id));
	put(growth, node, "parent_id", parent ? json_incref(parent) : json_null());
	put(growth, node, "user_id", json_null());
	put(growth, node, "text", string(&growth->text));
	put(growth, node, "role", json_string(growth->prompter ? "prompter" : "assistant"));
	put(growth, node, "lang", json_string(growth->language));
	put(growth, node, "deleted", json_false());
	put(growth, node, "synthetic", synthetic(growth));
	put(growth, node, "model_name",
	    growth->prompter || model->size == 0 ? json_null() : string(model));
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		put(growth, node, unknown[i], json_null());
	put(growth, node, "replies", json_array());
	return node;
}

static void identify(const struct growth *growth, char id[UUID_SIZE])
{
	const char *parent = json_string_value(json_object_get(growth->parent, "message_id"));
	struct identity identity;

	identity_begin(&identity, growth->prompter ? "prompter" : "assistant");
	identity_add(&identity, parent ? parent : "", parent ? strlen(parent) : 0);
	identity_add_text(&identity, &growth->text);
	identity_add(&identity, growth->language, strlen(growth->language));
	// The same words of another model are another reply.
	if (!growth->prompter) {
		identity_add_text(&identity, &growth->conversation->assistant);
		identity_add_text(&identity, &growth->conversation->model);
	}
	identity_uuid(&identity, id);
}

static void tree_begin(struct growth *growth, json_t *node)
{
	json_t *tree = json_object(), *id = json_object_get(node, "message_id");

	put(growth, tree, "message_tree_id", json_incref(id));
	put(growth, tree, "tree_state", json_string("ready_for_export"));
	put(growth, tree, "prompt", json_incref(node));
	put(growth, tree, "origin", json_string("lodger"));
	if (json_array_append_new(growth->forest->trees, tree) < 0)
		growth->lost = true;
}

// Ends the message that is being put together: goes on at the one that the tree has of it, or adds
// it.
static void message_end(struct growth *growth)
{
	char id[UUID_SIZE];
	json_t *node;

	// The last line's end is none of the message.
	if (text_ends(&growth->text, "\n"))
		growth->text.data[--growth->text.size] = '\0';
	identify(growth, id);
	node = json_object_get(growth->forest->nodes, id);
	if (!node) {
		node = node_make(growth, id);
		if (!growth->parent)
			tree_begin(growth, node);
		else if (json_array_append(json_object_get(growth->parent, "replies"), node) < 0)
			growth->lost = true;
		if (json_object_set_new(growth->forest->nodes, id, node) < 0)
			growth->lost = true;
	}
	growth->parent = json_object_get(growth->forest->nodes, id);
	text_free(&growth->text);
}

// A command as a transcript has it: "> " before what was typed, ">> " before its further lines.
static void transcript_add(struct growth *growth, const struct step *step)
{
	struct text *text = &growth->text, command = { 0 };

	marks_text(growth->marks, &command, &step->command);
	text_string(text, "> ");
	for (size_t i = 0; i < command.size; i++) {
		text_add(text, &command.data[i], 1);
		if (command.data[i] == '\n' && i + 1 < command.size)
			text_string(text, ">> ");
	}
	text->lost = text->lost || command.lost;
	text_free(&command);
	if (!text_ends(text, "\n"))
		text_string(text, "\n");
	marks_output(growth->marks, text, step);
	if (!text_ends(text, "\n"))
		text_string(text, "\n");
	if (!step_tells(step) && !step_listens(step))
		marks_aside(growth->marks, text, step);
}

static void step_grow(struct growth *growth, const struct step *step)
{
	const bool prompter = step_listens(step);

	if (prompter != growth->prompter) {
		message_end(growth);
		growth->prompter = prompter;
	}
	if (prompter) {
		marks_text(growth->marks, &growth->text, &step->talk[0].text);
		text_string(&growth->text, "\n");
	} else {
		transcript_add(growth, step);
	}
}

bool forest_add(struct forest *forest, const struct conversation *conversation,
		const char *language, struct marks *marks, struct failure *failure)
{
	struct growth growth = { .forest = forest,
				 .conversation = conversation,
				 .language = language,
				 .marks = marks,
				 .prompter = true };
	size_t changes = 1;

	for (size_t i = 1; i < conversation->count; i++)
		changes += step_listens(&conversation->steps[i]) !=
			   step_listens(&conversation->steps[i - 1]);
	if (conversation->count == 0)
		return fail(failure, "%s: there is no command in it, so no message",
			    conversation->name);
	if (changes > TREE_DEPTH_MAX)
		return fail(failure,
			    "%s: a tree of %zu messages one below the other is more than readers "
			    "take (%d); use --format chat",
			    conversation->name, changes, TREE_DEPTH_MAX);
	forest->trees = forest->trees ? forest->trees : json_array();
	forest->nodes = forest->nodes ? forest->nodes : json_object();
	// Where the assistant spoke first, the prompt is empty.
	for (size_t i = 0; i < conversation->count; i++)
		step_grow(&growth, &conversation->steps[i]);
	message_end(&growth);
	return !growth.lost || fail(failure, "%s: out of memory", conversation->name);
}

void forest_free(struct forest *forest)
{
	json_decref(forest->trees);
	json_decref(forest->nodes);
	*forest = (struct forest){ 0 };
}
