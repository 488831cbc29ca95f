// Asking a language model (chat.h), with libcurl. Runs as the caller.
#include "chat.h"

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "chat_key.h"
#include "cleanup.h"

#define CONNECT_SECONDS 15L
// A model may think for long before its first word.
#define IDLE_SECONDS 300L
#define ANSWER_MOST ((size_t)1 << 20)
#define HEADERS_MOST ((size_t)1 << 16)
// How often a busy server is asked, and how long it may have one wait between.
#define TRIES 5U
#define WAIT_FIRST_MS 500U
#define WAIT_MOST_SECONDS 60
#define STATUS_UNAUTHORIZED 401
#define STATUS_FORBIDDEN 403
#define STATUS_NOT_FOUND 404
#define STATUS_TOO_MANY 429

struct chat {
	struct chat_options options;
	CURL *curl;
	struct curl_slist *headers;
	char *base; // without a slash at its end
	char key[CHAT_KEY_SIZE];
	struct chat_answer answer;
	size_t header_bytes;
	bool begun;
};

static bool time_over(const struct chat *chat)
{
	struct pollfd deadline = { .fd = chat->options.deadline, .events = POLLIN };

	return deadline.fd >= 0 && poll(&deadline, 1, 0) == 1;
}

static bool stopped(const struct chat *chat)
{
	return (chat->options.stop && *chat->options.stop) || time_over(chat);
}

static bool fail_stopped(const struct chat *chat, struct failure *failure)
{
	if (time_over(chat))
		return fail_with(failure, EXIT_TIMEOUT,
				 "the time was over before the model's answer");
	return fail(failure, "interrupted while waiting for the model's answer");
}

// What libcurl calls ------------------------------------------------------------------------------

static size_t body_take(char *data, size_t one, size_t size, void *context)
{
	struct chat *chat = context;
	const char *type = NULL;
	long status = 0;

	(void)one;
	if (!chat->begun) {
		chat->begun = true;
		curl_easy_getinfo(chat->curl, CURLINFO_RESPONSE_CODE, &status);
		curl_easy_getinfo(chat->curl, CURLINFO_CONTENT_TYPE, &type);
		if (!answer_begin(&chat->answer, status, type))
			return 0;
	}
	// Anything but `size` ends the transfer.
	return answer_read(&chat->answer, data, size) ? size : 0;
}

static size_t header_take(char *data, size_t one, size_t size, void *context)
{
	struct chat *chat = context;

	(void)data;
	(void)one;
	chat->header_bytes += size;
	return chat->header_bytes <= HEADERS_MOST ? size : 0;
}

static int progress(void *context, curl_off_t down_all, curl_off_t down, curl_off_t up_all,
		    curl_off_t up)
{
	(void)down_all;
	(void)down;
	(void)up_all;
	(void)up;
	return stopped(context) ? 1 : 0;
}

// Where it is -------------------------------------------------------------------------------------

static bool url_part(CURLU *url, CURLUPart part, char **text)
{
	return curl_url_get(url, part, text, 0) == CURLUE_OK;
}

static bool host_is_here(const char *host)
{
	return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
	       strncmp(host, "127.", 4) == 0;
}

// Takes a URL apart and makes chat->base of it. Says in *here whether it is on this machine, in
// *clear whether all that is sent can be read on the way.
static bool base_make(struct chat *chat, CURLU *url, bool *here, bool *clear,
		      struct failure *failure)
{
	char *scheme = NULL, *host = NULL, *path = NULL, *other = NULL;
	bool good = false;
	size_t length;

	if (curl_url_set(url, CURLUPART_URL, chat->options.url, 0) != CURLUE_OK ||
	    !url_part(url, CURLUPART_SCHEME, &scheme) || !url_part(url, CURLUPART_HOST, &host) ||
	    !url_part(url, CURLUPART_PATH, &path) ||
	    (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)) {
		fail(failure, "--api: '%s' is no http:// or https:// URL", chat->options.url);
	} else if (url_part(url, CURLUPART_USER, &other) ||
		   url_part(url, CURLUPART_PASSWORD, &other)) {
		fail(failure, "--api: the URL has a user or password in it, which others can see; "
			      "--key-file and --key-env take a key");
	} else if (url_part(url, CURLUPART_QUERY, &other) ||
		   url_part(url, CURLUPART_FRAGMENT, &other)) {
		fail(failure, "--api: the URL has something behind a '?' or '#', where the API's "
			      "paths are to be added");
	} else {
		length = strlen(chat->options.url);
		while (length > 0 && chat->options.url[length - 1] == '/')
			length--;
		good = asprintf(&chat->base, "%.*s%s", (int)length, chat->options.url,
				strcmp(path, "/") == 0 ? "/v1" : "") >= 0;
		if (!good) {
			chat->base = NULL;
			fail(failure, "--api: out of memory");
		}
		*here = host_is_here(host);
		*clear = strcmp(scheme, "http") == 0;
	}
	curl_free(scheme);
	curl_free(host);
	curl_free(path);
	curl_free(other);
	return good;
}

static bool header_add(struct chat *chat, const char *header)
{
	struct curl_slist *longer = curl_slist_append(chat->headers, header);

	if (longer)
		chat->headers = longer;
	return longer != NULL;
}

static bool headers_make(struct chat *chat, struct failure *failure)
{
	char authorization[CHAT_KEY_SIZE + 32];

	snprintf(authorization, sizeof(authorization), "Authorization: Bearer %s", chat->key);
	const bool made =
		header_add(chat, "Content-Type: application/json") &&
		header_add(chat, "Accept: text/event-stream, application/json") &&
		// No question whether the request is welcome: some servers never answer it.
		header_add(chat, "Expect:") &&
		(chat->key[0] == '\0' || header_add(chat, authorization));

	explicit_bzero(authorization, sizeof(authorization));
	return made || fail(failure, "--api: out of memory");
}

static bool curl_prepare(struct chat *chat, bool here, struct failure *failure)
{
	CURL *curl = chat->curl;
	bool good = true;

#define SET(option, value) (good = good && curl_easy_setopt(curl, option, value) == CURLE_OK)
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	// An answer that leads elsewhere would have the key go there too.
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_HTTPHEADER, chat->headers);
	SET(CURLOPT_USERAGENT, "lodger/" LODGER_VERSION);
	SET(CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
	SET(CURLOPT_LOW_SPEED_TIME, IDLE_SECONDS);
	SET(CURLOPT_WRITEFUNCTION, body_take);
	SET(CURLOPT_WRITEDATA, chat);
	SET(CURLOPT_HEADERFUNCTION, header_take);
	SET(CURLOPT_HEADERDATA, chat);
	SET(CURLOPT_NOPROGRESS, 0L);
	SET(CURLOPT_XFERINFOFUNCTION, progress);
	SET(CURLOPT_XFERINFODATA, chat);
	// No proxy has anything to do with what is on this machine.
	if (here)
		SET(CURLOPT_PROXY, "");
#undef SET
	return good || fail(failure, "--api: libcurl does not take what it is asked for");
}

struct chat *chat_open(const struct chat_options *options, struct failure *failure)
{
	struct chat *chat = calloc(1, sizeof(*chat));
	CURLU *url = NULL;
	bool here = false, clear = false;

	if (!chat || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(url = curl_url())) {
		free(chat);
		fail(failure, "--api: out of memory");
		return NULL;
	}
	chat->options = *options;
	if (options->key_file && options->key_env) {
		fail(failure, "--key-file and --key-env are one too many");
		free(chat);
		curl_url_cleanup(url);
		return NULL;
	}
	chat->curl = curl_easy_init();
	if (!chat->curl || !base_make(chat, url, &here, &clear, failure) ||
	    !chat_key_read(options->key_file, options->key_env, chat->key, failure) ||
	    !headers_make(chat, failure) || !curl_prepare(chat, here, failure)) {
		if (!chat->curl)
			fail(failure, "--api: out of memory");
		chat_close(chat);
		chat = NULL;
	} else if (chat->key[0] && clear && !here) {
		notice("the API's key goes over the network unencrypted: %s", options->url);
	}
	curl_url_cleanup(url);
	return chat;
}

void chat_close(struct chat *chat)
{
	if (!chat)
		return;
	curl_easy_cleanup(chat->curl);
	for (struct curl_slist *header = chat->headers; header; header = header->next)
		explicit_bzero(header->data, strlen(header->data));
	curl_slist_free_all(chat->headers);
	answer_free(&chat->answer);
	free(chat->base);
	explicit_bzero(chat->key, sizeof(chat->key));
	free(chat);
}

// One request --------------------------------------------------------------------------------------

static bool fail_status(const struct chat *chat, long status, struct failure *failure)
{
	char words[512];
	char *location = NULL;

	answer_error(&chat->answer, words, sizeof(words));
	curl_easy_getinfo(chat->curl, CURLINFO_REDIRECT_URL, &location);
	if (location)
		return fail(failure,
			    "asking %s: it leads to %.300s, where nothing is sent; give "
			    "--api that URL if it is right",
			    chat->base, location);
	return fail(failure, "asking %s: status %ld: %s%s", chat->base, status, words,
		    status == STATUS_UNAUTHORIZED || status == STATUS_FORBIDDEN
			    ? "; --key-file or --key-env gives the API's key"
		    : status == STATUS_NOT_FOUND
			    ? "; is --model one of the server's, and does --api end in /v1?"
			    : "");
}

static bool worth_another(long status)
{
	// Too many requests, and three ways to say that there is nobody at the moment.
	return status == STATUS_TOO_MANY || status == 502 || status == 503 || status == 504;
}

// Waits as long as the server says, or longer each time. False: `failure`.
static bool wait_for_more(struct chat *chat, unsigned int tried, struct failure *failure)
{
	curl_off_t seconds = 0;
	uint64_t left = (uint64_t)WAIT_FIRST_MS << tried;

	curl_easy_getinfo(chat->curl, CURLINFO_RETRY_AFTER, &seconds);
	if (seconds > WAIT_MOST_SECONDS)
		return fail(failure,
			    "asking %s: it is busy, and wants to be asked again in %lld "
			    "seconds; that is too long",
			    chat->base, (long long)seconds);
	if (seconds > 0)
		left = (uint64_t)seconds * 1000;
	while (left > 0) {
		const uint64_t slice = left < 100 ? left : 100;
		const struct timespec pause = { .tv_nsec = (long)slice * 1000000 };

		if (stopped(chat))
			return fail_stopped(chat, failure);
		nanosleep(&pause, NULL);
		left -= slice;
	}
	return true;
}

// Sends the request once and takes the answer. False, with `failure`; *again: it may be asked again.
static bool ask_once(struct chat *chat, bool *again, struct failure *failure)
{
	char errors[CURL_ERROR_SIZE] = "";
	long status = 0;

	*again = chat->begun = false;
	chat->header_bytes = 0;
	curl_easy_setopt(chat->curl, CURLOPT_ERRORBUFFER, errors);
	const CURLcode code = curl_easy_perform(chat->curl);
	curl_easy_setopt(chat->curl, CURLOPT_ERRORBUFFER, NULL);
	curl_easy_getinfo(chat->curl, CURLINFO_RESPONSE_CODE, &status);

	if (code == CURLE_ABORTED_BY_CALLBACK)
		return fail_stopped(chat, failure);
	if (chat->answer.failed)
		return false;
	if (chat->header_bytes > HEADERS_MOST)
		return fail(failure, "asking %s: more than %zu bytes of headers", chat->base,
			    HEADERS_MOST);
	// An end of our own making is none of libcurl's errors.
	if (code == CURLE_OPERATION_TIMEDOUT && chat->begun)
		return fail(failure, "asking %s: nothing came for %ld seconds", chat->base,
			    IDLE_SECONDS);
	if (code != CURLE_OK && code != CURLE_WRITE_ERROR && !chat->answer.done &&
	    chat->answer.wire == 0)
		return fail(failure, "asking %s: %s; is the server running, and --api right?",
			    chat->base, errors[0] ? errors : curl_easy_strerror(code));
	if (!chat->begun && !answer_begin(&chat->answer, status, NULL))
		return false;
	if (chat->answer.form == ANSWER_ERROR) {
		*again = worth_another(status);
		return fail_status(chat, status, failure);
	}
	return answer_end(&chat->answer);
}

static bool request_prepare(struct chat *chat, json_t *request, char **body, char **url)
{
	const bool messages = json_object_get(request, "messages") != NULL;
	const struct chat_options *options = &chat->options;

	if (json_object_set_new(request, "stream", json_true()) < 0 ||
	    (options->model &&
	     json_object_set_new(request, "model", json_string(options->model)) < 0) ||
	    (options->max_tokens > 0 &&
	     json_object_set_new(request, "max_tokens",
				 json_integer((json_int_t)options->max_tokens)) < 0))
		return false;
	*body = json_dumps(request, JSON_COMPACT);
	if (asprintf(url, "%s%s", chat->base, messages ? "/chat/completions" : "/completions") < 0)
		*url = NULL;
	return *body && *url && curl_easy_setopt(chat->curl, CURLOPT_URL, *url) == CURLE_OK &&
	       curl_easy_setopt(chat->curl, CURLOPT_POSTFIELDSIZE_LARGE,
				(curl_off_t)strlen(*body)) == CURLE_OK &&
	       curl_easy_setopt(chat->curl, CURLOPT_POSTFIELDS, *body) == CURLE_OK;
}

bool chat_ask(struct chat *chat, json_t *request, chat_take *take, void *context,
	      enum chat_finish *finish, const char **reason, struct failure *failure)
{
	autofree char *body = NULL;
	autofree char *url = NULL;
	bool again = true, good = false;

	if (!request_prepare(chat, request, &body, &url))
		return fail(failure, "asking %s: out of memory, or what is said is not UTF-8",
			    chat->base);
	for (unsigned int tried = 0; !good && again; tried++) {
		answer_free(&chat->answer);
		answer_start(&chat->answer, ANSWER_MOST, take, context, failure);
		good = ask_once(chat, &again, failure);
		again = again && tried + 1 < TRIES;
		if (!good && again && !wait_for_more(chat, tried, failure))
			again = false;
	}
	// The request's memory ends here, and libcurl has not copied it.
	curl_easy_setopt(chat->curl, CURLOPT_POSTFIELDS, NULL);
	*finish = chat->answer.finish;
	*reason = chat->answer.reason;
	// A server can say what it was told.
	chat_key_hide(chat->key, failure->text);
	return good;
}
