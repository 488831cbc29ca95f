// Asking a language model, over the HTTP API that OpenAI has made common and that llama.cpp, ollama,
// vLLM and others speak: /chat/completions and /completions, streamed. Runs as the caller. The server
// is trusted with the key and what it is sent, and with nothing else: it cannot lead elsewhere, and
// what it answers is bounded in size and time.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chat_answer.h"
#include "failure.h"

// All of it lives as long as what is made from it.
struct chat_options {
	const char *url;	   // "http://127.0.0.1:8080/v1"; without a path, /v1 is added
	const char *model;	   // NULL: the server's own choice
	const char *key_file;	   // where the key is, or NULL
	const char *key_env;	   // the variable that it is in, or NULL
	uint64_t max_tokens;	   // of one answer; 0: the server's own choice
	const volatile bool *stop; // ends a wait once it is true; or NULL
	int deadline;		   // a timerfd(2) that can be read once all time is over, or -1
};

struct chat;

// NULL with `failure`.
struct chat *chat_open(const struct chat_options *options, struct failure *failure);
void chat_close(struct chat *chat);

// Asks for the answer to `request`, {"messages": […]} or {"prompt": …}, to which the model's name and
// the like are added; it stays the caller's. Gives `take` the text as it comes, and ends the server's
// work when that wants no more. Says in *finish why the text ended, and in *reason the server's own
// word for it (valid until the next call). False, with `failure`: no answer, or one that is wrong, or
// cut off; with EXIT_TIMEOUT when the time was over.
bool chat_ask(struct chat *chat, json_t *request, chat_take *take, void *context,
	      enum chat_finish *finish, const char **reason, struct failure *failure);
