// Recordings (record.h). Runs as the caller. What a session printed is kept byte for byte, and is nobody's
// to obey: events are ASCII, and whoever shows a terminal.cast has asked for it.
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cleanup.h"
#include "export_text.h"
#include "json_output.h"

#define MICROSECONDS 1e6
// The bytes of the longest character, but for its last.
#define CHARACTER_KEPT 3U

struct recorder {
	FILE *events, *transcript, *cast;
	double started; // of the clock that only goes forwards
	json_int_t id;
	struct text output;
	struct text split; // the beginning of a character, for the cast
	bool line_open;	   // the transcript's last line has no end
	bool lost;
};

static double clock_read(clockid_t which)
{
	struct timespec now;

	clock_gettime(which, &now);
	return (double)now.tv_sec + (double)(now.tv_nsec / 1000) / MICROSECONDS;
}

// Gives `value` back.
static void line_put(struct recorder *recorder, FILE *file, json_t *value)
{
	autofree char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENSURE_ASCII |
								JSON_REAL_PRECISION(16))
				    : NULL;

	json_decref(value);
	if (!text || fprintf(file, "%s\n", text) < 0 || fflush(file) != 0)
		recorder->lost = true;
}

static json_t *event_make(const char *name)
{
	json_t *event = json_object();

	json_object_set_new(event, "event", json_string(name));
	json_object_set_new(event, "time", json_real(clock_read(CLOCK_REALTIME)));
	return event;
}

// As "text", or in "base64" when it is no UTF-8.
static void bytes_put(json_t *event, const char *data, size_t size)
{
	json_t *text = json_stringn(size > 0 ? data : "", size);
	struct text from = { 0 }, base64 = { 0 };

	if (text) {
		json_object_set_new(event, "text", text);
		return;
	}
	text_add(&from, data, size);
	text_base64(&base64, &from);
	json_object_set_new(event, "base64", json_string(text_get(&base64)));
	text_free(&from);
	text_free(&base64);
}

static void event_text(struct recorder *recorder, json_t *event, const char *data, size_t size)
{
	bytes_put(event, data, size);
	line_put(recorder, recorder->events, event);
}

// How many bytes at the end of `data` may be the beginning of a character.
static size_t split_size(const char *data, size_t size)
{
	for (size_t i = 1; i <= CHARACTER_KEPT && i <= size; i++) {
		const unsigned char byte = (unsigned char)data[size - i];

		if (byte >= 0xc0) {
			const size_t whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
			return i < whole ? i : 0;
		}
		if (byte < 0x80)
			return 0;
	}
	return 0;
}

// A terminal moves to the next line and back: LF becomes CRLF.
static void cast_put(struct recorder *recorder, const char *kind, const char *data, size_t size)
{
	struct text whole = { 0 }, terminal = { 0 }, utf8 = { 0 };
	json_t *event = json_array();

	text_copy(&whole, &recorder->split);
	text_free(&recorder->split);
	text_add(&whole, data, size);
	const size_t kept = split_size(text_get(&whole), whole.size);
	text_add(&recorder->split, text_get(&whole) + whole.size - kept, kept);
	for (size_t i = 0; i < whole.size - kept; i++) {
		if (whole.data[i] == '\n')
			text_add(&terminal, "\r", 1);
		text_add(&terminal, &whole.data[i], 1);
	}
	text_utf8(&utf8, &terminal);
	json_array_append_new(event, json_real(clock_read(CLOCK_MONOTONIC) - recorder->started));
	json_array_append_new(event, json_string(kind));
	json_array_append_new(event, json_stringn(text_get(&utf8), utf8.size));
	line_put(recorder, recorder->cast, event);
	text_free(&whole);
	text_free(&terminal);
	text_free(&utf8);
}

static FILE *file_make(int directory, const char *name, const char *path, struct failure *failure)
{
	const int fd =
		openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file)
		fail(failure, "--record: making %s/%s: %s%s", path, name, strerror(errno),
		     errno == EEXIST ? "; name a directory without a recording" : "");
	return file;
}

static void start_write(struct recorder *recorder, const struct record_start *start)
{
	json_t *event = event_make("start"), *header = json_object();

	json_object_set_new(event, "version", json_integer(1));
	json_object_set_new(event, "lodger", json_string(LODGER_VERSION));
	json_object_set_new(event, "session", json_string(start->session));
	json_object_set_new(event, "assistant", json_string(start->assistant));
	if (start->model)
		json_object_set_new(event, "model", json_string(start->model));
	json_object_set(event, "limits", start->limits);
	if (start->prompt)
		json_object_set_new(event, "prompt", json_string(start->prompt));
	json_object_set_new(event, "columns", json_integer(start->columns));
	json_object_set_new(event, "rows", json_integer(start->rows));
	line_put(recorder, recorder->events, event);

	json_object_set_new(header, "version", json_integer(2));
	json_object_set_new(header, "width", json_integer(start->columns));
	json_object_set_new(header, "height", json_integer(start->rows));
	json_object_set_new(header, "timestamp", json_integer((json_int_t)time(NULL)));
	json_object_set_new(header, "env",
			    json_pack("{s:s,s:s}", "TERM", "dumb", "SHELL", "/bin/bash"));
	line_put(recorder, recorder->cast, header);
}

struct recorder *recorder_open(const char *path, const struct record_start *start,
			       struct failure *failure)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	struct failure ignored;

	if (!recorder) {
		fail(failure, "--record: out of memory");
		return NULL;
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST) {
		fail(failure, "--record: making %s: %s", path, strerror(errno));
		free(recorder);
		return NULL;
	}
	autoclose int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0) {
		fail(failure, "--record: opening %s: %s", path, strerror(errno));
		free(recorder);
		return NULL;
	}
	recorder->started = clock_read(CLOCK_MONOTONIC);
	if ((recorder->events = file_make(directory, "events.jsonl", path, failure)) &&
	    (recorder->transcript = file_make(directory, "transcript.txt", path, failure)) &&
	    (recorder->cast = file_make(directory, "terminal.cast", path, failure))) {
		start_write(recorder, start);
		return recorder;
	}
	(void)recorder_close(recorder, &ignored);
	return NULL;
}

void record_say(struct recorder *recorder, const char *text, size_t size)
{
	if (!recorder)
		return;
	json_t *event = event_make("say");
	json_object_set_new(event, "role", json_string("user"));
	event_text(recorder, event, text, size);
}

void record_tell(struct recorder *recorder, const char *text, size_t size)
{
	if (recorder)
		event_text(recorder, event_make("tell"), text, size);
}

static void transcript_put(struct recorder *recorder, const char *data, size_t size)
{
	if (size == 0)
		return;
	recorder->line_open = data[size - 1] != '\n';
	if (fwrite(data, 1, size, recorder->transcript) != size)
		recorder->lost = true;
}

// "> " and what was typed; ">> " before the lines behind the first.
static void typed_put(struct recorder *recorder, const char *text, size_t size)
{
	struct text typed = { 0 };

	text_string(&typed, recorder->line_open ? "\n> " : "> ");
	for (size_t i = 0; i < size; i++) {
		text_add(&typed, &text[i], 1);
		if (text[i] == '\n' && i + 1 < size)
			text_string(&typed, ">> ");
	}
	if (!text_ends(&typed, "\n"))
		text_string(&typed, "\n");
	if (typed.lost)
		recorder->lost = true;
	transcript_put(recorder, text_get(&typed), typed.size);
	cast_put(recorder, "o", text_get(&typed), typed.size);
	text_free(&typed);
}

void record_command(struct recorder *recorder, const char *text, size_t size)
{
	if (!recorder)
		return;
	json_t *event = event_make("command");
	json_object_set_new(event, "id", json_integer(++recorder->id));
	event_text(recorder, event, text, size);
	cast_put(recorder, "i", text, size);
	typed_put(recorder, text, size);
}

void record_output(struct recorder *recorder, const char *data, size_t size)
{
	if (!recorder)
		return;
	text_add(&recorder->output, data, size);
	transcript_put(recorder, data, size);
	cast_put(recorder, "o", data, size);
}

void record_end(struct recorder *recorder, const struct shell_result *result)
{
	if (!recorder)
		return;
	json_t *event = event_make("output");
	json_object_set_new(event, "id", json_integer(recorder->id));
	recorder->lost = recorder->lost || recorder->output.lost;
	event_text(recorder, event, text_get(&recorder->output), recorder->output.size);
	text_free(&recorder->output);

	event = event_make("end");
	json_object_set_new(event, "id", json_integer(recorder->id));
	json_object_set_new(event, "end", json_string(shell_end_names[result->end]));
	json_object_set_new(event, "status", json_integer(result->status));
	json_object_set_new(event, "seconds", json_real((double)result->nanoseconds / 1e9));
	json_object_set_new(event, "dropped", json_integer((json_int_t)result->dropped));
	line_put(recorder, recorder->events, event);
	if (fflush(recorder->transcript) != 0)
		recorder->lost = true;
}

void record_usage(struct recorder *recorder, const struct usage *usage)
{
	if (!recorder)
		return;
	json_t *event = event_make("usage"), *figures = json_usage(usage);
	json_object_update(event, figures);
	json_decref(figures);
	line_put(recorder, recorder->events, event);
}

void record_finish(struct recorder *recorder, const char *reason, const char *detail)
{
	if (!recorder)
		return;
	json_t *event = event_make("finish");
	json_object_set_new(event, "reason", json_string(reason));
	json_object_set_new(event, "detail", json_string(detail));
	line_put(recorder, recorder->events, event);
}

static bool file_end(FILE *file)
{
	return !file || fclose(file) == 0;
}

bool recorder_close(struct recorder *recorder, struct failure *failure)
{
	if (!recorder)
		return true;
	bool good = !recorder->lost;

	good = file_end(recorder->events) && good;
	good = file_end(recorder->transcript) && good;
	good = file_end(recorder->cast) && good;
	text_free(&recorder->output);
	text_free(&recorder->split);
	free(recorder);
	return good ||
	       fail(failure, "--record: the recording is not complete: %s", strerror(errno));
}
