// One request of a client, read whole before anything is done with it: into one buffer of a size
// that is fixed when the worker starts, in the form in which the daemon will get it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "operations.h"
#include "paths.h"
#include "wire.h"

// Room beside an item for all else in its request. A request without content may take all of the
// buffer: some twenty thousand store paths at the usual limit.
#define REQUEST_ROOM (256U * 1024U)
// Most entries of one list.
#define REQUEST_LIST 65536U
// Longest string where something short is meant: paths, names, methods.
#define REQUEST_WORD 1024U
// How much of what is refused is read and thrown away, so that the connection can go on.
#define REQUEST_DRAIN (UINT64_C(64) * 1024 * 1024)
// Most parts of one request that the gate looks at.
#define REQUEST_PARTS 16U

struct request {
	uint8_t *bytes;
	size_t room; // of `bytes`
	size_t item; // most framed content

	size_t size;		       // up to the content
	size_t parts[REQUEST_PARTS];   // where each part of its shape begins
	size_t content;		       // bytes that follow, without frames
	uint64_t frame;		       // bytes of the current frame that are not read yet
	bool framed;		       // frames are still to come
	const char *problem;	       // what is wrong with its words, or NULL
	char quoted[REQUEST_WORD + 1]; // the word that it is about
};

enum request_read {
	REQUEST_READ,	    // whole, up to the frames; `problem` says whether it makes sense
	REQUEST_UNREADABLE, // where the next request begins cannot be known; `problem` says why
	REQUEST_LOST,	    // the wire has trouble
};

enum request_frames {
	FRAMES_READ,
	FRAMES_TOO_LARGE, // the rest is for request_drain
	FRAMES_LOST,
};

// Prepares a buffer of `room` bytes: REQUEST_ROOM + item.
void request_open(struct request *request, uint8_t *bytes, size_t room, size_t item);

// Reads what follows an operation's number, up to framed content.
enum request_read request_read(struct request *request, struct wire *client,
			       const struct operation *operation);
// Reads framed content to the end of the buffer's request.
enum request_frames request_frames(struct request *request, struct wire *client);
// Throws away the frames that are still to come. Returns false when there are too many of them, or
// the wire has trouble.
bool request_drain(struct request *request, struct wire *client);

// Writes it, as one frame where it has content.
bool request_write(const struct request *request, const struct operation *operation,
		   struct wire *daemon);

// Reading what request_read accepted. Numbers and strings in order, from part `part` of the shape on.
struct cursor {
	const uint8_t *at;
};
struct cursor request_part(const struct request *request, size_t part);
uint64_t cursor_number(struct cursor *cursor);
struct view cursor_string(struct cursor *cursor);
