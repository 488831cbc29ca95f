// Server-sent events, the lines in which models' servers stream (WHATWG HTML, "Server-sent events").
// Of their fields only `data` is looked at. Pure; takes any bytes.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The longest line, and the most data of one event.
#define SSE_EVENT_MAX ((size_t)1 << 20)

struct sse_text {
	char *data;
	size_t size, room;
};

struct sse {
	struct sse_text line, data;
	bool has_data;	   // the event has a `data` field
	bool return_ended; // the last line ended in a carriage return
	bool first;	   // nothing was read yet
};

enum sse_result {
	SSE_READ,
	SSE_STOPPED, // the taker wants no more
	SSE_TOO_LONG,
	SSE_NO_MEMORY,
};

// Takes the data of one event, terminated. Returns false to make an end.
typedef bool sse_take(void *context, const char *data, size_t size);

void sse_start(struct sse *sse);
enum sse_result sse_read(struct sse *sse, const char *data, size_t size, sse_take *take,
			 void *context);
void sse_free(struct sse *sse);
