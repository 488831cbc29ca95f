// Sizes, times, percentages and counts as options take them (client/lib/quantity.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#undef fail // the client has a function of that name

#include "quantity.h"

typedef bool parse(const char *what, const char *word, uint64_t *value, struct failure *failure);

static const struct {
	parse *parse;
	const char *word;
	uint64_t value; // 0: refused
} rows[] = {
	{ size_parse, "1", 1 },
	{ size_parse, "4096", 4096 },
	{ size_parse, "512M", 512ULL << 20 },
	{ size_parse, "512m", 512ULL << 20 },
	{ size_parse, "1G", 1ULL << 30 },
	{ size_parse, "2T", 2ULL << 40 },
	{ size_parse, "1K", 1024 },
	{ size_parse, "7E", 7ULL << 60 },
	{ size_parse, "9223372036854775807", INT64_MAX },
	{ size_parse, "0", 0 },
	{ size_parse, "0G", 0 },
	{ size_parse, "", 0 },
	{ size_parse, "G", 0 },
	{ size_parse, "1B", 0 },
	{ size_parse, "1GB", 0 },
	{ size_parse, "1.5G", 0 },
	{ size_parse, "-1", 0 },
	{ size_parse, "+1", 0 },
	{ size_parse, " 1", 0 },
	{ size_parse, "1 ", 0 },
	{ size_parse, "1 G", 0 },
	{ size_parse, "0x10", 0 },
	{ size_parse, "1e3", 0 },
	{ size_parse, "8E", 0 },
	{ size_parse, "16E", 0 },
	{ size_parse, "9223372036854775808", 0 },
	{ size_parse, "18446744073709551616", 0 },
	{ size_parse, "99999999999999999999999", 0 },
	{ duration_parse, "90", 90 },
	{ duration_parse, "90s", 90 },
	{ duration_parse, "15m", 900 },
	{ duration_parse, "2h", 7200 },
	{ duration_parse, "1d", 86400 },
	{ duration_parse, "3650d", DURATION_MAX },
	{ duration_parse, "315360000", DURATION_MAX },
	{ duration_parse, "315360001", 0 },
	{ duration_parse, "3651d", 0 },
	{ duration_parse, "0", 0 },
	{ duration_parse, "0h", 0 },
	{ duration_parse, "", 0 },
	{ duration_parse, "s", 0 },
	{ duration_parse, "1S", 0 },
	{ duration_parse, "1ms", 0 },
	{ duration_parse, "1h30m", 0 },
	{ duration_parse, "-1s", 0 },
	{ duration_parse, " 1s", 0 },
	{ duration_parse, "1.5h", 0 },
	{ duration_parse, "9999999999999999999d", 0 },
	{ percent_parse, "50", 50 },
	{ percent_parse, "50%", 50 },
	{ percent_parse, "400%", 400 },
	{ percent_parse, "1000000", PERCENT_MAX },
	{ percent_parse, "1000001", 0 },
	{ percent_parse, "0", 0 },
	{ percent_parse, "%", 0 },
	{ percent_parse, "50%%", 0 },
	{ percent_parse, "50 %", 0 },
	{ percent_parse, "-5", 0 },
	{ percent_parse, "0.5", 0 },
	{ count_parse, "1", 1 },
	{ count_parse, "128", 128 },
	{ count_parse, "1099511627776", 1ULL << 40 },
	{ count_parse, "1099511627777", 0 },
	{ count_parse, "0", 0 },
	{ count_parse, "", 0 },
	{ count_parse, "1k", 0 },
	{ count_parse, "-1", 0 },
	{ count_parse, "+1", 0 },
	{ count_parse, "4294967296x", 0 },
};

static void parses_exactly(void **state)
{
	int wrongs = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct failure failure = { 0 };
		uint64_t value = 0;
		const bool good = rows[i].parse("--option", rows[i].word, &value, &failure);

		if (good != (rows[i].value != 0) || (good && value != rows[i].value)) {
			print_error("'%s': %s, %llu\n", rows[i].word, good ? "taken" : failure.text,
				    (unsigned long long)value);
			wrongs++;
		}
	}
	assert_int_equal(wrongs, 0);
}

static void refusals_name_the_option(void **state)
{
	struct failure failure;
	uint64_t value;

	(void)state;
	assert_false(size_parse("--memory", "much", &value, &failure));
	assert_non_null(strstr(failure.text, "--memory"));
	assert_non_null(strstr(failure.text, "'much'"));
	assert_int_equal(failure.exit_code, EXIT_LODGER);
	assert_false(duration_parse("--ttl", "4000d", &value, &failure));
	assert_non_null(strstr(failure.text, "--ttl"));
	assert_non_null(strstr(failure.text, "3650d"));
}

static void formats(void **state)
{
	char text[QUANTITY_SIZE];

	(void)state;
	assert_string_equal(size_format(text, 0), "0");
	assert_string_equal(size_format(text, 1023), "1023");
	assert_string_equal(size_format(text, 1024), "1K");
	assert_string_equal(size_format(text, 1536), "1.5K");
	assert_string_equal(size_format(text, 512ULL << 20), "512M");
	assert_string_equal(size_format(text, UINT64_MAX), "15.9E");
	assert_string_equal(duration_format(text, 0), "0s");
	assert_string_equal(duration_format(text, 59), "59s");
	assert_string_equal(duration_format(text, 61), "1m01s");
	assert_string_equal(duration_format(text, 7500), "2h05m");
	assert_string_equal(duration_format(text, 90000), "1d01h");
	assert_true(strlen(duration_format(text, UINT64_MAX)) < QUANTITY_SIZE - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_exactly),
		cmocka_unit_test(refusals_name_the_option),
		cmocka_unit_test(formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
