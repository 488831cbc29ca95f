// What a model's server answers (the API that OpenAI has made common): text out of a stream of events
// or of one JSON document, or an error. Pure but for memory; everything is taken for hostile: it is
// bounded and checked.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "failure.h"
#include "sse.h"

// Takes a piece of the model's text: UTF-8, without a NUL. Returns false to have no more of it.
typedef bool chat_take(void *context, const char *text, size_t size);

enum chat_finish {
	CHAT_NONE,   // not finished
	CHAT_STOP,   // the model is done
	CHAT_LENGTH, // at its limit of tokens
	CHAT_ENOUGH, // the taker wanted no more
	CHAT_OTHER,  // some other reason of the server's: `reason`
};

enum answer_form {
	ANSWER_UNKNOWN,
	ANSWER_EVENTS,
	ANSWER_DOCUMENT,
	ANSWER_ERROR, // of a bad status: what is kept of it may be JSON
};

struct chat_answer {
	chat_take *take;
	void *context;
	struct failure *failure;
	size_t most; // bytes of text

	enum answer_form form;
	struct sse sse;
	struct sse_text body; // of a document or an error
	size_t wire, text;    // bytes that came, bytes of text in them
	enum chat_finish finish;
	char reason[64];
	bool done;   // the server said that this is all
	bool failed; // `failure` says why
};

// Begins an answer of `most` bytes of text.
void answer_start(struct chat_answer *answer, size_t most, chat_take *take, void *context,
		  struct failure *failure);

// Says what is coming, by HTTP's status and content type (NULL: none was given). False: `failed`.
bool answer_begin(struct chat_answer *answer, long status, const char *type);

// Takes what came. False: no more is wanted, or `failed`.
bool answer_read(struct chat_answer *answer, const char *data, size_t size);

// All came that will come. False: `failed`; cut off is a failure too, a bad status is not.
bool answer_end(struct chat_answer *answer);

// The words of an error, of a server that answered with a bad status.
void answer_error(const struct chat_answer *answer, char *text, size_t size);

void answer_free(struct chat_answer *answer);
