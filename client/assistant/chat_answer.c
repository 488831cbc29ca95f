// What a model's server answers (chat_answer.h). Runs as the caller; nothing in here touches the
// network.
#include "chat_answer.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

// The wire has some hundred bytes around each token.
#define WIRE_GROWTH 256U
#define WIRE_LEAST ((size_t)1 << 16)
#define ERROR_MAX ((size_t)1 << 14)
#define STATUS_GOOD 200

void answer_start(struct chat_answer *answer, size_t most, chat_take *take, void *context,
		  struct failure *failure)
{
	*answer = (struct chat_answer){
		.take = take, .context = context, .failure = failure, .most = most
	};
	sse_start(&answer->sse);
}

void answer_free(struct chat_answer *answer)
{
	sse_free(&answer->sse);
	free(answer->body.data);
	answer->body = (struct sse_text){ 0 };
}

#define FAIL(answer, ...) \
	((answer)->failed = true, fail((answer)->failure, "the model's server " __VA_ARGS__))

static bool type_is(const char *type, const char *wanted)
{
	const size_t length = strlen(wanted);

	return type && strncasecmp(type, wanted, length) == 0 &&
	       (type[length] == '\0' || type[length] == ';' || type[length] == ' ');
}

bool answer_begin(struct chat_answer *answer, long status, const char *type)
{
	if (status != STATUS_GOOD)
		answer->form = ANSWER_ERROR;
	else if (type_is(type, "text/event-stream"))
		answer->form = ANSWER_EVENTS;
	else if (type_is(type, "application/json"))
		answer->form = ANSWER_DOCUMENT;
	else
		return FAIL(answer,
			    "answered with %.100s, not with events or JSON; is the URL that of its "
			    "API, which mostly ends in /v1?",
			    type ? type : "no content type");
	return true;
}

// Says what stands in {"error": …}. False: there is none.
static bool error_words(const json_t *document, char *text, size_t size)
{
	const json_t *error = json_object_get(document, "error");
	const char *words;

	if (!error || json_is_null(error)) {
		words = json_string_value(json_object_get(document, "detail"));
		if (!words)
			words = json_string_value(json_object_get(document, "message"));
	} else {
		words = json_string_value(error);
		if (!words)
			words = json_string_value(json_object_get(error, "message"));
		if (!words)
			words = "an error that it has no words for";
	}
	if (!words)
		return false;
	snprintf(text, size, "%s", words);
	return true;
}

void answer_error(const struct chat_answer *answer, char *text, size_t size)
{
	json_t *document =
		json_loadb(answer->body.data ? answer->body.data : "", answer->body.size, 0, NULL);

	text[0] = '\0';
	if (document)
		error_words(document, text, size);
	if (text[0] == '\0' && answer->body.size > 0)
		snprintf(text, size, "%.*s", (int)answer->body.size, answer->body.data);
	if (text[0] == '\0')
		snprintf(text, size, "without a word");
	json_decref(document);
}

static bool text_take(struct chat_answer *answer, const char *text, size_t size)
{
	if (size == 0)
		return true;
	if (size > answer->most - answer->text)
		return FAIL(answer, "sent more than %zu bytes of text in one answer", answer->most);
	answer->text += size;
	if (answer->take(answer->context, text, size))
		return true;
	answer->finish = CHAT_ENOUGH;
	answer->done = true;
	return false;
}

static void finish_take(struct chat_answer *answer, const char *reason)
{
	snprintf(answer->reason, sizeof(answer->reason), "%s", reason);
	if (strcmp(reason, "stop") == 0 || strcmp(reason, "eos") == 0)
		answer->finish = CHAT_STOP;
	else
		answer->finish = strcmp(reason, "length") == 0 ? CHAT_LENGTH : CHAT_OTHER;
}

// The text of a choice: in a stream {"delta": {"content": …}}, in one document {"message":
// {"content": …}}, of /completions {"text": …}.
static const json_t *choice_text(const json_t *choice)
{
	const json_t *text = json_object_get(json_object_get(choice, "delta"), "content");

	if (!text)
		text = json_object_get(json_object_get(choice, "message"), "content");
	return text ? text : json_object_get(choice, "text");
}

static bool document_take(struct chat_answer *answer, const char *data, size_t size)
{
	char words[512];
	json_error_t error;
	json_t *document = json_loadb(data, size, 0, &error);
	const json_t *choice = json_array_get(json_object_get(document, "choices"), 0);
	const json_t *text = choice_text(choice);
	const char *reason = json_string_value(json_object_get(choice, "finish_reason"));
	bool more = true;

	if (!document)
		more = FAIL(answer, "sent what is not JSON (%s): %.*s", error.text,
			    (int)(size < 200 ? size : 200), data);
	else if (!choice && error_words(document, words, sizeof(words)))
		more = FAIL(answer, "says: %s", words);
	else if (text && !json_is_string(text) && !json_is_null(text))
		more = FAIL(answer, "sent a text that is no string");
	else if (text && !json_is_null(text))
		more = text_take(answer, json_string_value(text), json_string_length(text));
	if (more && reason)
		finish_take(answer, reason);
	json_decref(document);
	return more;
}

static bool event_take(void *context, const char *data, size_t size)
{
	struct chat_answer *answer = context;

	if (strcmp(data, "[DONE]") == 0) {
		answer->done = true;
		return false;
	}
	return document_take(answer, data, size);
}

static bool body_keep(struct chat_answer *answer, const char *data, size_t size)
{
	struct sse_text *body = &answer->body;

	if (answer->form == ANSWER_ERROR && size > ERROR_MAX - body->size)
		size = ERROR_MAX - body->size;
	if (body->size + size > body->room) {
		char *grown = realloc(body->data, 2 * (body->size + size));

		if (!grown)
			return FAIL(answer, "is not understood: out of memory");
		body->data = grown;
		body->room = 2 * (body->size + size);
	}
	if (size > 0)
		memcpy(body->data + body->size, data, size);
	body->size += size;
	// The beginning of an error is enough.
	return answer->form != ANSWER_ERROR || body->size < ERROR_MAX;
}

bool answer_read(struct chat_answer *answer, const char *data, size_t size)
{
	if (answer->failed || answer->done)
		return false;
	answer->wire += size;
	if (answer->wire / WIRE_GROWTH > answer->most && answer->wire > WIRE_LEAST)
		return FAIL(answer, "sent %zu bytes and hardly any text", answer->wire);
	if (answer->form != ANSWER_EVENTS)
		return body_keep(answer, data, size);
	switch (sse_read(&answer->sse, data, size, event_take, answer)) {
	case SSE_READ:
		return true;
	case SSE_TOO_LONG:
		return FAIL(answer, "sent an event of more than %zu bytes", SSE_EVENT_MAX);
	case SSE_NO_MEMORY:
		return FAIL(answer, "is not understood: out of memory");
	case SSE_STOPPED:
		break;
	}
	return false;
}

bool answer_end(struct chat_answer *answer)
{
	if (answer->failed)
		return false;
	if (answer->form == ANSWER_ERROR)
		return true;
	if (answer->form == ANSWER_DOCUMENT && !answer->done) {
		document_take(answer, answer->body.data ? answer->body.data : "",
			      answer->body.size);
		if (answer->failed)
			return false;
		answer->done = true;
	}
	// Some servers end their stream with the reason alone.
	if (answer->finish == CHAT_NONE && !answer->done)
		return FAIL(answer, "broke off its answer after %zu bytes of text", answer->text);
	if (answer->finish == CHAT_NONE)
		answer->finish = CHAT_STOP;
	return true;
}
