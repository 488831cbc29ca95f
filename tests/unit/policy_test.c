// proto/policy.c: every kind of line, right and wrong.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policy.h"

static struct policy policy;
static const char *problem;

static unsigned int parse(const char *text)
{
	static const struct caller caller = {
		.uid = 1000,
		.gid = 1000,
		.group_count = 2,
		.groups = { 2001, 2002 },
	};

	memset(&policy, 0, sizeof(policy));
	problem = NULL;
	snprintf(policy.text, sizeof(policy.text), "%s", text);
	return policy_parse(&policy, &caller, &problem);
}

static void nothing(void **state)
{
	(void)state;
	assert_int_equal(parse(""), 0);
	for (int i = 0; i < MAXIMUM_COUNT; i++)
		assert_int_equal(policy.maxima[i], policy_keys[i].builtin);
	assert_string_equal(policy.cgroup, "lodger");
	assert_int_equal(policy.path_count, 0);
	assert_false(policy.network_host);
	assert_false(policy.auto_off);
	assert_int_equal(parse("\n  \n\t# comment only\n   # another"), 0);
}

static void right(void **state)
{
	(void)state;
	assert_int_equal(parse("default memory 512M\nmaximum memory 4G # enough\n"
			       "maximum cpu 400\ndefault ttl 90\nmaximum sessions 10\n"
			       "maximum sessions-per-caller 3\nexpose /usr\n\texpose  /nix/store \n"
			       "device /dev/nvidia0\noptional swap\noptional cpu\n"
			       "cgroup system.slice/lodger.service\nallow network-host"),
			 0);
	assert_int_equal(policy.defaults[LIMIT_MEMORY], 512 << 20);
	assert_int_equal(policy.maxima[LIMIT_MEMORY], 4L << 30);
	assert_int_equal(policy.maxima[LIMIT_CPU], 400);
	assert_int_equal(policy.defaults[LIMIT_TTL], 90);
	assert_int_equal(policy.maxima[MAXIMUM_SESSIONS], 10);
	assert_int_equal(policy.maxima[MAXIMUM_PER_CALLER], 3);
	assert_int_equal(policy.path_count, 3);
	assert_string_equal(policy.paths[1].path, "/nix/store");
	assert_false(policy.paths[1].device);
	assert_true(policy.paths[2].device);
	assert_true(policy.optional[OPTIONAL_SWAP] && policy.optional[OPTIONAL_CPU]);
	assert_false(policy.optional[OPTIONAL_MEMORY] || policy.optional[OPTIONAL_PIDS]);
	assert_string_equal(policy.cgroup, "system.slice/lodger.service");
	assert_true(policy.network_host);
	assert_int_equal(parse("auto no\nallow network-host\ncgroup x\nexpose /usr"), 0);
	assert_true(policy.auto_off);
	assert_int_equal(parse("cgroup no\nauto no\nauto yes"), 0);
	assert_false(policy.auto_off);
}

static void groups(void **state)
{
	(void)state;
	assert_int_equal(parse("maximum pids 10\ngroup 2002 maximum pids 20\n"
			       "group 3000 maximum pids 30\ngroup 3000 allow network-host"),
			 0);
	assert_int_equal(policy.maxima[LIMIT_PIDS], 20);
	assert_false(policy.network_host);
	assert_int_equal(parse("group 1000 allow network-host"), 0);
	assert_true(policy.network_host);
	assert_int_equal(parse("auto no\ngroup 2001 auto yes\ngroup 3000 auto no"), 0);
	assert_false(policy.auto_off);
	assert_int_equal(parse("group 2001 auto no"), 0);
	assert_true(policy.auto_off);
	// A line for others is checked all the same, and a later line counts.
	assert_int_equal(parse("\ngroup 3000 maximum pids x"), 2);
	assert_int_equal(parse("group 2002 maximum pids 20\nmaximum pids 10"), 0);
	assert_int_equal(policy.maxima[LIMIT_PIDS], 10);
}

static void wrong(void **state)
{
	static const char *const lines[] = {
		"memory 1G",
		"default memory",
		"default memory 1G 2G",
		"default memory -1",
		"default memory +1",
		"default memory 1X",
		"default memory 1GG",
		"default memory 0x10",
		"default memory 99999999999999999999",
		"default memory 16E",
		"default memory 0E",
		"default memory 0P",
		"default memory 100B",
		"default memory 2048T",
		"maximum frobs 1",
		"default sessions 1",
		"default sessions-per-caller 1",
		"expose usr",
		"expose /",
		"expose /usr/",
		"expose //usr",
		"expose /usr/../etc",
		"expose /usr/.ssh",
		"expose /a b",
		"expose /a\x1b",
		"expose /a\"b",
		"expose",
		"device null",
		"allow",
		"allow everything",
		"auto",
		"auto off",
		"auto no no",
		"automatic no",
		"group 1 auto",
		"optional disk",
		"optional",
		"cgroup /lodger",
		"cgroup ../lodger",
		"cgroup a/../b",
		"cgroup a//b",
		"cgroup a/",
		"group",
		"group x maximum pids 1",
		"group -1 maximum pids 1",
		"group 1",
		"group 1 maximum pids",
		"group 1 expose /usr",
		"group 1 group 1 maximum pids 1",
		"group 4294967296000 maximum pids 1",
		"expose\x80 /usr",
		"a b c d e f g h",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text), "# first\nmaximum pids 5\n%s\n", lines[i]);
		print_message("%s\n", lines[i]);
		assert_int_equal(parse(text), 3);
		assert_non_null(problem);
	}
}

static void too_many_paths(void **state)
{
	char text[POLICY_SIZE_MAX] = "";

	(void)state;
	for (int i = 0; i < POLICY_PATHS_MAX; i++)
		strcat(text, "expose /a\n");
	assert_int_equal(parse(text), 0);
	strcat(text, "expose /b\n");
	assert_int_equal(parse(text), POLICY_PATHS_MAX + 1);
}

// Each limit at its bounds, one beyond, and not given at all.
static void applied(void **state)
{
	(void)state;
	assert_int_equal(parse("default pids 100\nmaximum pids 50\nmaximum memory 1G\n"), 0);
	for (int i = 0; i < LIMIT_COUNT; i++) {
		const uint64_t least = policy_keys[i].least, most = policy.maxima[i];
		const uint64_t right[] = { least, most },
			       wrong[] = { least - 1, most + 1, UINT64_MAX };
		uint64_t limits[LIMIT_COUNT];

		for (size_t j = 0; j < 2; j++) {
			memset(limits, 0, sizeof(limits));
			limits[i] = right[j];
			assert_int_equal(policy_apply(&policy, limits), LIMIT_COUNT);
			assert_int_equal(limits[i], right[j]);
		}
		for (size_t j = 0; j < 3; j++) {
			memset(limits, 0, sizeof(limits));
			limits[i] = wrong[j];
			// Nothing is less than the least of 1 but what stands for the default.
			assert_int_equal(policy_apply(&policy, limits),
					 wrong[j] == 0 ? LIMIT_COUNT : i);
		}
	}
	uint64_t limits[LIMIT_COUNT] = { 0 };
	assert_int_equal(policy_apply(&policy, limits), LIMIT_COUNT);
	assert_int_equal(limits[LIMIT_PIDS], 50);
	assert_int_equal(limits[LIMIT_TTL], policy.defaults[LIMIT_TTL]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),	  cmocka_unit_test(right),
		cmocka_unit_test(groups),	  cmocka_unit_test(wrong),
		cmocka_unit_test(too_many_paths), cmocka_unit_test(applied),
	};

	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
