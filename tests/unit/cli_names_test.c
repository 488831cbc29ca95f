// Names that a caller gives (client/lib/names.h): sessions, packages, variables, terminals.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#undef fail // the client has a function of that name

#include "names.h"

// How many words were judged wrongly; each is named.
static int wrongs;

static void wrong(const char *word)
{
	print_error("judged wrongly: '%s'\n", word);
	wrongs++;
}

static void sessions(void **state)
{
	static const struct {
		const char *word;
		uint32_t number;
	} rows[] = {
		{ "lodger-1", 1 },
		{ "lodger-65535", 65535 },
		{ "lodger-0", 0 },
		{ "lodger-65536", 0 },
		{ "lodger-01", 0 },
		{ "lodger-", 0 },
		{ "lodger", 0 },
		{ "1", 0 },
		{ "Lodger-1", 0 },
		{ "lodger-1 ", 0 },
		{ " lodger-1", 0 },
		{ "lodger-+1", 0 },
		{ "lodger--1", 0 },
		{ "lodger-1/..", 0 },
		{ "../lodger-1", 0 },
		{ "lodger-1\n", 0 },
		{ "lodger-0x1", 0 },
		{ "", 0 },
		{ "lodger-4294967297", 0 },
		{ "lodger-18446744073709551617", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct failure failure = { 0 };

		assert_int_equal(session_parse(rows[i].word, &failure), rows[i].number);
		assert_int_equal(failure.text[0] == '\0', rows[i].number != 0);
	}
}

static void packages(void **state)
{
	static const char *const taken[] = { "jq",    "python39Packages.sympy",	 "_x", "a'b-c",
					     "gcc12", "haskellPackages.a-b_c'.x" };
	static const char *const refused[] = {
		"",
		".",
		"jq.",
		".jq",
		"a..b",
		"1a",
		"a.1b",
		"-p",
		"--run",
		"a b",
		"jq;",
		"(jq)",
		"a\n",
		"import <nixpkgs> {}",
		"builtins.readFile /etc/passwd",
		"a/b",
		"${x}",
		"a,b",
		"\"a\"",
		"jq\t",
		"'a",
		"-a",
		"a.-b",
		"\xc3\xbc",
		"a\x80",
	};
	struct failure failure;
	char long_word[400];

	(void)state;
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (!package_check(taken[i], &failure))
			wrong(taken[i]);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (package_check(refused[i], &failure))
			wrong(refused[i]);
	memset(long_word, 'a', sizeof(long_word) - 1);
	long_word[sizeof(long_word) - 1] = '\0';
	assert_false(package_check(long_word, &failure));
	assert_false(package_check("x; y", &failure));
	assert_non_null(strstr(failure.text, "'x; y'"));
	assert_int_equal(wrongs, 0);
}

static void variables(void **state)
{
	static const char *const taken[] = { "A=", "A=b", "_a1=b=c", "A= x\n", "a='\"$(x)" };
	static const char *const refused[] = { "",	"A",	 "=b",	 "1A=b",
					       "A-B=c", "A B=c", " A=b", "A.B=c" };
	struct failure failure;

	(void)state;
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		assert_true(variable_check(taken[i], &failure));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (variable_check(refused[i], &failure))
			wrong(refused[i]);
	assert_int_equal(wrongs, 0);
}

static void terminals(void **state)
{
	(void)state;
	assert_true(terminal_name_valid("xterm-256color"));
	assert_true(terminal_name_valid("screen.xterm"));
	assert_false(terminal_name_valid(""));
	assert_false(terminal_name_valid("../x"));
	assert_false(terminal_name_valid("x\033[m"));
	assert_false(terminal_name_valid("a b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sessions),
		cmocka_unit_test(packages),
		cmocka_unit_test(variables),
		cmocka_unit_test(terminals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
