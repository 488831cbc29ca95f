// proto/request.c on every message that protobuf-c can hand it, and its arena in every state. The
// decoder itself is a library's and not under analysis: its stand-in returns any message, or none.
#include "driver.h"

#include <stdalign.h>
// Frama-C 25 cannot; what is aligned so is only ever looked at as bytes here.
#undef alignas
#undef alignof
#define alignas(type)
#define alignof(type) 16

#include "../../../proto/request.c"

static Lodger__Helper__Request message;
static Lodger__Helper__Create create;
static Lodger__Helper__Limits limits;
static Lodger__Helper__Destroy destroy;
static Lodger__Helper__Collect collect;

// Set by main, since Eva joins what a function returns.
static int operation;

Lodger__Helper__Request *lodger__helper__request__unpack(ProtobufCAllocator *allocator, size_t size,
							 const uint8_t *payload)
{
	(void)size;
	(void)payload;
	allocator->free(allocator->allocator_data,
			allocator->alloc(allocator->allocator_data, (size_t)any(0, INT_MAX)));
	fill(&limits, sizeof(limits));
	fill(&destroy, sizeof(destroy));
	fill(&collect, sizeof(collect));
	fill(&create, sizeof(create));
	create.limits = any(0, 1) ? &limits : NULL;
	fill(&message, sizeof(message));
	message.operation_case = (Lodger__Helper__Request__OperationCase)operation;
	// What the decoder promises: the member of the oneof that its case names is there.
	if (operation == LODGER__HELPER__REQUEST__OPERATION_CREATE)
		message.create = &create;
	else if (operation == LODGER__HELPER__REQUEST__OPERATION_DESTROY)
		message.destroy = &destroy;
	else if (operation == LODGER__HELPER__REQUEST__OPERATION_COLLECT)
		message.collect = &collect;
	return any(0, 1) ? &message : NULL;
}

static void decode(void)
{
	struct request request = { 0 };
	uint8_t payload[1] = { 0 };

	request_decode(&request, payload, (size_t)any(0, HELPER_FRAME_MAX));
	//@ assert problem: request.problem < PROBLEM_COUNT;
	//@ assert session: request.session <= 65535 - BEYOND;
	//@ assert network: request.network <= 1;
	//@ assert reserved: request.reserved == 0;
}

// Takes `least` to `most` bytes of the arena, of which `used` are gone.
static void take(size_t used, size_t least, size_t most)
{
	arena_used = used;
	size_t size = least + (size_t)any(0, (int)(most - least));
	uint8_t *memory = arena_take(NULL, size);

	if (memory) {
		//@ assert inside: memory == &arena[used];
		//@ assert large: size <= sizeof(arena) - used;
	}
}

// What a child that is not believed may send: any bytes at all.
static void range(void)
{
	struct request request;

	fill(&request, sizeof(request));
	(void)request_in_range(&request);
}

int main(void)
{
	range();
	for (operation = LODGER__HELPER__REQUEST__OPERATION_CREATE;
	     operation <= LODGER__HELPER__REQUEST__OPERATION_COLLECT; operation++)
		decode();
	operation = any(0, LODGER__HELPER__REQUEST__OPERATION_CREATE - 1);
	decode();
	operation = any(INT_MIN, -1);
	decode();
	operation = any(LODGER__HELPER__REQUEST__OPERATION_COLLECT + 1, INT_MAX);
	decode();

	// The arena is used in blocks of 16: from each state, the smallest piece, the largest that
	// there is room for, and all that there is none for.
	for (size_t used = 0; !BEYOND && used <= sizeof(arena); used += 16) {
		const size_t rest = sizeof(arena) - used;

		take(used, 0, 0);
		if (rest > 0) {
			take(used, 1, 16);
			take(used, rest - 15, rest);
		}
		arena_used = used;
		size_t large = rest + 1 + (size_t)any(0, INT_MAX);
		const void *none =
			arena_take(NULL, any(0, 1) ? large : SIZE_MAX - (size_t)any(0, 64));
		//@ assert none: none == \null;
	}
	return 0;
}
