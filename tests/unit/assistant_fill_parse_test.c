// The parser of lodger fill (client/assistant/fill_parse.h): what is run, what is text, and when.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fill_parse.h"

// The largest text of these tests.
#define ROOM (4U * FILL_WORK_MAX)

static struct fill_parser parser;

static void note(char *to, const char *text, size_t size)
{
	const size_t used = strlen(to);

	assert_true(used + size < ROOM);
	memcpy(to + used, text, size);
	to[used + size] = '\0';
}

static void note_work(char *to)
{
	static const char *const names[] = { "sh=", "py=", "other=" };

	note(to, "[", 1);
	if (parser.refused)
		note(to, parser.refused, strlen(parser.refused));
	for (size_t i = 0; i < parser.piece_count && !parser.refused; i++) {
		const struct fill_piece *piece = &parser.pieces[i];

		note(to, names[piece->language], strlen(names[piece->language]));
		note(to, parser.text + piece->offset, piece->size);
	}
	note(to, "]", 1);
}

// Reads `text` in steps of `step` bytes. Returns it with what is run behind each event: (COMMAND),
// [LANGUAGE=CODE…].
static char *read_in_steps(const char *text, size_t step)
{
	char *result = calloc(1, ROOM);
	enum fill_event event;
	size_t size = strlen(text);

	assert_non_null(result);
	fill_start(&parser);
	while (size > 0) {
		const size_t taken = fill_read(&parser, text, size < step ? size : step, &event);

		assert_in_range(taken, 1, size);
		if (event != FILL_DROP)
			note(result, text, taken);
		if (event == FILL_COMMAND) {
			note(result, "(", 1);
			note(result, parser.text, parser.size);
			note(result, ")", 1);
		} else if (event == FILL_WORK) {
			note_work(result);
		}
		text += taken;
		size -= taken;
	}
	return result;
}

static void assert_reads(const char *text, const char *expected)
{
	char *whole = read_in_steps(text, ROOM), *bytes = read_in_steps(text, 1);

	assert_string_equal(whole, expected);
	assert_string_equal(bytes, expected);
	free(whole);
	free(bytes);
}

static void assert_text(const char *text)
{
	assert_reads(text, text);
}

static char *repeat(const char *text, size_t count)
{
	const size_t size = strlen(text);
	char *result = malloc(size * count + 1);

	assert_non_null(result);
	for (size_t i = 0; i < count; i++)
		memcpy(result + i * size, text, size);
	result[size * count] = '\0';
	return result;
}

static void command_is_complete_at_its_colon(void **state)
{
	(void)state;
	assert_reads("{date:", "{date:(date)");
	assert_reads("It is {python -c 'import sympy; print(sympy.sqrt(50))':} or so",
		     "It is {python -c 'import sympy; print(sympy.sqrt(50))':"
		     "(python -c 'import sympy; print(sympy.sqrt(50))') or so");
	assert_reads("{a:{b:", "{a:(a){b:(b)");
	assert_reads("{./x:,{~/y:,{/z:,{_v:,{.:", "{./x:(./x),{~/y:(~/y),{/z:(/z),{_v:(_v),{.:(.)");
	assert_reads("\xe3\x80\x82{\x64:", "\xe3\x80\x82{\x64:(d)");
	assert_reads("({a:)\n{b:", "({a:(a))\n{b:(b)");
}

static void brace_behind_the_result_is_not_repeated(void **state)
{
	(void)state;
	assert_reads("{a:}}", "{a:(a)}");
	assert_reads("{a:}{b:}.", "{a:(a){b:(b).");
	assert_reads("{a: }", "{a:(a) }");
}

static void colon_counts_only_where_nothing_is_open(void **state)
{
	(void)state;
	assert_reads("{echo 'a:b' \"c:d\" e\\:f:",
		     "{echo 'a:b' \"c:d\" e\\:f:(echo 'a:b' \"c:d\" e\\:f)");
	assert_reads("{echo ${x:-1}:", "{echo ${x:-1}:(echo ${x:-1})");
	assert_reads("{echo $(a:b)`c:d`:", "{echo $(a:b)`c:d`:(echo $(a:b)`c:d`)");
	assert_reads("{echo \"$(echo \"a:b\")\":",
		     "{echo \"$(echo \"a:b\")\":(echo \"$(echo \"a:b\")\")");
	assert_reads("{echo $'it\\'s:'x:", "{echo $'it\\'s:'x:(echo $'it\\'s:'x)");
	assert_reads("{echo \\$'a\\':", "{echo \\$'a\\':(echo \\$'a\\')");
	assert_reads("{echo \"\\\":\":", "{echo \"\\\":\":(echo \"\\\":\")");
	assert_reads("{echo 'a\\':", "{echo 'a\\':(echo 'a\\')");
	assert_reads("{echo ')' ) }x:", "{echo ')' ) }x:");
	assert_reads("{awk '{print $1}' x:", "{awk '{print $1}' x:(awk '{print $1}' x)");
	assert_reads("{echo {a,b}:", "{echo {a,b}:(echo {a,b})");
	assert_reads("{python -c 'a\nb:\n':", "{python -c 'a\nb:\n':(python -c 'a\nb:\n')");
	assert_reads("{a \\\nb:", "{a \\\nb:(a \\\nb)");
}

static void other_braces_are_text(void **state)
{
	(void)state;
	assert_text("{\"a\": 1} {'a': 1} {1: 2} { a: 1 } {} {:} {word} {%x:} {-a:");
	assert_text("${x:-1} f{x:} \\text{a: b} {{name:}} x_{i:} \\{a:} 1{a:} %{a:} #{a:} ]{a:");
	assert_text("{a line\nof prose: {");
	assert_text("{a 'quote\n\nof paragraphs': ");
	assert_text("{a 'quote\n \t\nof paragraphs': ");
	assert_text("{a\x03:");
	assert_text("{a \x1b[0m:");
	assert_text("{a \x7f:");
	// What it was taken for is not looked at again, but what comes behind it is.
	assert_reads("{one {two: three} four} {five:", "{one {two: three} four} {five:(five)");
	assert_reads("{a\n{b:", "{a\n{b:(b)");
	assert_text("nothing at all: <work <worker> </work> \\ ` \n~~ `");
}

static void escapes_stay_and_count(void **state)
{
	(void)state;
	assert_text("\\{a: \\<work>\n```sh\nx\n```\n</work>\\`");
	assert_reads("\\`{a:", "\\`{a:(a)");
	assert_reads("\\\n{a:", "\\\n{a:(a)");
}

static void code_is_text(void **state)
{
	(void)state;
	assert_reads("`{a:` {b:", "`{a:` {b:(b)");
	assert_reads("x ``{a:` `` {b:", "x ``{a:` `` {b:(b)");
	assert_reads("x ` {a: \n{b:", "x ` {a: \n{b:(b)");
	assert_reads("```\n{a:\n ``` x\n``\n````  \n{b:", "```\n{a:\n ``` x\n``\n````  \n{b:(b)");
	assert_reads("   ~~~ x` y\n{a: ```\n```\n~~~\n{b:",
		     "   ~~~ x` y\n{a: ```\n```\n~~~\n{b:(b)");
	assert_reads("```{a:``` {b:", "```{a:``` {b:(b)");
	assert_reads("    ```\n{b:", "    ```\n{b:(b)");
	assert_text("```\n<work>\n```sh\nx\n```\n</work>");
}

static void block_runs_at_its_end(void **state)
{
	(void)state;
	assert_reads("<work>\n```python\nprint(1)\n```\n</work>.",
		     "<work>\n```python\nprint(1)\n```\n</work>[py=print(1)\n].");
	assert_reads(
		"a <work>```sh\n{a:\n```\nb {b: `\n~~~PY3 \r\n~~~\n~~~ Python3 x\r\ny\r\n~~~~\r\n</work>{c:",
		"a <work>```sh\n{a:\n```\nb {b: `\n~~~PY3 \r\n~~~\n~~~ Python3 x\r\ny\r\n~~~~\r\n</work>"
		"[sh={a:\npy=y\n]{c:(c)");
	assert_reads("<work>\n  ```\n  a\n    b\n c\n```</work>",
		     "<work>\n  ```\n  a\n    b\n c\n```</work>[sh=a\n  b\nc\n]");
	assert_reads("<work>\n```sh\n</work>\n```\n</work>",
		     "<work>\n```sh\n</work>\n```\n</work>[sh=</work>\n]");
	assert_reads("<work>\n```\n ``\n\n   ```\n</work>",
		     "<work>\n```\n ``\n\n   ```\n</work>[sh= ``\n\n]");
	// The next block knows nothing of this one.
	assert_reads(
		"<work>\n```\na\n```\n</work><work></work><work>\n```\nb\n```\n<work></work>",
		"<work>\n```\na\n```\n</work>[sh=a\n]<work></work><work>\n```\nb\n```\n<work></work>[sh=b\n]");
}

static void block_without_code_is_text(void **state)
{
	(void)state;
	assert_text("<work>2 + 2 {a: </work>");
	assert_text("<work>\n```json\n{}\n```\n```sh\n```\n</work>");
	assert_text("<work>\n```sh\nx\n```\n<work>");
}

static void assert_refused(char *text, const char *why)
{
	char *read = read_in_steps(text, 1000);

	assert_non_null(strstr(read, why));
	free(read);
	free(text);
}

static void limits_hold(void **state)
{
	char *text, *expected, *x = repeat("x", FILL_COMMAND_MAX);

	(void)state;
	assert_true(asprintf(&text, "{%s: {a:", x) > 0);
	assert_true(asprintf(&expected, "{%s:(%s) {a:(a)", x, x) > 0);
	assert_reads(text, expected);
	free(text);
	free(expected);
	assert_true(asprintf(&text, "{%sx: {a:", x) > 0);
	assert_true(asprintf(&expected, "{%sx: {a:(a)", x) > 0);
	assert_reads(text, expected);
	free(text);
	free(expected);
	free(x);

	x = repeat("((((((((", FILL_NESTING_MAX / 8);
	assert_true(asprintf(&text, "{a%s:\n{b:", x) > 0);
	assert_text("{a(((:");
	assert_true(asprintf(&expected, "{a%s(\n{b:(b)", x) > 0);
	free(text);
	assert_true(asprintf(&text, "{a%s(\n{b:", x) > 0);
	assert_reads(text, expected);
	free(text);
	free(expected);
	free(x);

	x = repeat("x", FILL_WORK_MAX);
	assert_true(asprintf(&text, "<work>\n```\n%s\n```\n</work>", x) > 0);
	free(x);
	assert_refused(text, "</work>[it is too long]");
	x = repeat("```\nx\n```\n", FILL_PIECES_MAX + 1);
	assert_true(asprintf(&text, "<work>\n%s</work>", x) > 0);
	free(x);
	assert_refused(text, "</work>[it has too many pieces of code]");
	assert_refused(strdup("<work>\n```\n\x04\n```\n</work>"),
		       "</work>[it has a control character]");
}

static void what_is_open_at_the_end_is_known(void **state)
{
	static const struct {
		const char *text, *open;
	} ends[] = {
		{ "text {a:", NULL }, { "{", NULL },   { "text {a 'b:", "a command" },
		{ "`{a", NULL },      { "{a}", NULL }, { "<work>\n```sh\nx\n```", "a work block" },
		{ "</work>", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		free(read_in_steps(ends[i].text, ROOM));
		if (ends[i].open)
			assert_string_equal(fill_open(&parser), ends[i].open);
		else
			assert_null(fill_open(&parser));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_is_complete_at_its_colon),
		cmocka_unit_test(brace_behind_the_result_is_not_repeated),
		cmocka_unit_test(colon_counts_only_where_nothing_is_open),
		cmocka_unit_test(other_braces_are_text),
		cmocka_unit_test(escapes_stay_and_count),
		cmocka_unit_test(code_is_text),
		cmocka_unit_test(block_runs_at_its_end),
		cmocka_unit_test(block_without_code_is_text),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(what_is_open_at_the_end_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
