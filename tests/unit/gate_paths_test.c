// client/gate/paths.c: names, store paths, what is to be built.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs those above.
#include <cmocka.h>

#include <string.h>

#include "paths.h"

#define HASH "0123456789abcdfghijklmnpqrsvwxyz"
#define DRV "/nix/store/" HASH "-x.drv"

static struct view view(const char *text)
{
	return (struct view){ text, strlen(text) };
}

static void store_paths(void **state)
{
	static const struct {
		const char *text;
		bool good;
	} rows[] = {
		{ "/nix/store/" HASH "-x", true },
		{ "/nix/store/" HASH "-a+b-c._?=9", true },
		{ "/nix/store/" HASH "-.x", true },
		{ "/nix/store/" HASH "-x.drv", true },
		{ "", false },
		{ "/nix/store/", false },
		{ "/nix/store/" HASH, false },
		{ "/nix/store/" HASH "-", false },
		{ "/nix/store/" HASH "-..", false },
		{ "/nix/store/" HASH "-.", false },
		{ "/nix/store/" HASH "-.-x", false },
		{ "/nix/store/" HASH "-..-x", false },
		{ "/nix/store/" HASH "-x/y", false },
		{ "/nix/store/" HASH "-x/", false },
		{ "/nix/store//" HASH "-x", false },
		{ "/nix/store/../store/" HASH "-x", false },
		{ "/nix/store/e123456789abcdfghijklmnpqrsvwxyz-x", false },
		{ "/nix/store/A123456789abcdfghijklmnpqrsvwxyz-x", false },
		{ "/nix/store/0" HASH "-x", false },
		{ "/nix/store/" HASH "_x", false },
		{ "/nix/store/" HASH "-x y", false },
		{ "/nix/store/" HASH "-x\n", false },
		{ "/nix/store/" HASH "-x!out", false },
		{ "/nix/store/" HASH "-\xc3\xa4", false },
		{ "nix/store/" HASH "-x", false },
		{ "/usr/store/" HASH "-x", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (paths_store(view(rows[i].text)) != rows[i].good)
			fail_msg("%s", rows[i].text);
	}
	assert_false(paths_store((struct view){ "/nix/store/" HASH "-x\0y", 48 }));
	assert_false(paths_store((struct view){ 0 }));
	assert_true(paths_derivation(view(DRV)));
	assert_false(paths_derivation(view("/nix/store/" HASH "-xdrv")));
	assert_false(paths_derivation(view("/nix/store/" HASH "-x.drv.")));
}

static void names_have_a_length(void **state)
{
	char name[PATHS_NAME_MAX + 1];

	(void)state;
	memset(name, 'x', sizeof(name));
	assert_true(paths_name((struct view){ name, PATHS_NAME_MAX }));
	assert_false(paths_name((struct view){ name, PATHS_NAME_MAX + 1 }));
	assert_false(paths_name((struct view){ name, 0 }));
	for (unsigned int c = 0; c < 256; c++) {
		const char one[] = { 'a', (char)c };
		const bool good = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
				  (c >= 'A' && c <= 'Z') || (c != 0 && strchr("+-._?=", (int)c));

		assert_int_equal(paths_name((struct view){ one, 2 }), good);
		assert_int_equal(paths_output((struct view){ one, 2 }), good);
	}
}

static void wanted(void **state)
{
	static const struct {
		const char *text, *path, *outputs; // no path: refused; no outputs: a path
	} rows[] = {
		{ "/nix/store/" HASH "-x", "/nix/store/" HASH "-x", NULL },
		{ DRV, DRV, NULL },
		{ DRV "!out", DRV, "out" },
		{ DRV "!*", DRV, "*" },
		{ DRV "!out,dev", DRV, "out,dev" },
		{ DRV "!", NULL, NULL },
		{ DRV "!,", NULL, NULL },
		{ DRV "!out,", NULL, NULL },
		{ DRV "!,out", NULL, NULL },
		{ DRV "!out,,dev", NULL, NULL },
		{ DRV "!*,out", NULL, NULL },
		{ DRV "!**", NULL, NULL },
		{ DRV "!out!out", NULL, NULL },
		{ DRV "!a.drv!out", NULL, NULL },
		{ DRV "^out", NULL, NULL },
		{ DRV "!a b", NULL, NULL },
		{ DRV "!a/b", NULL, NULL },
		{ "/nix/store/" HASH "-x!out", NULL, NULL },
		{ "!out", NULL, NULL },
		{ "!", NULL, NULL },
		{ "", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wanted got;

		if (paths_wanted(view(rows[i].text), &got) != (rows[i].path != NULL))
			fail_msg("%s", rows[i].text);
		if (rows[i].path == NULL)
			continue;
		assert_true(view_is(got.path, rows[i].path));
		assert_int_equal(got.outputs.text != NULL, rows[i].outputs != NULL);
		if (rows[i].outputs != NULL)
			assert_true(view_is(got.outputs, rows[i].outputs));
	}
}

static void outputs_one_by_one(void **state)
{
	struct view list = view("out,dev,x"), name;

	(void)state;
	assert_true(paths_next_output(&list, &name) && view_is(name, "out"));
	assert_true(paths_next_output(&list, &name) && view_is(name, "dev"));
	assert_true(paths_next_output(&list, &name) && view_is(name, "x"));
	assert_false(paths_next_output(&list, &name));
}

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void realisations(void **state)
{
	(void)state;
	assert_true(paths_realisation(view("sha256:" HEX "!out")));
	assert_false(paths_realisation(view("sha256:" HEX "!")));
	assert_false(paths_realisation(view("sha256:" HEX "out")));
	assert_false(paths_realisation(view("sha1:" HEX "!out")));
	assert_false(paths_realisation(view("sha256:g" HEX "!out")));
	assert_false(paths_realisation(view("sha256:" HEX "!a b")));
	assert_false(paths_realisation(view("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(store_paths),	cmocka_unit_test(names_have_a_length),
		cmocka_unit_test(wanted),	cmocka_unit_test(outputs_one_by_one),
		cmocka_unit_test(realisations),
	};

	return cmocka_run_group_tests_name("gate_paths", tests, NULL, NULL);
}
