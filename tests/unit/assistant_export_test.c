// lodger export: the reader of recordings, chats, trees and scripts (client/assistant/export_*.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#undef fail // the client has a function of that name

#include "export_chat.h"
#include "export_events.h"
#include "export_script.h"
#include "export_tree.h"

#define START                                                                                            \
	"{\"event\":\"start\",\"time\":1.5,\"version\":1,\"lodger\":\"0.1.0\",\"session\":\"lodger-7\"," \
	"\"assistant\":\"exec\",\"columns\":80,\"rows\":24}\n"
#define COMMAND(id, text) "{\"event\":\"command\",\"time\":2,\"id\":" id ",\"text\":\"" text "\"}\n"
#define SAY(text) "{\"event\":\"say\",\"time\":2,\"role\":\"user\",\"text\":\"" text "\"}\n"
#define TELL(text) "{\"event\":\"tell\",\"time\":2,\"text\":\"" text "\"}\n"
#define OUTPUT(id, text) "{\"event\":\"output\",\"time\":2,\"id\":" id ",\"text\":\"" text "\"}\n"
#define END(id) ENDED(id, "done", "0", "0")
#define ENDED(id, end, status, dropped)                                                      \
	"{\"event\":\"end\",\"time\":3,\"id\":" id ",\"end\":\"" end "\",\"status\":" status \
	",\"seconds\":0.5,\"dropped\":" dropped "}\n"
#define FINISH "{\"event\":\"finish\",\"time\":9,\"reason\":\"assistant\",\"detail\":\"\"}\n"
#define LISTENED(id, line) COMMAND(id, "assistant_listen") SAY(line) OUTPUT(id, line "\\n") END(id)
#define TOLD(id, text) COMMAND(id, "assistant_tell '" text "'") TELL(text) END(id)
#define RAN(id, command, output) COMMAND(id, command) OUTPUT(id, output) END(id)

#define WRONG(...) (print_error(__VA_ARGS__), _fail(__FILE__, __LINE__))

static FILE *file_of(const char *text)
{
	FILE *file = fmemopen((char *)text, strlen(text), "r");

	assert_non_null(file);
	return file;
}

static bool read_text(const char *text, struct conversation *conversation, struct failure *failure)
{
	FILE *file = file_of(text);
	bool good;

	*conversation = (struct conversation){ 0 };
	*failure = (struct failure){ 0 };
	good = events_read(file, "f", conversation, failure);
	fclose(file);
	return good;
}

static void read_good(const char *text, struct conversation *conversation)
{
	struct failure failure;

	if (!read_text(text, conversation, &failure))
		WRONG("%s", failure.text);
}

static json_t *chat_of(const char *text, struct marks *marks)
{
	struct conversation conversation;
	json_t *chat;

	read_good(text, &conversation);
	chat = chat_make(&conversation, NULL, marks);
	assert_non_null(chat);
	conversation_free(&conversation);
	return chat;
}

static void a_recording_is_read(void **state)
{
	struct conversation conversation;

	(void)state;
	read_good(START LISTENED("1", "Hi") COMMAND("5", "x=$(assistant_listen)") SAY("there")
			  TELL("ok") OUTPUT("5", "a") OUTPUT("5", "b")
				  ENDED("5", "flood", "-1", "9") COMMAND("6", "exit")
					  ENDED("6", "gone", "3", "0") FINISH,
		  &conversation);
	assert_int_equal(conversation.count, 3);
	assert_true(conversation.finished);
	assert_true(step_listens(&conversation.steps[0]));
	assert_int_equal(conversation.steps[1].id, 5);
	assert_int_equal(conversation.steps[1].talk_count, 2);
	assert_true(text_is(&conversation.steps[1].talk[0].text, "there"));
	assert_true(conversation.steps[1].talk[1].told);
	assert_true(text_is(&conversation.steps[1].output, "ab"));
	assert_int_equal(conversation.steps[1].end, STEP_FLOOD);
	assert_int_equal(conversation.steps[1].dropped, 9);
	assert_false(step_listens(&conversation.steps[1]));
	assert_int_equal(conversation.steps[2].status, 3);
	conversation_free(&conversation);
}

static void what_is_no_recording_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "", "f: there is no event in it" },
		{ "\n", "f:1: the line is no JSON" },
		{ "[]\n", "f:1: the line is no JSON object" },
		{ "{\"event\":\"start\"", "f:1: the file ends in the middle of a line" },
		{ START "{\"event\":\"say\",\"event\":\"say\"}\n", "f:2: the line is no JSON" },
		{ "{}\n", "f:1: there is no event" },
		{ "{\"event\":3}\n", "f:1: the event is no string" },
		{ FINISH, "f:1: the first event is not start" },
		{ "{\"event\":\"start\",\"time\":1}\n", "f:1: there is no version" },
		{ "{\"event\":\"start\",\"time\":1,\"version\":2}\n",
		  "f:1: the recording's version is 2" },
		{ "{\"event\":\"start\",\"time\":1,\"version\":1,\"lodger\":\"\",\"session\":\"x\","
		  "\"assistant\":\"exec\"}\n",
		  "f:1: 'x' is not the name of a session" },
		{ "{\"event\":\"start\",\"time\":1,\"version\":1,\"lodger\":\"\",\"session\":\"lodger-1\","
		  "\"assistant\":\"me\"}\n",
		  "f:1: 'me' is nobody" },
		{ START START, "f:2: there is a second start" },
		{ START "{\"event\":\"x\",\"time\":1}\n", "f:2: there is no event 'x'" },
		{ START "{\"event\":\"usage\"}\n", "f:2: there is no time" },
		{ START "{\"event\":\"usage\",\"time\":-1}\n", "f:2: the time is no number" },
		{ START "{\"event\":\"usage\",\"time\":\"1\"}\n", "f:2: the time is no number" },
		{ START SAY("x"), "f:2: something is said before the first command" },
		{ START TELL("x"), "f:2: something is told before the first command" },
		{ START COMMAND("1", "a") SAY("x\\ny"), "f:3: what is said is more than one line" },
		{ START "{\"event\":\"command\",\"time\":1,\"id\":1.5,\"text\":\"\"}\n",
		  "f:2: the id is no integer" },
		{ START "{\"event\":\"command\",\"time\":1,\"id\":-1,\"text\":\"\"}\n",
		  "f:2: the id is no integer" },
		{ START "{\"event\":\"command\",\"time\":1,\"id\":1}\n",
		  "f:2: there is neither a text" },
		{ START
		  "{\"event\":\"command\",\"time\":1,\"id\":1,\"text\":\"a\",\"base64\":\"\"}\n",
		  "f:2: there is a text and a base64" },
		{ START "{\"event\":\"command\",\"time\":1,\"id\":1,\"text\":null}\n",
		  "f:2: the text is no string" },
		{ START "{\"event\":\"command\",\"time\":1,\"id\":1,\"base64\":\"?\"}\n",
		  "f:2: the base64 is none" },
		{ START COMMAND("1", "a") COMMAND("2", "b"),
		  "f:3: a command begins while command 1" },
		{ START COMMAND("2", "a") END("2") COMMAND("2", "b"),
		  "f:4: command 2 comes behind" },
		{ START COMMAND("1", "a") OUTPUT("2", "b"), "f:3: command 2 is not the last one" },
		{ START END("1"), "f:2: command 1 is not the last one" },
		{ START COMMAND("1", "a") END("1") END("1"), "f:4: command 1 has ended already" },
		{ START COMMAND("1", "a") ENDED("1", "unknown", "0", "0"),
		  "f:3: 'unknown' is no end" },
		{ START COMMAND("1", "a") ENDED("1", "done", "256", "0"), "f:3: the status is no" },
		{ START COMMAND("1", "a") ENDED("1", "done", "0", "-1"), "f:3: the dropped is no" },
		{ START "{\"event\":\"say\",\"time\":1,\"role\":\"system\",\"text\":\"\"}\n",
		  "f:2: 'system' is not a role" },
		{ START FINISH FINISH, "f:3: there is an event behind the finish" },
		{ START "{\"event\":\"finish\",\"time\":1,\"reason\":\"x\"}\n",
		  "f:2: 'x' is no reason to finish" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conversation conversation;
		struct failure failure;

		assert_false(read_text(rows[i].text, &conversation, &failure));
		if (strncmp(failure.text, rows[i].says, strlen(rows[i].says)) != 0)
			WRONG("'%s' instead of '%s'", failure.text, rows[i].says);
		conversation_free(&conversation);
	}
}

static void a_line_has_a_bound(void **state)
{
	const size_t size = EXPORT_LINE_MAX + 8192;
	char *text = malloc(size + 1);
	struct conversation conversation;
	struct failure failure;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', size);
	text[size] = '\0';
	assert_false(read_text(text, &conversation, &failure));
	assert_string_equal(failure.text, "f:1: the line is longer than 16 MiB");
	conversation_free(&conversation);
	free(text);
}

static void tells_are_told_from_commands(void **state)
{
	static const struct {
		const char *command, *told;
		bool plain;
	} rows[] = {
		{ "assistant_tell \"Sure, \"", "Sure, ", true },
		{ "assistant_tell 'a'  b \\\"c\\\"", "a b \"c\"", true },
		{ "assistant_tell 'it'\\''s'", "it's", true },
		{ "assistant_tell \"\\$5 \\`x\\` \\\\ \\n\"", "$5 `x` \\ \\n", true },
		{ "assistant_tell \"5$\"", "5$", true },
		{ "assistant_tell \"two\nlines\"", "two\nlines", true },
		{ "assistant_tell hi!", "hi!", true },
		{ "assistant_tell ''", "", true },
		{ "assistant_tell hi # greet", "hi", false },
		{ "assistant_tell \"$x\"", "value", false },
		{ "assistant_tell \"$(date)\"", "$(date)", false },
		{ "assistant_tell \"${x:=y}\"", "${x:=y}", false },
		{ "assistant_tell \"`date`\"", "`date`", false },
		{ "assistant_tell a; ls", "a; ls", false },
		{ "assistant_tell a && ls", "a", false },
		{ "assistant_tell a > b", "a", false },
		{ "assistant_tell a\nassistant_tell a", "a", false },
		{ "assistant_tell 'open", "open", false },
		{ "assistant_tell", "", false },
		{ "assistant_tellx a", "a", false },
		{ " assistant_tell a", "a", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conversation conversation = { 0 };
		struct text command = { 0 }, told = { 0 };

		text_string(&command, rows[i].command);
		text_string(&told, rows[i].told);
		conversation_step(&conversation, &command)->end = STEP_DONE;
		conversation_talk(&conversation, true, &told);
		if (step_tells(&conversation.steps[0]) != rows[i].plain)
			WRONG("%s", rows[i].command);
		// What it printed, or did not do well, is more than the telling.
		conversation.steps[0].status = 1;
		assert_false(step_tells(&conversation.steps[0]));
		conversation_free(&conversation);
	}
}

static const char *message(const json_t *chat, size_t number, const char *key)
{
	return json_string_value(
		json_object_get(json_array_get(json_object_get(chat, "messages"), number), key));
}

static const json_t *call_known(const json_t *chat, size_t number)
{
	return json_array_get(json_object_get(json_object_get(chat, "metadata"), "calls"), number);
}

static void chats_have_messages_and_calls(void **state)
{
	struct marks marks = { 0 };
	json_t *chat = chat_of(START LISTENED("1", "Hi") TOLD("2", "Sure, ") TOLD("3", "it is ")
				       RAN("4", "echo 5", "5\\n") TOLD("5", "five")
					       LISTENED("6", "") FINISH,
			       &marks);
	const json_t *call;

	(void)state;
	assert_int_equal(json_array_size(json_object_get(chat, "messages")), 5);
	assert_string_equal(message(chat, 0, "role"), "user");
	assert_string_equal(message(chat, 0, "content"), "Hi");
	assert_string_equal(message(chat, 1, "content"), "Sure, it is ");
	call = json_array_get(
		json_object_get(json_array_get(json_object_get(chat, "messages"), 1), "tool_calls"),
		0);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(call, "function"), "arguments")),
		"{\"command\":\"echo 5\"}");
	assert_string_equal(message(chat, 2, "role"), "tool");
	assert_string_equal(message(chat, 2, "tool_call_id"),
			    json_string_value(json_object_get(call, "id")));
	assert_string_equal(message(chat, 2, "content"), "5\n");
	assert_string_equal(message(chat, 3, "content"), "five");
	assert_string_equal(message(chat, 4, "content"), "");
	assert_int_equal(marks.binary + marks.dropped + marks.unfinished + marks.aside, 0);
	json_decref(chat);
}

static void what_a_chat_cannot_hold_is_marked(void **state)
{
	struct marks marks = { 0 };
	json_t *chat =
		chat_of(START COMMAND("1", "x=$(assistant_listen); cat y")
				SAY("aside") "{\"event\":\"output\",\"time\":1,\"id\":1,"
					     "\"base64\":\"Yf9i\"}\n" ENDED("1", "flood", "0", "7")
						     COMMAND("2", "sleep 1"),
			&marks);
	const json_t *talk = json_array_get(json_object_get(call_known(chat, 0), "talk"), 0);
	const json_t *binary =
		json_array_get(json_object_get(json_object_get(chat, "metadata"), "binary"), 0);

	(void)state;
	assert_string_equal(message(chat, 1, "content"),
			    "a\xef\xbf\xbd"
			    "b\n[lodger: 1 bytes that are no UTF-8 are shown as U+FFFD]\n"
			    "\n[lodger: 7 bytes more were printed, and not recorded]\n");
	assert_string_equal(json_string_value(json_object_get(talk, "text")), "aside");
	assert_string_equal(json_string_value(json_object_get(binary, "base64")), "Yf9i");
	assert_int_equal(json_integer_value(json_object_get(binary, "message")), 1);
	assert_string_equal(json_string_value(json_object_get(call_known(chat, 1), "end")),
			    "unknown");
	assert_true(json_is_null(json_object_get(json_object_get(chat, "metadata"), "finish")));
	assert_int_equal(marks.binary, 1);
	assert_int_equal(marks.dropped, 1);
	assert_int_equal(marks.unfinished, 1);
	assert_int_equal(marks.aside, 1);
	json_decref(chat);
}

// Reads a chat that is one line.
static int chat_read(const char *text, struct conversation *conversation, struct failure *failure)
{
	struct lines lines = { .file = file_of(text), .name = "f" };
	int more;

	*conversation = (struct conversation){ 0 };
	*failure = (struct failure){ 0 };
	more = chat_next(&lines, conversation, failure);
	fclose(lines.file);
	lines_free(&lines);
	return more;
}

// A recording, as a chat, as a conversation again, as a script, as a recording: it stays what it is.
static void nothing_is_lost_on_the_way(void **state)
{
	static const char recording[] = START LISTENED("1", "Hi") TOLD("2", "it is ") TOLD("3", "me") RAN(
		"4", "cat <<E\\nx\\nE",
		"x\\n") COMMAND("5",
				"y=$(assistant_listen)") SAY("aside") TELL("why") ENDED("5",
											"timeout",
											"-1", "0")
		COMMAND("6", "cat z") "{\"event\":\"output\",\"time\":1,\"id\":6,\"base64\":\"/wA=\"}\n" ENDED(
			"6", "flood", "1",
			"12") "{\"event\":\"command\",\"time\":1,\"id\":7,"
			      "\"base64\":\"gA==\"}\n" END("7") COMMAND("8", "seq 9")
				      OUTPUT("8", "1\\n") ENDED("8", "done", "0", "17")
					      COMMAND("9", "assistant_listen")
						      ENDED("9", "done", "1", "0") FINISH;
	struct marks marks = { 0 };
	struct conversation conversation, again;
	struct failure failure;
	json_t *chat = chat_of(recording, &marks), *second, *third;
	char *line = json_dumps(chat, 0), *ended, *script = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&script, &size);

	(void)state;
	assert_true(asprintf(&ended, "%s\n", line) > 0);
	if (chat_read(ended, &conversation, &failure) != 1)
		WRONG("%s", failure.text);
	assert_int_equal(conversation.count, 8); // the two tells are one
	assert_true(text_equal(&conversation.steps[4].output, "\xff\0", 2));
	assert_true(text_equal(&conversation.steps[5].command, "\x80", 1));
	second = chat_make(&conversation, NULL, &marks);
	assert_true(json_equal(chat, second));

	assert_true(script_write(file, &conversation, &failure));
	fclose(file);
	if (!read_text(script, &again, &failure))
		WRONG("%s", failure.text);
	third = chat_make(&again, NULL, &marks);
	assert_true(json_equal(chat, third));
	conversation_free(&conversation);
	conversation_free(&again);
	json_decref(chat);
	json_decref(second);
	json_decref(third);
	free(line);
	free(ended);
	free(script);
}

#define CALL(id, name, arguments)                                                           \
	"{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"" id "\",\"type\":\"function\"," \
	"\"function\":{\"name\":\"" name "\",\"arguments\":\"" arguments "\"}}]}"
#define SHELL(id) CALL(id, "shell", "{\\\"command\\\":\\\"ls\\\"}")
#define RESULT(id) "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"r\"}"
#define USER "{\"role\":\"user\",\"content\":\"u\"}"

static void others_chats_are_read(void **state)
{
	struct conversation conversation;
	struct failure failure;
	static const char text[] =
		"{\"messages\":[{\"role\":\"developer\",\"content\":\"be\"},{\"role\":\"user\","
		"\"content\":[{\"type\":\"text\",\"text\":\"a\\nb\"},{\"type\":\"text\",\"text\":\"c\\n\"}]},"
		"{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\","
		"\"function\":{\"name\":\"shell\",\"arguments\":\"{\\\"command\\\": \\\"x\\\"}\"}},"
		"{\"id\":\"2\",\"function\":{\"name\":\"shell\",\"arguments\":\"{\\\"command\\\":\\\"y\\\"}\"}}]},"
		"{\"role\":\"tool\",\"tool_call_id\":\"2\",\"content\":\"Y\"}," RESULT(
			"1") ","
			     "{\"role\":\"assistant\",\"content\":\"it's\"}],\"metadata\":{\"calls\":3}}\n";

	(void)state;
	if (chat_read(text, &conversation, &failure) != 1)
		WRONG("%s", failure.text);
	assert_int_equal(conversation.count, 5);
	assert_true(text_is(&conversation.prompt, "be"));
	assert_true(text_is(&conversation.steps[0].talk[0].text, "a"));
	assert_true(text_is(&conversation.steps[1].output, "bc\n"));
	assert_true(step_listens(&conversation.steps[1]));
	assert_true(text_is(&conversation.steps[2].command, "x"));
	assert_true(text_is(&conversation.steps[2].output, "r"));
	assert_true(text_is(&conversation.steps[3].output, "Y"));
	assert_true(text_is(&conversation.steps[4].command, "assistant_tell 'it'\\''s'"));
	assert_true(step_tells(&conversation.steps[4]));
	conversation_free(&conversation);
}

static void what_is_no_chat_is_refused(void **state)
{
	static const struct {
		const char *messages, *says;
	} rows[] = {
		{ "3", "f:1: message 0: nothing is no role" },
		{ "{\"role\":\"x\"}", "f:1: message 0: x is no role" },
		{ USER ",{\"role\":\"system\",\"content\":\"\"}",
		  "f:1: message 1: only the first" },
		{ "{\"role\":\"user\",\"content\":3}", "f:1: message 0: the content is no text" },
		{ "{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}",
		  "f:1: message 0: part 0" },
		{ "{\"role\":\"assistant\",\"content\":\"a\\u0000\"}",
		  "f:1: message 0: the assistant cannot" },
		{ "{\"role\":\"assistant\",\"function_call\":{}}",
		  "f:1: message 0: function_call" },
		{ "{\"role\":\"assistant\",\"tool_calls\":3}",
		  "f:1: message 0: the tool_calls are no" },
		{ "{\"role\":\"assistant\",\"tool_calls\":[3]}",
		  "f:1: message 0: a call has no id" },
		{ CALL("1", "search", "{}"), "f:1: message 0: a call is of 'search'" },
		{ CALL("1", "shell", "{}"), "f:1: message 0: a call has no arguments" },
		{ CALL("1", "shell", "ls"), "f:1: message 0: a call has no arguments" },
		{ RESULT("1"), "f:1: message 0: it is the result of no call" },
		{ SHELL("1") "," USER, "f:1: message 1: call 1 has no result before it" },
		{ SHELL("1") "," RESULT("1") "," RESULT("1"),
		  "f:1: message 2: it is the result of no" },
	};
	struct conversation conversation;
	struct failure failure;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text;

		assert_true(asprintf(&text, "{\"messages\":[%s]}\n", rows[i].messages) > 0);
		assert_int_equal(chat_read(text, &conversation, &failure), -1);
		if (strncmp(failure.text, rows[i].says, strlen(rows[i].says)) != 0)
			WRONG("'%s' instead of '%s'", failure.text, rows[i].says);
		conversation_free(&conversation);
		free(text);
	}
	assert_int_equal(chat_read("{}\n", &conversation, &failure), -1);
	assert_string_equal(failure.text, "f:1: there is no list of messages");
	conversation_free(&conversation);
	// Cut off behind its last call.
	assert_int_equal(chat_read("{\"messages\":[" SHELL("1") "]}\n", &conversation, &failure),
			 1);
	assert_int_equal(conversation.steps[0].end, STEP_UNKNOWN);
	conversation_free(&conversation);
}

static void grow(struct forest *forest, const char *recording)
{
	struct conversation conversation;
	struct marks marks = { 0 };
	struct failure failure = { 0 };

	read_good(recording, &conversation);
	assert_true(forest_add(forest, &conversation, "en", &marks, &failure));
	conversation_free(&conversation);
}

static const char *get(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static const json_t *reply(const json_t *node, size_t number)
{
	return json_array_get(json_object_get(node, "replies"), number);
}

static void what_begins_alike_shares_a_tree(void **state)
{
	struct forest forest = { 0 };
	const json_t *prompt, *node;

	(void)state;
	grow(&forest, START LISTENED("1", "Hi") RAN("2", "ls\\n-a", "a b") TOLD("3", "A")
			      LISTENED("4", "B") FINISH);
	grow(&forest, START LISTENED("1", "Hi") RAN("2", "ls\\n-a", "a b") TOLD("3", "A")
			      LISTENED("4", "C") FINISH);
	grow(&forest, START LISTENED("1", "Hi") TOLD("2", "No") FINISH);
	grow(&forest, START LISTENED("1", "Hi") TOLD("2", "No") FINISH);
	grow(&forest, START LISTENED("1", "Hi") LISTENED("2", "there") FINISH);
	grow(&forest, START TOLD("1", "Hello") FINISH);

	assert_int_equal(json_array_size(forest.trees), 3);
	prompt = json_object_get(json_array_get(forest.trees, 0), "prompt");
	assert_string_equal(get(prompt, "message_id"),
			    get(json_array_get(forest.trees, 0), "message_tree_id"));
	assert_string_equal(get(prompt, "role"), "prompter");
	assert_string_equal(get(prompt, "text"), "Hi");
	assert_int_equal(json_array_size(json_object_get(prompt, "replies")), 2);
	node = reply(prompt, 0);
	assert_string_equal(get(node, "role"), "assistant");
	assert_string_equal(get(node, "text"), "> ls\n>> -a\na b\n> assistant_tell 'A'");
	assert_string_equal(get(node, "parent_id"), get(prompt, "message_id"));
	assert_true(json_is_true(json_object_get(node, "synthetic")));
	assert_string_equal(get(reply(node, 0), "text"), "B");
	assert_string_equal(get(reply(node, 1), "text"), "C");
	assert_string_equal(get(reply(prompt, 1), "text"), "> assistant_tell 'No'");
	assert_string_equal(get(json_object_get(json_array_get(forest.trees, 1), "prompt"), "text"),
			    "Hi\nthere");
	// The assistant spoke first.
	prompt = json_object_get(json_array_get(forest.trees, 2), "prompt");
	assert_string_equal(get(prompt, "text"), "");
	assert_string_equal(get(reply(prompt, 0), "text"), "> assistant_tell 'Hello'");
	forest_free(&forest);
}

static void what_a_tree_cannot_hold_is_marked(void **state)
{
	struct forest forest = { 0 };
	const json_t *prompt;

	(void)state;
	grow(&forest, START LISTENED("1", "Hi") COMMAND("2", "x=$(assistant_listen)") SAY("there")
			      TELL("x") OUTPUT("2", "y") ENDED("2", "done", "0", "3") FINISH);
	prompt = json_object_get(json_array_get(forest.trees, 0), "prompt");
	assert_string_equal(
		get(reply(prompt, 0), "text"),
		"> x=$(assistant_listen)\ny\n[lodger: 3 bytes more were printed, and not "
		"recorded]\n[lodger: heard: there]\n[lodger: told: x]");
	forest_free(&forest);
}

static void a_tree_is_not_deeper_than_readers_go(void **state)
{
	struct conversation conversation = { 0 };
	struct forest forest = { 0 };
	struct marks marks = { 0 };
	struct failure failure = { 0 };

	(void)state;
	conversation.name = "f";
	assert_false(forest_add(&forest, &conversation, "en", &marks, &failure));
	assert_string_equal(failure.text, "f: there is no command in it, so no message");
	for (size_t i = 0; i < TREE_DEPTH_MAX + 1; i++) {
		struct text command = { 0 }, line = { 0 };
		struct step *step;

		if (i == TREE_DEPTH_MAX) {
			assert_true(forest_add(&forest, &conversation, "en", &marks, &failure));
			assert_int_equal(json_object_size(forest.nodes), TREE_DEPTH_MAX);
		}
		text_string(&command, i % 2 == 0 ? LISTEN_COMMAND : "ls");
		step = conversation_step(&conversation, &command);
		step->end = STEP_DONE;
		text_string(&step->output, "x\n");
		text_string(&line, "x");
		if (i % 2 == 0)
			conversation_talk(&conversation, false, &line);
		text_free(&line);
	}
	assert_false(forest_add(&forest, &conversation, "en", &marks, &failure));
	assert_non_null(strstr(failure.text, "use --format chat"));
	conversation_free(&conversation);
	forest_free(&forest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_is_read),
		cmocka_unit_test(what_is_no_recording_is_refused_with_its_line),
		cmocka_unit_test(a_line_has_a_bound),
		cmocka_unit_test(tells_are_told_from_commands),
		cmocka_unit_test(chats_have_messages_and_calls),
		cmocka_unit_test(what_a_chat_cannot_hold_is_marked),
		cmocka_unit_test(nothing_is_lost_on_the_way),
		cmocka_unit_test(others_chats_are_read),
		cmocka_unit_test(what_is_no_chat_is_refused),
		cmocka_unit_test(what_begins_alike_shares_a_tree),
		cmocka_unit_test(what_a_tree_cannot_hold_is_marked),
		cmocka_unit_test(a_tree_is_not_deeper_than_readers_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
