// The options of the commands (client/cli/command.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#undef fail // the client has a function of that name

#include "command.h"

#define MAX_WORDS 12

// Parses `line`, split at blanks. The words live until the next call.
static bool parse(struct options *options, const char *line, struct failure *failure)
{
	static char text[256];
	static char *words[MAX_WORDS + 1];
	char *rest = text;
	int count = 0;

	strncpy(text, line, sizeof(text) - 1);
	while (rest && count < MAX_WORDS)
		words[count++] = strsep(&rest, " ");
	words[count] = NULL;
	return options_parse(options, command_find(words[0]), count, words, failure);
}

static void stops_at_the_program(void **state)
{
	struct options options;
	struct failure failure;

	(void)state;
	assert_true(parse(&options, "run -t --env A=b ls -l --json", &failure));
	assert_true(options.terminal);
	assert_int_equal(options.environment_count, 1);
	assert_int_equal(options.argument_count, 3);
	assert_string_equal(options.arguments[1], "-l");
	options_free(&options);

	assert_true(parse(&options, "run -- -x", &failure));
	assert_string_equal(options.arguments[0], "-x");
	assert_null(options.arguments[1]);
	options_free(&options);

	assert_true(parse(&options, "exec lodger-1 -- cmd -p x", &failure));
	assert_int_equal(options.package_count, 0);
	assert_int_equal(options.argument_count, 5);
	options_free(&options);
}

static void takes_options_anywhere_else(void **state)
{
	struct options options;
	struct failure failure;

	(void)state;
	assert_true(parse(&options, "show lodger-1 --json", &failure));
	assert_true(options.json);
	assert_int_equal(options.argument_count, 1);
	options_free(&options);
}

static void takes_limits(void **state)
{
	struct options options;
	struct failure failure;

	(void)state;
	assert_true(parse(&options, "create --memory 1G --pids 128 --cpu 50% --ttl=2h --net host",
			  &failure));
	assert_int_equal(options.limits[LIMIT_MEMORY], 1 << 30);
	assert_int_equal(options.limits[LIMIT_PIDS], 128);
	assert_int_equal(options.limits[LIMIT_CPU], 50);
	assert_int_equal(options.limits[LIMIT_TTL], 7200);
	assert_int_equal(options.limits[LIMIT_DISK], 0);
	assert_true(options.network_host);
	options_free(&options);
}

static void takes_switches(void **state)
{
	static const char *const commands[] = { "create", "run", "exec", "shell" };
	struct options options;
	struct failure failure;

	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char line[40];

		snprintf(line, sizeof(line), "%s --no-auto x y", commands[i]);
		assert_true(parse(&options, line, &failure));
		assert_true(options.auto_off);
		options_free(&options);
	}
	assert_true(parse(&options, "packages --cached sym", &failure));
	assert_true(options.cached);
	assert_false(options.auto_off);
	options_free(&options);
	// What follows is the program's own.
	assert_true(parse(&options, "command jq --json --help", &failure));
	assert_int_equal(options.argument_count, 3);
	assert_false(options.json || options.help);
	options_free(&options);
}

static void takes_packages_and_variables(void **state)
{
	struct options options;
	struct failure failure;

	(void)state;
	assert_true(
		parse(&options, "run -p jq --package lua -pgcc --env A= --env B=c x", &failure));
	assert_int_equal(options.package_count, 3);
	assert_string_equal(options.packages[2], "gcc");
	assert_int_equal(options.environment_count, 2);
	options_free(&options);
}

static void refuses_by_name(void **state)
{
	static const struct {
		const char *line, *said;
	} rows[] = {
		{ "run --frob x", "--frob" },	    { "run -z x", "-z" },
		{ "run --memory", "--memory" },	    { "run -p", "-p" },
		{ "run --usage=1 x", "--usage" },   { "create -p jq", "-p" },
		{ "list --memory 1G", "--memory" }, { "run --memory lots x", "'lots'" },
		{ "list --no-auto", "--no-auto" },  { "which --cached x", "--cached" },
		{ "run --pids -1 x", "'-1'" },	    { "run --net bridge x", "'bridge'" },
		{ "run -p a;b x", "'a;b'" },	    { "run --env PATH x", "'PATH'" },
		{ "run --dir= x", "--dir" },	    { "put --max 0 a b c", "--max" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct options options;
		struct failure failure = { 0 };

		assert_false(parse(&options, rows[i].line, &failure));
		if (!strstr(failure.text, rows[i].said))
			print_error("%s: %s\n", rows[i].line, failure.text);
		assert_non_null(strstr(failure.text, rows[i].said));
		assert_int_equal(failure.exit_code, EXIT_LODGER);
		options_free(&options);
	}
}

// Every command is found by its name, and says what it is for.
static void table_is_sound(void **state)
{
	(void)state;
	for (size_t i = 0; i < command_count; i++) {
		assert_ptr_equal(command_find(commands[i].name), &commands[i]);
		assert_non_null(commands[i].run);
		assert_true(strlen(commands[i].summary) > 0);
		assert_true(commands[i].most < 0 || commands[i].most >= commands[i].least);
	}
	assert_null(command_find(""));
	assert_null(command_find("Run"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stops_at_the_program),
		cmocka_unit_test(takes_options_anywhere_else),
		cmocka_unit_test(takes_limits),
		cmocka_unit_test(takes_switches),
		cmocka_unit_test(takes_packages_and_variables),
		cmocka_unit_test(refuses_by_name),
		cmocka_unit_test(table_is_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
