// Requests (client_request.h). Runs in workers. Two kinds of wrong are kept apart: lengths that cannot be
// believed, after which nothing that follows makes sense, and words that are not what they should
// be, which are refused when the request has been read to its end.
#include "client_request.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

void request_open(struct request *request, uint8_t *bytes, size_t room, size_t item)
{
	memset(request, 0, sizeof(*request));
	request->bytes = bytes;
	request->room = room;
	request->item = item;
}

static enum request_read unreadable(struct request *request, const char *problem)
{
	request->problem = problem;
	request->quoted[0] = '\0';
	return REQUEST_UNREADABLE;
}

static void problem_set(struct request *request, const char *problem, struct view word)
{
	if (request->problem != NULL)
		return;
	request->problem = problem;
	snprintf(request->quoted, sizeof(request->quoted), "%.*s", (int)word.size,
		 word.size > 0 ? word.text : "");
}

// Takes `size` bytes, for which there is room, into the buffer. Returns where they are; NULL if there is
// trouble.
static uint8_t *take(struct request *request, struct wire *client, size_t size)
{
	uint8_t *at = request->bytes + request->size;

	if (!wire_read(client, at, size))
		return NULL;
	request->size += size;
	return at;
}

static bool room_for(const struct request *request, uint64_t size)
{
	return size <= request->room && request->size <= request->room - size;
}

static enum request_read read_number(struct request *request, struct wire *client, uint64_t *number)
{
	if (!room_for(request, sizeof(*number)))
		return unreadable(request, "it is too long");

	const uint8_t *at = take(request, client, sizeof(*number));
	if (at == NULL)
		return REQUEST_LOST;
	memcpy(number, at, sizeof(*number));
	*number = le64toh(*number);
	return REQUEST_READ;
}

static bool printable_word(struct view word)
{
	for (size_t i = 0; i < word.size; i++) {
		if (word.text[i] <= ' ' || word.text[i] > '~')
			return false;
	}
	return true;
}

// The ways of making a store path from content that clients use: text, one file, a tree. Others by
// older hashes (nix-store --add-fixed sha1) and git's are not needed here.
static bool method(struct view word)
{
	return view_is(word, "text:sha256") || view_is(word, "fixed:sha256") ||
	       view_is(word, "fixed:r:sha256");
}

static void word_check(struct request *request, char kind, struct view word)
{
	struct wanted wanted;

	if ((kind == 'p' || kind == 'P') && !paths_store(word))
		problem_set(request, "this is not a store path", word);
	else if (kind == 'N' && !paths_name(word))
		problem_set(request, "this cannot be an object's name in the store", word);
	else if (kind == 'M' && !method(word))
		problem_set(request,
			    "this way of naming by content is not for sessions; use sha256", word);
	else if (kind == 'C' && !printable_word(word))
		problem_set(request, "this is not a content address", word);
	else if (kind == 'H' && !paths_hash(word))
		problem_set(request, "this is not the hash of a store path", word);
	else if (kind == 'O' && !paths_realisation(word))
		problem_set(request, "this is not an output of a derivation", word);
	else if (kind == 'D' && !paths_wanted(word, &wanted))
		problem_set(request, "this is neither a store path nor outputs of a derivation",
			    word);
}

static enum request_read read_string(struct request *request, struct wire *client, char kind)
{
	const bool any = kind == 's' || kind == 'l';
	uint64_t length;
	enum request_read result = read_number(request, client, &length);

	if (result != REQUEST_READ)
		return result;
	if (!any && length > REQUEST_WORD)
		return unreadable(request, "a name in it is too long");
	if (!room_for(request, length) || !room_for(request, wire_padded(length)))
		return unreadable(request, "it is too long");

	const char *at = (const char *)take(request, client, (size_t)length);
	const size_t padding = (size_t)(wire_padded(length) - length);
	const uint8_t *zeros = at != NULL ? take(request, client, padding) : NULL;
	if (zeros == NULL)
		return REQUEST_LOST;
	for (size_t i = 0; i < padding; i++) {
		if (zeros[i] != 0)
			return unreadable(request, "it is not written as the protocol wants it");
	}
	word_check(request, kind, (struct view){ at, (size_t)length });
	return REQUEST_READ;
}

static enum request_read read_count(struct request *request, struct wire *client, uint64_t *count)
{
	enum request_read result = read_number(request, client, count);

	if (result == REQUEST_READ && *count > REQUEST_LIST)
		return unreadable(request, "a list in it is too long");
	return result;
}

// One part of a shape that is not a group.
static enum request_read read_part(struct request *request, struct wire *client, char kind)
{
	uint64_t number, count = 1;
	enum request_read result = REQUEST_READ;

	if (kind == 'n' || kind == 'b') {
		result = read_number(request, client, &number);
		if (result == REQUEST_READ && kind == 'b' && number > 1)
			problem_set(request, "a switch in it is neither on nor off",
				    (struct view){ 0 });
		return result;
	}
	if (kind == 'l' || kind == 'P' || kind == 'D')
		result = read_count(request, client, &count);
	for (; result == REQUEST_READ && count > 0; count--)
		result = read_string(request, client, kind);
	return result;
}

// A counted group, from behind its bracket on. Groups hold no groups.
static enum request_read read_group(struct request *request, struct wire *client, const char *shape)
{
	uint64_t count;
	enum request_read result = read_count(request, client, &count);

	for (; result == REQUEST_READ && count > 0; count--) {
		for (const char *kind = shape; result == REQUEST_READ && *kind != ']'; kind++)
			result = read_part(request, client, *kind);
	}
	return result;
}

enum request_read request_read(struct request *request, struct wire *client,
			       const struct operation *operation)
{
	enum request_read result = REQUEST_READ;
	size_t part = 0;

	request->size = request->content = 0;
	request->frame = 0;
	request->framed = false;
	request->problem = NULL;
	request->quoted[0] = '\0';
	for (const char *kind = operation->request; result == REQUEST_READ && *kind; kind++) {
		if (part < REQUEST_PARTS)
			request->parts[part++] = request->size;
		if (*kind == 'F') {
			request->framed = true;
		} else if (*kind == '[') {
			result = read_group(request, client, kind + 1);
			kind = strchr(kind, ']');
		} else {
			result = read_part(request, client, *kind);
		}
	}
	return result;
}

// The length of the next frame; 0 ends them.
static bool next_frame(struct request *request, struct wire *client)
{
	if (!wire_read_number(client, &request->frame))
		return false;
	if (request->frame == 0)
		request->framed = false;
	return true;
}

enum request_frames request_frames(struct request *request, struct wire *client)
{
	const size_t room = request->room - request->size;
	const size_t most = request->item < room ? request->item : room;

	while (next_frame(request, client)) {
		if (!request->framed)
			return FRAMES_READ;
		if (request->frame > most - request->content)
			return FRAMES_TOO_LARGE;
		if (!wire_read(client, request->bytes + request->size + request->content,
			       (size_t)request->frame))
			return FRAMES_LOST;
		request->content += (size_t)request->frame;
		request->frame = 0;
	}
	return FRAMES_LOST;
}

bool request_drain(struct request *request, struct wire *client)
{
	uint64_t drained = 0;

	while (request->framed) {
		if (request->frame == 0 && !next_frame(request, client))
			return false;
		if (request->frame > REQUEST_DRAIN - drained)
			return wire_fail(client, "sends on and on");
		if (!wire_skip(client, request->frame))
			return false;
		drained += request->frame;
		request->frame = 0;
	}
	return true;
}

bool request_write(const struct request *request, const struct operation *operation,
		   struct wire *daemon)
{
	const bool content = strchr(operation->request, 'F') != NULL;

	if (!wire_write_number(daemon, operation->number) ||
	    !wire_write(daemon, request->bytes, request->size))
		return false;
	// Without content there is only the end of it.
	if (content && request->content > 0 &&
	    (!wire_write_number(daemon, request->content) ||
	     !wire_write(daemon, request->bytes + request->size, request->content)))
		return false;
	return (!content || wire_write_number(daemon, 0)) && wire_flush(daemon);
}

struct cursor request_part(const struct request *request, size_t part)
{
	return (struct cursor){ request->bytes + request->parts[part] };
}

uint64_t cursor_number(struct cursor *cursor)
{
	uint64_t number;

	memcpy(&number, cursor->at, sizeof(number));
	cursor->at += sizeof(number);
	return le64toh(number);
}

struct view cursor_string(struct cursor *cursor)
{
	const size_t size = (size_t)cursor_number(cursor);
	const struct view string = { (const char *)cursor->at, size };

	cursor->at += wire_padded(size);
	return string;
}
