// What a model's server answers (client/assistant/sse.h, chat_answer.h), and keys (chat_key.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#undef fail // the client has a function of that name

#include "chat_answer.h"
#include "chat_key.h"

#define EVENTS "text/event-stream; charset=utf-8"
#define DELTA(text) "data: {\"choices\":[{\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define STOP "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define DONE "data: [DONE]\n\n"
#define MOST 100U

static char got[4096];
static size_t enough; // how many bytes of text are wanted
static struct failure failure;
static struct chat_answer answer;

static bool event_note(void *context, const char *data, size_t size)
{
	(void)context;
	assert_int_equal(strlen(data), size);
	strcat(strcat(strcat(got, "<"), data), ">");
	return strcmp(data, "end") != 0;
}

static enum sse_result events_of(const char *text, size_t step)
{
	enum sse_result result = SSE_READ;
	struct sse sse;

	got[0] = '\0';
	sse_start(&sse);
	for (size_t left = strlen(text); left > 0 && result == SSE_READ; left -= step) {
		step = step < left ? step : left;
		result = sse_read(&sse, text, step, event_note, NULL);
		text += step;
	}
	sse_free(&sse);
	return result;
}

static void assert_events(const char *text, const char *expected)
{
	for (size_t step = 1; step <= strlen(text); step++) {
		assert_int_equal(events_of(text, step), SSE_READ);
		assert_string_equal(got, expected);
	}
}

static void events_are_read_in_any_steps(void **state)
{
	(void)state;
	assert_events("data: a\n\ndata:b\n\n", "<a><b>");
	assert_events("\xef\xbb\xbf"
		      "data: a\r\n\r\ndata: b\r\rdata:  c\n\n",
		      "<a><b>< c>");
	assert_events("data: a\ndata\ndata: b\n\n", "<a\n\nb>");
	assert_events(": hello\nevent: x\nid: 1\ndatax: y\ndata: a\n\n\n\nretry: 1\n\n", "<a>");
	// What has no end was not said.
	assert_events("data: a\n\ndata: b\n", "<a>");
	assert_int_equal(events_of("data: end\n\ndata: a\n\n", 3), SSE_STOPPED);
	assert_string_equal(got, "<end>");
}

static void events_are_bounded(void **state)
{
	struct sse sse;
	enum sse_result result = SSE_READ;
	char line[1000];

	(void)state;
	memset(line, 'x', sizeof(line));
	sse_start(&sse);
	for (size_t i = 0; i <= SSE_EVENT_MAX; i += sizeof(line))
		result = sse_read(&sse, line, sizeof(line), event_note, NULL);
	assert_int_equal(result, SSE_TOO_LONG);
	sse_free(&sse);
	memcpy(line, "data:", 5);
	line[sizeof(line) - 1] = '\n';
	sse_start(&sse);
	for (size_t i = 0; i <= SSE_EVENT_MAX + SSE_EVENT_MAX / 100; i += sizeof(line))
		result = sse_read(&sse, line, sizeof(line), event_note, NULL);
	assert_int_equal(result, SSE_TOO_LONG);
	sse_free(&sse);
}

static bool text_note(void *context, const char *text, size_t size)
{
	assert_ptr_equal(context, &answer);
	strncat(got, text, size);
	return strlen(got) < enough;
}

// Reads an answer in steps of `step`. Returns whether it is a good one.
static bool answer_of(long status, const char *type, const char *text, size_t step)
{
	got[0] = '\0';
	failure = (struct failure){ 0 };
	answer_start(&answer, MOST, text_note, &answer, &failure);
	bool more = answer_begin(&answer, status, type);
	for (size_t left = strlen(text); left > 0 && more; left -= step) {
		step = step < left ? step : left;
		more = answer_read(&answer, text, step);
		text += step;
	}
	const bool good = answer_end(&answer);
	answer_free(&answer);
	assert_int_equal(good, failure.text[0] == '\0');
	return good;
}

static void assert_answer(const char *type, const char *text, const char *expected,
			  enum chat_finish finish)
{
	for (size_t step = 1; step <= strlen(text); step += 3) {
		assert_true(answer_of(200, type, text, step));
		assert_string_equal(got, expected);
		assert_int_equal(answer.finish, finish);
	}
}

static void assert_bad(const char *type, const char *text, const char *why)
{
	assert_false(answer_of(200, type, text, 7));
	if (!strstr(failure.text, why))
		assert_string_equal(failure.text, why);
}

static void good_answers(void **state)
{
	(void)state;
	enough = SIZE_MAX;
	assert_answer(EVENTS, DELTA("a") DELTA("") DELTA("\\u00e9\\n") STOP DONE "rest",
		      "a\xc3\xa9\n", CHAT_STOP);
	assert_answer(EVENTS, DELTA("a") STOP, "a", CHAT_STOP);
	assert_answer(EVENTS, DELTA("a") DONE, "a", CHAT_STOP);
	assert_answer(EVENTS,
		      "data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":null}]}\n\n"
		      "data: {\"choices\":[{\"text\":\"b\",\"finish_reason\":\"length\"}]}\n\n"
		      "data: {\"choices\":[],\"usage\":{}}\n\n",
		      "ab", CHAT_LENGTH);
	assert_answer(
		EVENTS,
		"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n"
		"data: {\"choices\":[{\"delta\":{\"reasoning\":\"x\"},\"finish_reason\":\"tool_calls\"}]}\n\n",
		"", CHAT_OTHER);
	assert_string_equal(answer.reason, "tool_calls");
	assert_answer(
		"application/json",
		"{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}", "a",
		CHAT_STOP);
	enough = 2;
	assert_answer(EVENTS, DELTA("a") DELTA("b") DELTA("c"), "ab", CHAT_ENOUGH);
}

static void bad_answers(void **state)
{
	(void)state;
	enough = SIZE_MAX;
	assert_bad(EVENTS, DELTA("abc"), "broke off its answer after 3 bytes");
	assert_bad(EVENTS, "", "broke off its answer after 0 bytes");
	assert_bad(EVENTS, "data: {\"choices\":[{\"del\n\n", "not JSON");
	assert_bad(EVENTS, "data: \xff\xfe{}\n\n", "not JSON");
	assert_bad(EVENTS, DELTA("a\\u0000b"), "not JSON");
	assert_bad(EVENTS, "data: {\"choices\":[{\"text\":[1]}]}\n\n", "no string");
	assert_bad(EVENTS, DELTA("a") "data: {\"error\":{\"message\":\"no\\u001b[2J\"}}\n\n",
		   "says: no\x1b[2J");
	assert_bad("application/json", "{\"error\":\"no more\"}", "says: no more");
	assert_bad("application/json", "{", "not JSON");
	assert_bad("text/html", "<html>", "answered with text/html");
	assert_bad(NULL, "x", "no content type");
	// One byte more than is taken, in one piece and in two.
	assert_bad(EVENTS,
		   DELTA("0123456789012345678901234567890123456789012345678901234567890123456789"
			 "0123456789012345678901234567890") STOP,
		   "more than 100 bytes");
	assert_bad(EVENTS,
		   DELTA("a") DELTA("0123456789012345678901234567890123456789012345678901234567890"
				    "123456789012345678901234567890123456789") STOP,
		   "more than 100 bytes");
	assert_string_equal(got, "a");
}

static void wire_without_text_is_bounded(void **state)
{
	bool more = true;

	(void)state;
	got[0] = '\0';
	answer_start(&answer, MOST, text_note, &answer, &failure);
	assert_true(answer_begin(&answer, 200, EVENTS));
	for (int i = 0; i < 100000 && more; i++)
		more = answer_read(&answer, ": still here\n", 13);
	assert_false(more);
	assert_false(answer_end(&answer));
	assert_non_null(strstr(failure.text, "hardly any text"));
	answer_free(&answer);
}

static void assert_error(const char *body, const char *expected)
{
	char text[64];

	failure = (struct failure){ 0 };
	answer_start(&answer, MOST, text_note, &answer, &failure);
	assert_true(answer_begin(&answer, 429, "text/html"));
	answer_read(&answer, body, strlen(body));
	assert_true(answer_end(&answer));
	answer_error(&answer, text, sizeof(text));
	assert_string_equal(text, expected);
	answer_free(&answer);
}

static void errors_have_words(void **state)
{
	(void)state;
	assert_error("{\"error\":{\"message\":\"slow down\",\"code\":1}}", "slow down");
	assert_error("{\"error\":\"slow down\"}", "slow down");
	assert_error("{\"detail\":\"slow down\"}", "slow down");
	assert_error("{\"error\":{\"code\":1}}", "an error that it has no words for");
	assert_error("Bad Gateway", "Bad Gateway");
	assert_error("", "without a word");
}

static void keys_are_read_and_hidden(void **state)
{
	char key[CHAT_KEY_SIZE], path[] = "/tmp/lodger-unit-XXXXXX", text[] = "a sk-1 is sk-1";
	const int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, " sk-1\r\n", 7), 7);
	assert_true(chat_key_read(path, NULL, key, &failure));
	assert_string_equal(key, "sk-1");
	chat_key_hide(key, text);
	assert_string_equal(text, "a **** is ****");
	assert_int_equal(write(fd, "secret", 6), 6);
	assert_false(chat_key_read(path, NULL, key, &failure));
	assert_null(strstr(failure.text, "secret"));
	assert_int_equal(ftruncate(fd, 2), 0);
	assert_int_equal(pwrite(fd, "\n\n", 2, 0), 2);
	assert_false(chat_key_read(path, NULL, key, &failure));
	assert_int_equal(ftruncate(fd, CHAT_KEY_SIZE), 0);
	assert_false(chat_key_read(path, NULL, key, &failure));
	unlink(path);
	close(fd);
	assert_false(chat_key_read(path, NULL, key, &failure));

	assert_true(chat_key_read(NULL, NULL, key, &failure));
	assert_string_equal(key, "");
	setenv("LODGER_UNIT_KEY", "sk-2", 1);
	assert_true(chat_key_read(NULL, "LODGER_UNIT_KEY", key, &failure));
	assert_string_equal(key, "sk-2");
	assert_null(getenv("LODGER_UNIT_KEY"));
	assert_false(chat_key_read(NULL, "LODGER_UNIT_KEY", key, &failure));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_read_in_any_steps),
		cmocka_unit_test(events_are_bounded),
		cmocka_unit_test(good_answers),
		cmocka_unit_test(bad_answers),
		cmocka_unit_test(wire_without_text_is_bounded),
		cmocka_unit_test(errors_have_words),
		cmocka_unit_test(keys_are_read_and_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
