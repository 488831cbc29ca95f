// Text made fit for a document or a terminal (client/assistant/clean.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "clean.h"

static void assert_cleans(const char *text, bool ascii, const char *expected)
{
	const size_t size = strlen(text);

	// In steps of any size, each of them memory of its own.
	for (size_t step = 1; step <= size; step++) {
		struct clean clean = { .ascii = ascii };
		char got[200];
		size_t used = 0;

		for (size_t at = 0; at < size; at += step) {
			const size_t length = size - at < step ? size - at : step;
			char *piece = malloc(length);

			assert_non_null(piece);
			memcpy(piece, text + at, length);
			used += clean_text(&clean, got + used, piece, length);
			free(piece);
		}
		used += clean_end(&clean, got + used);
		got[used] = '\0';
		assert_string_equal(got, expected);
	}
}

static void text_stays(void **state)
{
	(void)state;
	assert_cleans("a\tb\n\\x7f", false, "a\tb\n\\x7f");
	assert_cleans("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf", false,
		      "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf");
	assert_cleans("\xc2\xa0", false, "\xc2\xa0");
	assert_cleans("\xed\x9f\xbf\xee\x80\x80", false, "\xed\x9f\xbf\xee\x80\x80");
}

static void controls_are_escaped(void **state)
{
	(void)state;
	assert_cleans("\x1b[2J\r\x7f\b", false, "\\x1b[2J\\x0d\\x7f\\x08");
	assert_cleans("\xc2\x9b"
		      "31m\xc2\x80",
		      false, "\\xc2\\x9b31m\\xc2\\x80");
}

static void what_is_no_character_is_escaped(void **state)
{
	(void)state;
	assert_cleans("\xff\xfe\x80z", false, "\\xff\\xfe\\x80z");
	assert_cleans("\xc3z\xe2\x82z\xc3\xc3\xa9", false, "\\xc3z\\xe2\\x82z\\xc3\xc3\xa9");
	// Overlong, surrogates, beyond the last one.
	assert_cleans("\xc0\xaf\xe0\x9f\xbf", false, "\\xc0\\xaf\\xe0\\x9f\\xbf");
	assert_cleans("\xf0\x8f\xbf\xbf\xed\xa0\x80", false, "\\xf0\\x8f\\xbf\\xbf\\xed\\xa0\\x80");
	assert_cleans("\xf4\x90\x80\x80\xf5", false, "\\xf4\\x90\\x80\\x80\\xf5");
	// Cut off at the end.
	assert_cleans("\xf0\x9f\x98", false, "\\xf0\\x9f\\x98");
}

static void for_other_terminals_all_is_ascii(void **state)
{
	(void)state;
	assert_cleans("a\xc3\xa9\xe2\x82\xac\n", true, "a\\xc3\\xa9\\xe2\\x82\\xac\n");
}

static void terminals_say_what_they_read(void **state)
{
	(void)state;
	setenv("LANG", "de_DE.UTF-8", 1);
	unsetenv("LC_CTYPE");
	unsetenv("LC_ALL");
	assert_true(clean_terminal_utf8());
	setenv("LC_ALL", "", 1);
	assert_true(clean_terminal_utf8());
	setenv("LC_CTYPE", "C.utf8", 1);
	assert_true(clean_terminal_utf8());
	setenv("LC_ALL", "C", 1);
	assert_false(clean_terminal_utf8());
	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	unsetenv("LANG");
	assert_false(clean_terminal_utf8());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_stays),
		cmocka_unit_test(controls_are_escaped),
		cmocka_unit_test(what_is_no_character_is_escaped),
		cmocka_unit_test(for_other_terminals_all_is_ascii),
		cmocka_unit_test(terminals_say_what_they_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
