// proto/session.c: names, numbers, records.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "session.h"

static void names(void **state)
{
	static const struct {
		const char *name;
		uint32_t number;
	} rows[] = {
		{ "lodger-1", 1 },
		{ "lodger-10", 10 },
		{ "lodger-65535", 65535 },
		{ "lodger-0", 0 },
		{ "lodger-00", 0 },
		{ "lodger-01", 0 },
		{ "lodger-65536", 0 },
		{ "lodger-4294967297", 0 },
		{ "lodger-99999999999999999999", 0 },
		{ "lodger-", 0 },
		{ "lodger", 0 },
		{ "", 0 },
		{ "1", 0 },
		{ "lodger--1", 0 },
		{ "lodger-+1", 0 },
		{ "lodger- 1", 0 },
		{ "lodger-1 ", 0 },
		{ " lodger-1", 0 },
		{ "lodger-1\n", 0 },
		{ "lodger-1/..", 0 },
		{ "../lodger-1", 0 },
		{ "Lodger-1", 0 },
		{ "lodger-1a", 0 },
		{ "lodger-0x1", 0 },
		{ "lodger-\xd9\xa1", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(session_number(rows[i].name), rows[i].number);
}

static void names_there_and_back(void **state)
{
	char name[SESSION_NAME_SIZE];

	(void)state;
	for (uint32_t number = 1; number <= SESSION_NUMBER_MAX; number++) {
		session_name(number, name);
		assert_int_equal(session_number(name), number);
		assert_string_equal(name + strlen("lodger-"), session_digits(number));
	}
}

static bool read_back(const void *bytes, size_t size, uint32_t number, struct record *record)
{
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], bytes, size), (ssize_t)size);
	close(pipes[1]);
	bool ok = record_read(pipes[0], number, record);
	close(pipes[0]);
	return ok;
}

static void records(void **state)
{
	struct record record = {
		.magic = RECORD_MAGIC, .number = 7, .uid = SESSION_UID_BASE + 7, .owner = 1000
	};
	struct record back, wrong;

	(void)state;
	assert_true(read_back(&record, sizeof(record), 7, &back));
	assert_memory_equal(&record, &back, sizeof(record));
	assert_false(read_back(&record, sizeof(record), 8, &back));
	for (size_t size = 0; size < sizeof(record); size++)
		assert_false(read_back(&record, size, 7, &back));
	wrong = record;
	wrong.magic++;
	assert_false(read_back(&wrong, sizeof(wrong), 7, &back));
	wrong = record;
	wrong.uid = 0;
	assert_false(read_back(&wrong, sizeof(wrong), 7, &back));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(names_there_and_back),
		cmocka_unit_test(records),
	};

	return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
