// Recordings and chats that others wrote (client/assistant/export_*.h).
// Holds: a refusal names the file; what is taken is the same conversation when it is read again out of
// the chat and the script that are made of it, and grows the same tree twice.
#include <stdio.h>

#include "export_chat.h"
#include "export_events.h"
#include "export_script.h"
#include "export_tree.h"
#include "fuzz.h"
#include "printable.h"

// What was refused is said of the file, and can be shown on any terminal.
static void said(const struct failure *failure)
{
	char text[PRINTABLE_GROWTH * sizeof(failure->text)];

	assert(strncmp(failure->text, "f:", 2) == 0);
	for (const char *c = printable(text, sizeof(text), failure->text); *c; c++)
		assert(*c >= ' ' && *c <= '~');
}

static bool events_taken(const void *data, size_t size, struct conversation *conversation,
			 struct failure *failure)
{
	FILE *file = fmemopen((void *)data, size, "r");
	bool good;

	*conversation = (struct conversation){ 0 };
	assert(file);
	good = events_read(file, "f", conversation, failure);
	fclose(file);
	return good;
}

static bool chat_taken(const void *data, size_t size, struct conversation *conversation,
		       struct failure *failure)
{
	struct lines lines = { .file = fmemopen((void *)data, size, "r"), .name = "f" };
	int more;

	*conversation = (struct conversation){ 0 };
	assert(lines.file);
	more = chat_next(&lines, conversation, failure);
	fclose(lines.file);
	lines_free(&lines);
	return more == 1;
}

static json_t *chat_of(const struct conversation *conversation)
{
	struct marks marks = { 0 };
	json_t *chat = chat_make(conversation, NULL, &marks);

	assert(chat);
	return chat;
}

// That a conversation was read, and is the one of `chat`; gives it back.
static void same(bool taken, struct conversation *conversation, const json_t *chat,
		 const struct failure *failure)
{
	static const char *const keys[] = { "id", "messages", "tools" };
	json_t *again;

	if (!taken)
		fprintf(stderr, "%s\n", failure->text);
	assert(taken);
	again = chat_of(conversation);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert(json_equal(json_object_get(chat, keys[i]), json_object_get(again, keys[i])));
	chat = json_object_get(chat, "metadata");
	assert(json_equal(json_object_get(chat, "calls"),
			  json_object_get(json_object_get(again, "metadata"), "calls")));
	json_decref(again);
	conversation_free(conversation);
}

static void survives_a_chat(const json_t *chat)
{
	struct conversation conversation;
	struct failure failure = { 0 };
	char *data = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&data, &size);
	bool taken;

	assert(file && line_write(file, json_incref((json_t *)chat), &failure));
	fclose(file);
	for (size_t i = 0; i + 1 < size; i++)
		assert(data[i] >= ' ' && (unsigned char)data[i] <= 0x7f);
	taken = chat_taken(data, size, &conversation, &failure);
	same(taken, &conversation, chat, &failure);
	free(data);
}

static void survives_a_script(const struct conversation *conversation, const json_t *chat)
{
	struct conversation again;
	struct failure failure = { 0 };
	char *data = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&data, &size);
	bool taken;

	assert(file && script_write(file, conversation, &failure));
	fclose(file);
	taken = events_taken(data, size, &again, &failure);
	same(taken, &again, chat, &failure);
	free(data);
}

static void grows_once(const struct conversation *conversation)
{
	struct forest forest = { 0 };
	struct marks marks = { 0 };
	struct failure failure = { 0 };
	size_t nodes = 0;

	for (int i = 0; i < 2; i++) {
		if (!forest_add(&forest, conversation, "en", &marks, &failure))
			break;
		assert(i == 0 || json_object_size(forest.nodes) == nodes);
		assert(json_array_size(forest.trees) == 1);
		nodes = json_object_size(forest.nodes);
	}
	assert((nodes > 0) == (failure.text[0] == '\0'));
	forest_free(&forest);
}

// An input: C and a line of chat JSONL, or E and events.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct conversation conversation;
	struct failure failure = { 0 };
	bool taken;

	if (size < 2 || (data[0] != 'C' && data[0] != 'E'))
		return -1;
	taken = data[0] == 'C' ? chat_taken(data + 1, size - 1, &conversation, &failure)
			       : events_taken(data + 1, size - 1, &conversation, &failure);
	if (taken) {
		json_t *chat = chat_of(&conversation);

		survives_a_chat(chat);
		survives_a_script(&conversation, chat);
		grows_once(&conversation);
		json_decref(chat);
	} else if (failure.text[0] != '\0') {
		said(&failure);
	}
	conversation_free(&conversation);
	return 0;
}
