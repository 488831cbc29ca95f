// Sessions and their figures, read from made-up trees (client/lib/usage.h, session_list.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#undef fail // the client has a function of that name

#include "session_list.h"

static char top[] = "/tmp/lodger-usage-XXXXXX";

// Writes a file below the test's directory, with the directories above it.
static void file_put(const char *path, const void *data, size_t size)
{
	char full[256];

	snprintf(full, sizeof(full), "%s/%s", top, path);
	for (char *slash = full + strlen(top) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	FILE *file = fopen(full, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	fclose(file);
}

static void text_put(const char *path, const char *text)
{
	file_put(path, text, strlen(text));
}

static int setup(void **state)
{
	(void)state;
	strcpy(top + strlen(top) - 6, "XXXXXX");
	return mkdtemp(top) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

static void place_find(struct usage_place *place, const char *policy)
{
	char path[64];

	text_put("policy", policy);
	snprintf(path, sizeof(path), "%s/policy", top);
	usage_place_find(place, top, path);
}

static void finds_the_place(void **state)
{
	static const struct {
		const char *policy, *base;
	} rows[] = {
		{ "", "lodger" },
		{ "cgroup a/b.service\n", "a/b.service" },
		{ "  \tcgroup\t x # y\nmaximum pids 3\n", "x" },
		{ "cgroup a\ncgroup b", "b" },
		{ "# cgroup a\ncgroups b\n", "lodger" },
		{ "cgroup\n", "lodger" },
	};
	struct usage_place place;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		place_find(&place, rows[i].policy);
		assert_string_equal(place.base, rows[i].base);
	}
	usage_place_find(&place, top, "/nonexistent");
	assert_string_equal(place.base, "lodger");
}

static void reads_v2(void **state)
{
	struct usage_place place;
	struct usage usage;

	(void)state;
	place_find(&place, "cgroup l\n");
	text_put("cgroup.controllers", "cpu memory pids\n");
	text_put("l/7/cgroup.events", "populated 1\nfrozen 0\n");
	text_put("l/7/cpu.stat", "usage_usec 1234\nuser_usec 1000\n");
	text_put("l/7/memory.current", "4096\n");
	text_put("l/7/memory.events", "low 0\noom 2\noom_kill 3\n");
	text_put("l/7/pids.current", "2\n");
	usage_read(&place, 7, &usage);
	assert_int_equal(usage.value[USAGE_CPU], 1234);
	assert_int_equal(usage.value[USAGE_MEMORY], 4096);
	assert_int_equal(usage.value[USAGE_OOM_KILLS], 3);
	assert_int_equal(usage.value[USAGE_PIDS], 2);
	assert_true(usage.value[USAGE_MEMORY_PEAK] == USAGE_UNKNOWN);
	assert_true(usage.value[USAGE_PIDS_PEAK] == USAGE_UNKNOWN);
	assert_int_equal(usage_liveness(&place, 7), SESSION_LIVES);
	text_put("l/7/cgroup.events", "populated 0\nfrozen 0\n");
	assert_int_equal(usage_liveness(&place, 7), SESSION_ENDED);
	assert_int_equal(usage_liveness(&place, 8), SESSION_ENDED);
}

static void reads_v1(void **state)
{
	struct usage_place place;
	struct usage usage;

	(void)state;
	place_find(&place, "");
	assert_int_equal(usage_liveness(&place, 7), SESSION_UNCLEAR);
	text_put("cpuacct/lodger/7/cpuacct.usage", "5000000\n");
	text_put("memory/lodger/7/memory.max_usage_in_bytes", "8192\n");
	text_put("memory/lodger/7/memory.oom_control",
		 "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
	text_put("pids/lodger/7/cgroup.procs", "0\n");
	usage_read(&place, 7, &usage);
	assert_int_equal(usage.value[USAGE_CPU], 5000);
	assert_int_equal(usage.value[USAGE_MEMORY_PEAK], 8192);
	assert_int_equal(usage.value[USAGE_OOM_KILLS], 1);
	assert_int_equal(usage_liveness(&place, 7), SESSION_LIVES);
	text_put("pids/lodger/7/cgroup.procs", "");
	assert_int_equal(usage_liveness(&place, 7), SESSION_ENDED);
	assert_int_equal(usage_liveness(&place, 8), SESSION_ENDED);
	usage_read(&place, 8, &usage);
	for (int i = 0; i < USAGE_COUNT; i++)
		assert_true(usage.value[i] == USAGE_UNKNOWN);
}

static void record_put(const char *path, uint32_t number, size_t size)
{
	const struct record record = {
		.magic = RECORD_MAGIC,
		.number = number,
		.uid = SESSION_UID_BASE + number,
		.owner = 1234567,
		.created_boot = 1,
		.limits[LIMIT_TTL] = 60,
	};

	file_put(path, &record, size);
}

// Only whole records of the right number count; nothing else in the directory disturbs.
static void lists_records(void **state)
{
	struct usage_place place;
	struct session_list list;
	struct failure failure;
	char directory[64];

	(void)state;
	place_find(&place, "");
	snprintf(directory, sizeof(directory), "%s/sessions", top);
	assert_true(session_list_read(&list, directory, &place, &failure));
	assert_int_equal(list.count, 0);
	record_put("sessions/12/record", 12, sizeof(struct record));
	record_put("sessions/3/record", 3, sizeof(struct record));
	record_put("sessions/4/record", 5, sizeof(struct record));
	record_put("sessions/6/record", 6, sizeof(struct record) - 1);
	record_put("sessions/07/record", 7, sizeof(struct record));
	record_put("sessions/x/record", 8, sizeof(struct record));
	record_put("sessions/65536/record", 65536, sizeof(struct record));
	text_put("sessions/9", "not a directory");
	assert_true(session_list_read(&list, directory, &place, &failure));
	assert_int_equal(list.count, 2);
	assert_int_equal(list.sessions[0].record.number, 3);
	assert_int_equal(list.sessions[1].record.number, 12);
	assert_int_equal(session_remaining(&list.sessions[0]), 0);
	assert_string_equal(user_name(list.sessions[0].record.owner), "1234567");
	session_list_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finds_the_place, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_v2, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_v1, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_records, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
