// Marks in a terminal's output, whole and in pieces, and colours taken out of it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mark.h"
#include "plain.h"

#define NONCE "0123456789abcdef0123456789abcdef"
#define MARK(status) "\033]7717;" NONCE ";" status "\007"

// Feeds `data` in pieces of `piece` bytes; what comes out, with what is kept back, is `clean`.
static struct mark fed(const char *data, size_t size, size_t piece, const char *clean)
{
	struct mark mark;
	char out[512];
	size_t used = 0;

	mark_start(&mark, NONCE);
	for (size_t at = 0; at < size; at += piece)
		used += mark_feed(&mark, out + used, data + at,
				  size - at < piece ? size - at : piece);
	used += mark_flush(&mark, out + used);
	assert_int_equal(used, strlen(clean));
	assert_memory_equal(out, clean, used);
	return mark;
}

static struct mark fed_all(const char *data, const char *clean)
{
	const size_t size = strlen(data);

	for (size_t piece = 1; piece < size; piece++)
		fed(data, size, piece, clean);
	return fed(data, size, size, clean);
}

static void marks_are_found(void **state)
{
	struct mark mark = fed_all("out\r\n" MARK("0"), "out\n");

	(void)state;
	assert_true(mark.found);
	assert_int_equal(mark.status, 0);
	mark = fed_all("a" MARK("1") "b" MARK("130") "c", "abc");
	assert_true(mark.found);
	assert_int_equal(mark.status, 130);
}

static void others_are_not(void **state)
{
	static const char *const texts[] = {
		"\033]7717;0023456789abcdef0123456789abcdef;0\007", // another number
		"\033]7717;" NONCE ";\007",			    // no status
		"\033]7717;" NONCE ";1234\007",			    // too long a one
		"\033]7717;" NONCE ";-1\007",
		"\033]7717;" NONCE,
		"\033]7717;" NONCE ";12\n",
		"\033\033]7717;" NONCE ";0\033",
		"\033[31mred\033[0m",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(fed_all(texts[i], texts[i]).found);
	// Behind the beginning of one.
	assert_true(fed_all("\033]7717;01" MARK("7"), "\033]7717;01").found);
	assert_true(fed_all("\033" MARK("7"), "\033").found);
}

static void newlines_and_screens(void **state)
{
	(void)state;
	fed_all("a\r\r\nb\rc\r", "a\r\nb\rc\r");
	assert_true(fed_all("x\033[?1049hy", "x\033[?1049hy").screen);
	assert_true(fed_all("\033[?47h\033[?47l", "\033[?47h\033[?47l").screen);
	assert_false(fed_all("\033[?1049l\033[?25h[?47h", "\033[?1049l\033[?25h[?47h").screen);
}

static void plain_is(const char *text, const char *expected)
{
	enum plain_state state = PLAIN_TEXT;
	char out[128];
	size_t used = 0;

	for (size_t i = 0; i < strlen(text); i++)
		used += plain_text(&state, out + used, text + i, 1);
	assert_int_equal(used, strlen(expected));
	assert_memory_equal(out, expected, used);
}

static void colours_go(void **state)
{
	(void)state;
	plain_is("\033[1;31mred\033[0m \033[?25lx\033[K", "red x");
	plain_is("\033]0;title\007", "\033]0;title\007");
	plain_is("\033\033[1mx", "\033x");
	plain_is("\033[12\nx", "\nx");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_are_found),
		cmocka_unit_test(others_are_not),
		cmocka_unit_test(newlines_and_screens),
		cmocka_unit_test(colours_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
