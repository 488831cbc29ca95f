// client/gate/derivation.c: the list of outputs, strictly.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs those above.
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "derivation.h"

#define PATH(c) "/nix/store/" c "123456789abcdfghijklmnpqrsvwxyz-x"
#define TAIL "],[],[],\"x\",\"/bin/sh\",[],[])"

static const char *parse(const char *text, struct derivation *derivation)
{
	return derivation_parse((struct view){ text, strlen(text) }, derivation);
}

static void good(void **state)
{
	struct derivation derivation;
	const struct output *output;

	(void)state;
	assert_null(parse("Derive([(\"out\",\"" PATH("0") "\",\"\",\"\")" TAIL, &derivation));
	assert_int_equal(derivation.count, 1);
	output = derivation_output(&derivation, (struct view){ "out", 3 });
	assert_non_null(output);
	assert_true(view_is(output->path, PATH("0")) && !output->fixed);
	assert_null(derivation_output(&derivation, (struct view){ "ou", 2 }));
	assert_null(derivation_output(&derivation, (struct view){ "out2", 4 }));

	assert_null(parse("Derive([(\"dev\",\"" PATH("1") "\",\"\",\"\"),(\"out\",\"" PATH(
				  "2") "\",\"r:sha256\",\"00\")" TAIL,
			  &derivation));
	assert_int_equal(derivation.count, 2);
	assert_false(derivation.outputs[0].fixed);
	assert_true(derivation.outputs[1].fixed && view_is(derivation.outputs[1].path, PATH("2")));
	// Half of what makes it fixed is enough to treat it so.
	assert_null(parse("Derive([(\"out\",\"" PATH("0") "\",\"sha256\",\"\")" TAIL, &derivation));
	assert_true(derivation.outputs[0].fixed);
}

static void bad(void **state)
{
	static const char *const rows[] = {
		"",
		"Derive(",
		"Derive([",
		"Derive([]" TAIL,
		"Derive([" TAIL,
		"DrvWithVersion(\"xp-dyn-drv\",[(\"out\",\"" PATH("0") "\",\"\",\"\")" TAIL,
		" Derive([(\"out\",\"" PATH("0") "\",\"\",\"\")" TAIL,
		"Derive( [(\"out\",\"" PATH("0") "\",\"\",\"\")" TAIL,
		"Derive([(\"out\",\"" PATH("0") "\",\"\",\"\"",
		"Derive([(\"out\",\"" PATH("0") "\",\"\",\"\")",
		"Derive([(\"out\",\"" PATH("0") "\",\"\",\"\")]",
		"Derive([(\"out\",\"" PATH("0") "\",\"\",\"\")],",
		"Derive([(\"out\",\"" PATH("0") "\",\"\",\"\"),]",
		"Derive([,(\"out\",\"" PATH("0") "\",\"\",\"\")" TAIL,
		"Derive([(\"out\",\"" PATH("0") "\",\"\")" TAIL,
		"Derive([(\"out\",\"" PATH("0") "\",\"\",\"\",\"\")" TAIL,
		// Nix needs no comma between two, and takes the first of two of one name.
		"Derive([(\"a\",\"" PATH("0") "\",\"\",\"\")(\"b\",\"" PATH(
			"1") "\",\"\",\"\")" TAIL,
		"Derive([(\"a\",\"" PATH("0") "\",\"\",\"\"),(\"a\",\"" PATH(
			"1") "\",\"\",\"\")" TAIL,
		// Escapes mean other names.
		"Derive([(\"o\\ut\",\"" PATH("0") "\",\"\",\"\")" TAIL,
		"Derive([(\"out\",\"" PATH("0") "\\\"\",\"\",\"\")" TAIL,
		"Derive([(\"out\",\"" PATH("0") "\",\"\\\"\",\"\")" TAIL,
		"Derive([(\"\",\"" PATH("0") "\",\"\",\"\")" TAIL,
		"Derive([(\"a,b\",\"" PATH("0") "\",\"\",\"\")" TAIL,
		"Derive([(\"out\",\"/nix/store/x\",\"\",\"\")" TAIL,
		"Derive([(\"out\",\"/etc/passwd\",\"\",\"\")" TAIL,
		"Derive([(\"out\",\"" PATH("0") "/\",\"\",\"\")" TAIL,
		"Derive([(out,\"" PATH("0") "\",\"\",\"\")" TAIL,
	};
	struct derivation derivation;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (parse(rows[i], &derivation) == NULL)
			fail_msg("taken: %s", rows[i]);
	}
	assert_string_equal(parse("Derive([(\"out\",\"\",\"r:sha256\",\"\")" TAIL, &derivation),
			    "where its result will be is not known before it is built");
}

// No prefix of a good one is good, and none is read past its end (the sanitizer sees to that).
static void cut(void **state)
{
	static const char whole[] = "Derive([(\"dev\",\"" PATH(
		"1") "\",\"\",\"\"),(\"out\",\"" PATH("2") "\",\"r:sha256\",\"00\")],[";
	struct derivation derivation;

	(void)state;
	for (size_t size = 0; size < sizeof(whole) - 1; size++) {
		char *copy = test_malloc(size + 1);

		memcpy(copy, whole, size);
		assert_non_null(derivation_parse((struct view){ copy, size }, &derivation));
		test_free(copy);
	}
	assert_null(derivation_parse((struct view){ whole, sizeof(whole) - 1 }, &derivation));
}

static void many(void **state)
{
	static char text[DERIVATION_HEAD];
	struct derivation derivation;

	(void)state;
	for (unsigned int count = DERIVATION_OUTPUTS; count <= DERIVATION_OUTPUTS + 1; count++) {
		size_t used = (size_t)snprintf(text, sizeof(text), "Derive([");

		for (unsigned int i = 0; i < count; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "%s(\"o%u\",\"" PATH("0") "\",\"\",\"\")",
						 i > 0 ? "," : "", i);
		snprintf(text + used, sizeof(text) - used, TAIL);
		assert_int_equal(parse(text, &derivation) == NULL, count == DERIVATION_OUTPUTS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(bad),
		cmocka_unit_test(cut),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests_name("gate_derivation", tests, NULL, NULL);
}
