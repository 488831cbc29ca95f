// The decoding of requests to the helper (proto/request.h).
// Holds: a request is refused with a problem that has a sentence and without an operation, or every
// number of it is in range and it has no field that is not known; and one that is accepted, packed
// again, decodes to the same numbers.
#include "fuzz.h"

#include "helper.pb-c.h"
#include "request.h"

static void again(const struct request *request)
{
	Lodger__Helper__Limits limits = LODGER__HELPER__LIMITS__INIT;
	Lodger__Helper__Create create = LODGER__HELPER__CREATE__INIT;
	Lodger__Helper__Destroy destroy = LODGER__HELPER__DESTROY__INIT;
	Lodger__Helper__Collect collect = LODGER__HELPER__COLLECT__INIT;
	Lodger__Helper__Request message = LODGER__HELPER__REQUEST__INIT;
	struct request second = { 0 };
	uint8_t packed[256];

	limits.memory = request->limits[LIMIT_MEMORY];
	limits.pids = request->limits[LIMIT_PIDS];
	limits.cpu = request->limits[LIMIT_CPU];
	limits.disk = request->limits[LIMIT_DISK];
	limits.inodes = request->limits[LIMIT_INODES];
	limits.ttl = request->limits[LIMIT_TTL];
	create.limits = &limits;
	create.network = (Lodger__Helper__Network)request->network;
	destroy.session = request->session;
	message.version = request->version;
	switch (request->operation) {
	case OPERATION_CREATE:
		message.operation_case = LODGER__HELPER__REQUEST__OPERATION_CREATE;
		message.create = &create;
		break;
	case OPERATION_DESTROY:
		message.operation_case = LODGER__HELPER__REQUEST__OPERATION_DESTROY;
		message.destroy = &destroy;
		break;
	default:
		message.operation_case = LODGER__HELPER__REQUEST__OPERATION_COLLECT;
		message.collect = &collect;
	}
	assert(lodger__helper__request__get_packed_size(&message) <= sizeof(packed));
	request_decode(&second, packed, lodger__helper__request__pack(&message, packed));
	assert(memcmp(request, &second, sizeof(second)) == 0);
}

// Decoded without an arena: no part of what was accepted may have a field that is not known.
static void known(const uint8_t *data, size_t size)
{
	Lodger__Helper__Request *message = lodger__helper__request__unpack(NULL, size, data);

	assert(message && message->base.n_unknown_fields == 0);
	switch (message->operation_case) {
	case LODGER__HELPER__REQUEST__OPERATION_CREATE:
		assert(message->create->base.n_unknown_fields == 0);
		assert(!message->create->limits ||
		       message->create->limits->base.n_unknown_fields == 0);
		break;
	case LODGER__HELPER__REQUEST__OPERATION_DESTROY:
		assert(message->destroy->base.n_unknown_fields == 0);
		break;
	default:
		assert(message->collect->base.n_unknown_fields == 0);
	}
	lodger__helper__request__free_unpacked(message, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t none[LIMIT_COUNT];
	struct request request = { 0 };

	request_decode(&request, data, size);
	assert(request.problem < PROBLEM_COUNT && request.reserved == 0);
	if (request.problem != PROBLEM_NONE) {
		assert(request_problems[request.problem].field);
		assert(request_problems[request.problem].message);
		assert(request.operation == 0 && request.session == 0 && request.network == 0);
		assert(memcmp(request.limits, none, sizeof(none)) == 0);
		return 0;
	}
	assert(request.version == HELPER_PROTOCOL_VERSION);
	assert(request.operation >= OPERATION_CREATE && request.operation <= OPERATION_COLLECT);
	if (request.operation == OPERATION_DESTROY)
		assert(request.session >= 1 && request.session <= SESSION_NUMBER_MAX);
	else
		assert(request.session == 0);
	if (request.operation != OPERATION_CREATE) {
		assert(request.network == 0);
		assert(memcmp(request.limits, none, sizeof(none)) == 0);
	}
	assert(request.network <= LODGER__HELPER__NETWORK__NETWORK_HOST);
	known(data, size);
	again(&request);
	return 0;
}
