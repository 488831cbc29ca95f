// Server-sent events (sse.h). Pure.
#include "sse.h"

#include <stdlib.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

void sse_start(struct sse *sse)
{
	*sse = (struct sse){ .first = true };
}

void sse_free(struct sse *sse)
{
	free(sse->line.data);
	free(sse->data.data);
	*sse = (struct sse){ 0 };
}

static enum sse_result text_add(struct sse_text *text, const char *data, size_t size)
{
	if (size > SSE_EVENT_MAX - text->size)
		return SSE_TOO_LONG;
	// And a NUL.
	if (text->size + size >= text->room) {
		const size_t room = 2 * (text->size + size) + 64;
		char *grown = realloc(text->data, room);

		if (!grown)
			return SSE_NO_MEMORY;
		text->data = grown;
		text->room = room;
	}
	if (size > 0)
		memcpy(text->data + text->size, data, size);
	text->size += size;
	text->data[text->size] = '\0';
	return SSE_READ;
}

static enum sse_result event_end(struct sse *sse, sse_take *take, void *context)
{
	bool more = true;

	if (sse->has_data)
		more = take(context, sse->data.data, sse->data.size);
	sse->has_data = false;
	sse->data.size = 0;
	return more ? SSE_READ : SSE_STOPPED;
}

static enum sse_result data_field(struct sse *sse, const char *value, size_t size)
{
	enum sse_result result = SSE_READ;

	if (size > 0 && *value == ' ') {
		value++;
		size--;
	}
	if (sse->has_data)
		result = text_add(&sse->data, "\n", 1);
	sse->has_data = true;
	return result == SSE_READ ? text_add(&sse->data, value, size) : result;
}

static enum sse_result line_end(struct sse *sse, sse_take *take, void *context)
{
	static const char name[] = "data";
	const size_t length = sizeof(name) - 1;
	const char *line = sse->line.data;
	size_t size = sse->line.size;
	const size_t mark = strlen(BYTE_ORDER_MARK);

	sse->line.size = 0;
	if (sse->first && size >= mark && memcmp(line, BYTE_ORDER_MARK, mark) == 0) {
		line += mark;
		size -= mark;
	}
	sse->first = false;
	if (size == 0)
		return event_end(sse, take, context);
	if (size < length || memcmp(line, name, length) != 0)
		return SSE_READ;
	if (size == length)
		return data_field(sse, "", 0);
	return line[length] == ':' ? data_field(sse, line + length + 1, size - length - 1)
				   : SSE_READ;
}

enum sse_result sse_read(struct sse *sse, const char *data, size_t size, sse_take *take,
			 void *context)
{
	enum sse_result result = SSE_READ;

	while (size > 0 && result == SSE_READ) {
		size_t length = 0;

		// The second half of a CRLF.
		if (*data == '\n' && sse->return_ended) {
			sse->return_ended = false;
			data++;
			size--;
			continue;
		}
		sse->return_ended = false;
		while (length < size && data[length] != '\n' && data[length] != '\r')
			length++;
		result = text_add(&sse->line, data, length);
		if (result == SSE_READ && length < size) {
			sse->return_ended = data[length++] == '\r';
			result = line_end(sse, take, context);
		}
		data += length;
		size -= length;
	}
	return result;
}
