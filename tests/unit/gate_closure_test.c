// client/gate/closure.c: the search in a list.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs those above.
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "closure.h"

static bool has(const char *list, const char *line)
{
	return closure_list_has((struct view){ list, strlen(list) },
				(struct view){ line, strlen(line) });
}

static void small(void **state)
{
	(void)state;
	assert_false(has("", "a"));
	assert_false(has("\n", "a"));
	assert_true(has("a\n", "a"));
	// A last line without its end may be cut.
	assert_false(has("a", "a"));
	assert_true(has("a\nb", "a"));
	assert_false(has("a\nb", "b"));
	assert_true(has("a\naa\nab\nb\n", "aa"));
	assert_true(has("a\naa\nab\nb\n", "a"));
	assert_true(has("a\naa\nab\nb\n", "b"));
	assert_false(has("a\naa\nab\nb\n", "c"));
	assert_false(has("a\naa\nab\nb\n", "aaa"));
	assert_false(has("aa\nab\n", "a"));
	assert_false(has("aa\nab\n", "aa\nab"));
	assert_false(has("aa\nab\n", "b"));
	assert_false(has("\n\n\n", "a"));
	assert_true(has("\n\na\n", "a"));
}

// Each of a few thousand lines of many lengths is found, nothing between them is.
static void large(void **state)
{
	enum { LINES = 3000 };
	static char list[LINES * 60], line[80];
	size_t used = 0;

	(void)state;
	for (unsigned int i = 0; i < LINES; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "/p/%08u%.*s\n", i * 2,
					 (int)(i % 40), "----------------------------------------");
	for (unsigned int i = 0; i < LINES; i++) {
		const size_t size =
			(size_t)snprintf(line, sizeof(line), "/p/%08u%.*s", i * 2, (int)(i % 40),
					 "----------------------------------------");

		assert_true(
			closure_list_has((struct view){ list, used }, (struct view){ line, size }));
		assert_false(closure_list_has((struct view){ list, used },
					      (struct view){ line, size - 1 }));
		line[size] = '-';
		assert_false(closure_list_has((struct view){ list, used },
					      (struct view){ line, size + 1 }));
		snprintf(line, sizeof(line), "/p/%08u", i * 2 + 1);
		assert_false(has(list, line));
	}
}

static void only_derivations(void **state)
{
	static const char list[] = "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-x\n"
				   "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-x.drv\n";
	const struct closure closure = { .lists = { { list, sizeof(list) - 1 } }, .count = 1 };
	const size_t size = strlen("/nix/store/0123456789abcdfghijklmnpqrsvwxyz-x");

	(void)state;
	assert_false(closure_has(&closure, (struct view){ list, size }));
	assert_true(closure_has(&closure, (struct view){ list + size + 1, size + 4 }));
}

static void nothing_there(void **state)
{
	struct closure closure;

	(void)state;
	closure_open(&closure, "/nonexistent", -1);
	assert_int_equal(closure.count, 0);
	// Everybody may write there, so nothing in it counts.
	closure_open(&closure, "/tmp", -1);
	assert_int_equal(closure.count, 0);
	closure_close(&closure);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small),
		cmocka_unit_test(large),
		cmocka_unit_test(only_derivations),
		cmocka_unit_test(nothing_there),
	};

	return cmocka_run_group_tests_name("gate_closure", tests, NULL, NULL);
}
