// Decoding of the request (request.h). Pure: no call but memcpy and its like.
#include "request.h"

#include <stdalign.h>
#include <stdbool.h>

#include "helper.pb-c.h"

const struct request_problem request_problems[PROBLEM_COUNT] = {
	[PROBLEM_LENGTH] = { "frame", "the request is longer than a request can be" },
	[PROBLEM_SHORT] = { "frame", "the request ended before it was whole" },
	[PROBLEM_DECODE] = { "request", "the request is not a message of this protocol" },
	[PROBLEM_UNKNOWN] = { "request", "the request has fields that this version does not know" },
	[PROBLEM_VERSION] = { "version",
			      "client and helper are of different versions: use the lodger that was installed with it" },
	[PROBLEM_OPERATION] = { "operation", "the request names no operation" },
	[PROBLEM_SESSION] = { "session", "no session can have that number" },
	[PROBLEM_NETWORK] = { "network", "the network is neither none nor host" },
};

// protobuf-c keeps each unknown field in a struct of its own, some fifty bytes for two on the wire
// (protobuf-c issue 796): the arena is what all of them may take, and no more.
static alignas(max_align_t) uint8_t arena[16384];
static size_t arena_used;

static void *arena_take(void *data, size_t size)
{
	const size_t align = alignof(max_align_t);

	(void)data;
	if (size > sizeof(arena))
		return NULL;
	size = (size + align - 1) / align * align;
	if (size > sizeof(arena) - arena_used)
		return NULL;
	arena_used += size;
	return arena + arena_used - size;
}

// The child ends right after: nothing is given back.
static void arena_give(void *data, void *pointer)
{
	(void)data;
	(void)pointer;
}

static bool unknown(const ProtobufCMessage *message)
{
	return message->n_unknown_fields > 0;
}

static enum problem create_check(struct request *request, const Lodger__Helper__Create *create)
{
	const Lodger__Helper__Limits *limits = create->limits;

	if (unknown(&create->base) || (limits && unknown(&limits->base)))
		return PROBLEM_UNKNOWN;
	if (create->network != LODGER__HELPER__NETWORK__NETWORK_NONE &&
	    create->network != LODGER__HELPER__NETWORK__NETWORK_HOST)
		return PROBLEM_NETWORK;
	request->operation = OPERATION_CREATE;
	request->network = (uint32_t)create->network;
	if (limits) {
		request->limits[LIMIT_MEMORY] = limits->memory;
		request->limits[LIMIT_PIDS] = limits->pids;
		request->limits[LIMIT_CPU] = limits->cpu;
		request->limits[LIMIT_DISK] = limits->disk;
		request->limits[LIMIT_INODES] = limits->inodes;
		request->limits[LIMIT_TTL] = limits->ttl;
	}
	return PROBLEM_NONE;
}

static enum problem check(struct request *request, const Lodger__Helper__Request *message)
{
	request->version = message->version;
	if (message->version != HELPER_PROTOCOL_VERSION)
		return PROBLEM_VERSION;
	if (unknown(&message->base))
		return PROBLEM_UNKNOWN;
	switch (message->operation_case) {
	case LODGER__HELPER__REQUEST__OPERATION_CREATE:
		return create_check(request, message->create);
	case LODGER__HELPER__REQUEST__OPERATION_DESTROY:
		if (unknown(&message->destroy->base))
			return PROBLEM_UNKNOWN;
		if (message->destroy->session < 1 || message->destroy->session > SESSION_NUMBER_MAX)
			return PROBLEM_SESSION;
		request->operation = OPERATION_DESTROY;
		request->session = message->destroy->session;
		return PROBLEM_NONE;
	case LODGER__HELPER__REQUEST__OPERATION_COLLECT:
		if (unknown(&message->collect->base))
			return PROBLEM_UNKNOWN;
		request->operation = OPERATION_COLLECT;
		return PROBLEM_NONE;
	default:
		return PROBLEM_OPERATION;
	}
}

void request_decode(struct request *request, const uint8_t *payload, size_t size)
{
	ProtobufCAllocator allocator = { arena_take, arena_give, NULL };
	const Lodger__Helper__Request *message;

	arena_used = 0;
	message = lodger__helper__request__unpack(&allocator, size, payload);
	request->problem = message ? check(request, message) : PROBLEM_DECODE;
}

bool request_in_range(const struct request *request)
{
	return request->problem == PROBLEM_NONE && request->reserved == 0 &&
	       request->version == HELPER_PROTOCOL_VERSION &&
	       request->operation >= OPERATION_CREATE && request->operation <= OPERATION_COLLECT &&
	       request->session <= SESSION_NUMBER_MAX &&
	       (request->session == 0) == (request->operation != OPERATION_DESTROY) &&
	       request->network <= LODGER__HELPER__NETWORK__NETWORK_HOST;
}
