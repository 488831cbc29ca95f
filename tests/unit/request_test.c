// proto/request.c: what the parser child makes of every kind of payload.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "helper.pb-c.h"
#include "request.h"

static struct request decode(const void *payload, size_t size)
{
	struct request request = { 0 };

	request_decode(&request, payload, size);
	return request;
}

static struct request pack_decode(const Lodger__Helper__Request *message)
{
	uint8_t payload[HELPER_FRAME_MAX];

	assert_true(lodger__helper__request__get_packed_size(message) <= sizeof(payload));
	return decode(payload, lodger__helper__request__pack(message, payload));
}

static void creates(void **state)
{
	Lodger__Helper__Request message = LODGER__HELPER__REQUEST__INIT;
	Lodger__Helper__Create create = LODGER__HELPER__CREATE__INIT;
	Lodger__Helper__Limits limits = LODGER__HELPER__LIMITS__INIT;

	(void)state;
	message.version = HELPER_PROTOCOL_VERSION;
	message.operation_case = LODGER__HELPER__REQUEST__OPERATION_CREATE;
	message.create = &create;
	struct request request = pack_decode(&message);
	assert_int_equal(request.problem, PROBLEM_NONE);
	assert_int_equal(request.operation, OPERATION_CREATE);
	for (int i = 0; i < LIMIT_COUNT; i++)
		assert_int_equal(request.limits[i], 0);

	create.limits = &limits;
	limits.memory = UINT64_MAX;
	limits.pids = 2;
	limits.cpu = 3;
	limits.disk = 4;
	limits.inodes = 5;
	limits.ttl = 6;
	create.network = LODGER__HELPER__NETWORK__NETWORK_HOST;
	request = pack_decode(&message);
	assert_int_equal(request.problem, PROBLEM_NONE);
	assert_true(request.limits[LIMIT_MEMORY] == UINT64_MAX);
	assert_int_equal(request.limits[LIMIT_PIDS], 2);
	assert_int_equal(request.limits[LIMIT_CPU], 3);
	assert_int_equal(request.limits[LIMIT_DISK], 4);
	assert_int_equal(request.limits[LIMIT_INODES], 5);
	assert_int_equal(request.limits[LIMIT_TTL], 6);
	assert_int_equal(request.network, 1);

	create.network = (Lodger__Helper__Network)2;
	assert_int_equal(pack_decode(&message).problem, PROBLEM_NETWORK);
	create.network = (Lodger__Helper__Network)-1;
	assert_int_equal(pack_decode(&message).problem, PROBLEM_NETWORK);
}

static void destroys(void **state)
{
	static const struct {
		uint32_t session;
		enum problem problem;
	} rows[] = {
		{ 1, PROBLEM_NONE },
		{ SESSION_NUMBER_MAX, PROBLEM_NONE },
		{ 0, PROBLEM_SESSION },
		{ SESSION_NUMBER_MAX + 1, PROBLEM_SESSION },
		{ UINT32_MAX, PROBLEM_SESSION },
	};
	Lodger__Helper__Request message = LODGER__HELPER__REQUEST__INIT;
	Lodger__Helper__Destroy destroy = LODGER__HELPER__DESTROY__INIT;

	(void)state;
	message.version = HELPER_PROTOCOL_VERSION;
	message.operation_case = LODGER__HELPER__REQUEST__OPERATION_DESTROY;
	message.destroy = &destroy;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		destroy.session = rows[i].session;
		assert_int_equal(pack_decode(&message).problem, rows[i].problem);
	}
}

static void malformed(void **state)
{
	// Tags: version 1 is 08, create 12, destroy 1a, collect 22; field 9 is 48.
	static const struct {
		const char *name, *bytes;
		size_t size;
		enum problem problem;
	} rows[] = {
		{ "nothing", "", 0, PROBLEM_VERSION },
		{ "version 0", "\x08\x00\x22\x00", 4, PROBLEM_VERSION },
		{ "version 2", "\x08\x02\x22\x00", 4, PROBLEM_VERSION },
		{ "no operation", "\x08\x01", 2, PROBLEM_OPERATION },
		{ "collect", "\x08\x01\x22\x00", 4, PROBLEM_NONE },
		{ "unknown field outside", "\x08\x01\x22\x00\x48\x01", 6, PROBLEM_UNKNOWN },
		{ "unknown field in collect", "\x08\x01\x22\x02\x48\x01", 6, PROBLEM_UNKNOWN },
		{ "unknown field in create", "\x08\x01\x12\x02\x48\x01", 6, PROBLEM_UNKNOWN },
		{ "unknown field in limits", "\x08\x01\x12\x04\x0a\x02\x48\x01", 8,
		  PROBLEM_UNKNOWN },
		{ "unknown field in destroy", "\x08\x01\x1a\x04\x08\x01\x48\x01", 8,
		  PROBLEM_UNKNOWN },
		{ "tag cut off", "\x08\x01\x22", 3, PROBLEM_DECODE },
		{ "length past the end", "\x08\x01\x22\x05", 4, PROBLEM_DECODE },
		{ "length 2^63", "\x08\x01\x22\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 12,
		  PROBLEM_DECODE },
		{ "endless varint", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12,
		  PROBLEM_DECODE },
		{ "wire type 7", "\x0f\x01", 2, PROBLEM_DECODE },
		{ "group", "\x08\x01\x23\x24", 4, PROBLEM_DECODE },
		{ "text", "GET / HTTP/1.0\r\n\r\n", 18, PROBLEM_DECODE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("%s\n", rows[i].name);
		assert_int_equal(decode(rows[i].bytes, rows[i].size).problem, rows[i].problem);
	}
}

// As many unknown fields as a frame holds: refused for want of memory, not by taking it.
static void bomb(void **state)
{
	uint8_t payload[HELPER_FRAME_MAX];

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(payload); i += 2)
		memcpy(payload + i, "\x48\x01", 2);
	assert_int_equal(decode(payload, sizeof(payload)).problem, PROBLEM_DECODE);
}

// A oneof that is there several times counts once: the last. Each copy costs arena, and that ends.
static void repeated(void **state)
{
	uint8_t payload[HELPER_FRAME_MAX] = "\x08\x01";
	size_t size = 2;

	(void)state;
	memcpy(payload + size, "\x1a\x02\x08\x05\x1a\x02\x08\x06", 8);
	struct request request = decode(payload, size + 8);
	assert_int_equal(request.problem, PROBLEM_NONE);
	assert_int_equal(request.session, 6);
	for (; size + 2 <= sizeof(payload); size += 2)
		memcpy(payload + size, "\x12\x00", 2);
	assert_int_equal(decode(payload, size).problem, PROBLEM_DECODE);
}

// A child that was taken over could write any struct.
static void in_range(void **state)
{
	const struct request collect = { .version = HELPER_PROTOCOL_VERSION,
					 .operation = OPERATION_COLLECT };
	struct request request = collect;

	(void)state;
	assert_true(request_in_range(&request));
	request.operation = OPERATION_CREATE;
	request.network = LODGER__HELPER__NETWORK__NETWORK_HOST;
	assert_true(request_in_range(&request));
	request = collect;
	request.operation = OPERATION_DESTROY;
	assert_false(request_in_range(&request));
	request.session = SESSION_NUMBER_MAX;
	assert_true(request_in_range(&request));
	request.session++;
	assert_false(request_in_range(&request));

	struct request wrong[] = { collect, collect, collect, collect, collect, collect, collect };
	wrong[0].problem = PROBLEM_COUNT;
	wrong[1].reserved = 1;
	wrong[2].version++;
	wrong[3].operation = 0;
	wrong[4].operation = OPERATION_COLLECT + 1;
	wrong[5].session = 1;
	wrong[6].network = LODGER__HELPER__NETWORK__NETWORK_HOST + 1;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(request_in_range(&wrong[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(creates), cmocka_unit_test(destroys), cmocka_unit_test(malformed),
		cmocka_unit_test(bomb),	   cmocka_unit_test(repeated), cmocka_unit_test(in_range),
	};

	return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
