// The channel's packages and programs as the client sees them: the table (client/lib/package_table.h),
// names near to one, who has a program and in which order (client/cli/providers.h), pins, and where
// the channel is (client/lib/channel.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>
#undef fail // the client has a function of that name
#include <sqlite3.h>

#include "channel.h"
#include "package_table.h"
#include "program_index.h"
#include "providers.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HASH "/nix/store/00000000000000000000000000000000-"
#define ROW(attribute) attribute "\t1\t" HASH "no-" attribute "\tdrv\twhat " attribute " is\t7\n"

static char channel[] = "/tmp/lodger-unit-XXXXXX";

static void file_write(const char *name, const char *text, size_t size)
{
	char path[100];

	snprintf(path, sizeof(path), "%s/%s", channel, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void table_write(const char *text)
{
	file_write("packages.tsv", text, strlen(text));
}

static struct package_table table_of(const char *text)
{
	struct package_table table;
	struct failure failure;

	table_write(text);
	assert_true(package_table_open(&table, channel, &failure));
	return table;
}

static void assert_column(const struct package *package, enum package_column column,
			  const char *expected)
{
	char *text = package_text(package, column);

	assert_string_equal(text, expected);
	free(text);
}

// Writes an index of NAME, SYSTEM, PACKAGE; SYSTEM NULL: this machine's.
static void index_write(const char *const rows[][3], size_t count)
{
	char path[100], system[100];
	struct utsname machine;
	sqlite3 *index;
	sqlite3_stmt *insert;

	uname(&machine);
	snprintf(system, sizeof(system), "%s-linux", machine.machine);
	snprintf(path, sizeof(path), "%s/programs.sqlite", channel);
	unlink(path);
	assert_int_equal(sqlite3_open(path, &index), SQLITE_OK);
	assert_int_equal(sqlite3_exec(index,
				      "create table Programs (name text not null, system text not "
				      "null, package text not null, primary key (name, system, "
				      "package))",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(index, "insert into Programs values (?, ?, ?)", -1,
					    &insert, NULL),
			 SQLITE_OK);
	for (size_t i = 0; i < count; i++) {
		for (int j = 0; j < 3; j++)
			sqlite3_bind_text(insert, j + 1, rows[i][j] ? rows[i][j] : system, -1,
					  SQLITE_STATIC);
		assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
		sqlite3_reset(insert);
	}
	sqlite3_finalize(insert);
	sqlite3_close(index);
}

static int directory_make(void **state)
{
	(void)state;
	return mkdtemp(channel) ? 0 : -1;
}

static int directory_remove(void **state)
{
	static const char *const names[] = { "packages.tsv", "more.tsv", "programs.sqlite" };
	char path[100];

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", channel, names[i]);
		unlink(path);
	}
	return rmdir(channel);
}

static void store_paths(void **state)
{
	static const char *const good[] = { HASH "a", "/nix/store/a", HASH "a-1.2+b_c?d=e" };
	static const char *const wrong[] = {
		"",
		"/nix/store/",
		"/nix/store/a/b",
		"/nix/store/.links",
		"/nix/store/..",
		"nix/store/a",
		"/nix/store/a b",
		"/nix/store/a:b",
		"/nix/store/a\n",
		"/etc/passwd",
		"/nix/store/a\xc3",
	};
	char longest[STORE_PATH_SIZE + 1];

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(store_path_valid(good[i], strlen(good[i])));
	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_false(store_path_valid(wrong[i], strlen(wrong[i])));
	assert_false(store_path_valid("/nix/store/a\0b", 14));
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "/nix/store/", strlen("/nix/store/"));
	assert_true(store_path_valid(longest, STORE_PATH_SIZE - 1));
	assert_false(store_path_valid(longest, STORE_PATH_SIZE));
}

static void lines_are_read(void **state)
{
	struct package_table table =
		table_of("jq\t1.6\t" HASH "jq\t/nix/store/x.drv\tJSON processor"
			 "\t1040416\n");
	struct package package;
	size_t at = 0;

	(void)state;
	assert_true(package_next(&table, &at, &package));
	assert_column(&package, PACKAGE_ATTRIBUTE, "jq");
	assert_column(&package, PACKAGE_VERSION, "1.6");
	assert_column(&package, PACKAGE_PATH, HASH "jq");
	assert_column(&package, PACKAGE_DESCRIPTION, "JSON processor");
	assert_int_equal(package.size, 1040416);
	assert_false(package_next(&table, &at, &package));
	package_table_close(&table);
}

static void what_is_no_line_is_passed_over(void **state)
{
	static const char *const wrong[] = {
		"",
		"\n\n",
		"jq\n",
		"jq\t1\t" HASH "jq\tdrv\n",
		"jq\t1\t/etc/passwd\tdrv\twhat\t7\n",
		"jq\t1\t" HASH "jq/bin\tdrv\twhat\t7\n",
		"jq\t1\t\tdrv\twhat\t7\n",
		"\t1\t" HASH "jq\tdrv\twhat\t7\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct package_table table = table_of(wrong[i]);
		struct package package;
		size_t at = 0;

		assert_false(package_next(&table, &at, &package));
		assert_false(package_find(&table, "jq", &package));
		package_table_close(&table);
	}
}

static void what_there_is_besides_needs_no_path(void **state)
{
	static const char row[] = "ghc\t-\t-\t-\tcompiler\t-\n";
	struct package_table table, more;
	struct package package;
	size_t at = 0;

	(void)state;
	// A channel without such a table has nothing besides.
	table = table_of(row);
	package_table_open_more(&more, channel);
	assert_false(package_next(&more, &at, &package));
	package_table_close(&more);

	file_write("more.tsv", row, strlen(row));
	package_table_open_more(&more, channel);
	assert_true(package_find(&more, "ghc", &package));
	assert_column(&package, PACKAGE_DESCRIPTION, "compiler");
	assert_true(package.size == PACKAGE_SIZE_UNKNOWN);
	assert_true(package_next(&more, &at, &package));
	assert_false(package_find(&table, "ghc", &package));
	package_table_close(&more);
	package_table_close(&table);
}

static void sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t size;
	} rows[] = {
		{ "\t0", 0 },
		{ "\t123456789012345678", 123456789012345678 },
		{ "", PACKAGE_SIZE_UNKNOWN },
		{ "\t", PACKAGE_SIZE_UNKNOWN },
		{ "\t-1", PACKAGE_SIZE_UNKNOWN },
		{ "\t1k", PACKAGE_SIZE_UNKNOWN },
		{ "\t1234567890123456789", PACKAGE_SIZE_UNKNOWN },
		{ "\t5\tone more", 5 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[200];
		struct package package;
		size_t at = 0;

		// With an end of line and, last in the file, without.
		for (int ended = 0; ended <= 1; ended++) {
			snprintf(text, sizeof(text), "a\t1\t" HASH "a\tdrv\twhat%s%s", rows[i].text,
				 ended ? "\n" : "");
			struct package_table table = table_of(text);

			at = 0;
			assert_true(package_next(&table, &at, &package));
			assert_true(package.size == rows[i].size);
			package_table_close(&table);
		}
	}
}

// A line that ends where a page of memory does, with nothing behind it.
static void a_table_may_fill_its_last_page(void **state)
{
	static char text[4096];
	struct package package;
	size_t at = 0;

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, ROW("a"), strlen(ROW("a")));
	memcpy(text + strlen(ROW("a")), "b\t1\t" HASH, strlen("b\t1\t" HASH));
	file_write("packages.tsv", text, sizeof(text));

	struct package_table table;
	struct failure failure;
	assert_true(package_table_open(&table, channel, &failure));
	assert_true(package_next(&table, &at, &package));
	assert_false(package_next(&table, &at, &package));
	assert_false(package_find(&table, "b", &package));
	assert_true(package_find(&table, "a", &package));
	package_table_close(&table);
}

static void every_name_is_found_and_no_other(void **state)
{
	// Sorted by bytes, as the channel's build does it.
	static const char *const names[] = {
		"A",   "_x",	"a",  "a'b",	 "a-b",	      "ab",	  "b",
		"gcc", "gcc12", "jq", "python3", "python311", "python39", "python3Packages.sympy",
		"z",
	};
	static const char *const others[] = { "",    "0",    "B",
					      "aa",  "gcc1", "gcc123",
					      "jqq", "j",    "python3Packages",
					      "zz",  "\xff", "\n" };
	char text[4000] = "";
	struct package package;

	(void)state;
	for (size_t count = 1; count <= COUNT(names); count++) {
		char line[200];

		snprintf(line, sizeof(line), "%s\t1\t" HASH "p\tdrv\tx\t%zu\n", names[count - 1],
			 count);
		strcat(text, line);
		struct package_table table = table_of(text);
		for (size_t i = 0; i < COUNT(names); i++) {
			assert_int_equal(package_find(&table, names[i], &package), i < count);
			if (i < count)
				assert_int_equal(package.size, i + 1);
		}
		for (size_t i = 0; i < COUNT(others); i++)
			assert_false(package_find(&table, others[i], &package));
		package_table_close(&table);
	}
}

static void near_names(void **state)
{
	static const struct {
		const char *name, *near;
	} rows[] = {
		{ "sympy", "python39Packages.sympy, python3Packages.sympy" },
		{ "other.SymPy", "python39Packages.sympy, python3Packages.sympy" },
		{ "symp", "python39Packages.sympy, python3Packages.sympy" },
		{ "python3Packages.sympy2", "python39Packages.sympy, python3Packages.sympy" },
		{ "JQ", "jq" },
		// The same last part is nearer than a beginning.
		{ "x.gcc", "gcc" },
		{ "gcc1", "gcc, gcc12" },
		{ "g", "" },
		{ "nothing", "" },
		{ "python3Packages", "" },
	};
	struct package_table table = table_of(ROW("gcc") ROW("gcc12") ROW("jq") ROW(
		"python39Packages.sympy") ROW("python3Packages.sympy"));

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char names[PACKAGE_NAMES_SIZE];
		const unsigned int count = package_near(&table, rows[i].name, names);

		assert_string_equal(names, rows[i].near);
		assert_int_equal(count > 0, *rows[i].near != '\0');
	}
	package_table_close(&table);
}

static void near_names_are_few(void **state)
{
	char text[8000] = "", names[PACKAGE_NAMES_SIZE];

	(void)state;
	for (int i = 100; i < 130; i++) {
		char line[200];

		snprintf(line, sizeof(line), "x%d%0100d.jq\t1\t" HASH "jq\tdrv\tx\t1\n", i, 0);
		strcat(text, line);
	}
	struct package_table table = table_of(text);
	const unsigned int count = package_near(&table, "jq", names);
	// Those that fit.
	assert_int_equal(count, 3);
	assert_true(strlen(names) < sizeof(names));
	package_table_close(&table);
}

static void order_of(const struct provider *given, size_t count, const char *name,
		     const char *expected)
{
	struct provider list[10];
	char order[200] = "";

	// Whatever the order before.
	for (size_t turn = 0; turn < count; turn++) {
		*order = '\0';
		for (size_t i = 0; i < count; i++)
			list[i] = given[(i + turn) % count];
		providers_sort(list, count, name);
		for (size_t i = 0; i < count; i++) {
			strcat(order, i ? " " : "");
			strcat(order, list[i].attribute);
		}
		assert_string_equal(order, expected);
	}
}

#define P(name, is_pinned, is_local)                                                  \
	{                                                                             \
		.attribute = (char[]){ name }, .pinned = is_pinned, .local = is_local \
	}

static void the_order_is_fixed(void **state)
{
	const struct provider alphabet[] = { P("bb", 0, 0), P("ab", 0, 0), P("Ab", 0, 0) };
	const struct provider length[] = { P("aaa", 0, 0), P("z", 0, 0), P("bb", 0, 0) };
	const struct provider named[] = { P("z", 0, 0), P("the-name", 0, 0), P("a", 0, 0) };
	const struct provider local[] = { P("n", 0, 0), P("longer", 0, 1), P("a", 0, 0) };
	const struct provider both[] = { P("a", 0, 1), P("n", 0, 1), P("b", 0, 0), P("n2", 0, 1) };
	const struct provider pinned[] = { P("n", 0, 1), P("far-away", 1, 0), P("a", 0, 1) };

	(void)state;
	order_of(alphabet, COUNT(alphabet), "x", "Ab ab bb");
	order_of(length, COUNT(length), "x", "z bb aaa");
	order_of(named, COUNT(named), "the-name", "the-name a z");
	order_of(local, COUNT(local), "n", "longer n a");
	order_of(both, COUNT(both), "n", "n a n2 b");
	order_of(pinned, COUNT(pinned), "n", "far-away n a");
	providers_sort(NULL, 0, "x");
}

static void pins(void **state)
{
	static const struct {
		const char *pins, *name, *attribute;
	} rows[] = {
		{ "awk=gawk", "awk", "gawk" },
		{ "a=b awk=gawk\tc=d", "awk", "gawk" },
		{ "awk=mawk awk=gawk", "awk", "gawk" },
		{ "  awk=gawk\n", "awk", "gawk" },
		{ "awk=a=b", "awk", "a=b" },
		{ "gawk=gawk", "awk", NULL },
		{ "awk", "awk", NULL },
		{ "awk=", "awk", NULL },
		{ "awk= gawk", "awk", NULL },
		{ "=gawk", "", "gawk" },
		{ "awks=gawk", "awk", NULL },
		{ "", "awk", NULL },
		{ "   ", "awk", NULL },
		{ NULL, "awk", NULL },
	};
	char attribute[ATTRIBUTE_SIZE], text[1000];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(pin_find(rows[i].pins, rows[i].name, attribute),
				 rows[i].attribute != NULL);
		if (rows[i].attribute)
			assert_string_equal(attribute, rows[i].attribute);
	}
	snprintf(text, sizeof(text), "a=%0*d", ATTRIBUTE_SIZE - 1, 0);
	assert_true(pin_find(text, "a", attribute));
	snprintf(text, sizeof(text), "a=%0*d", ATTRIBUTE_SIZE, 0);
	assert_false(pin_find(text, "a", attribute));
}

static void names_of_programs(void **state)
{
	static const char *const good[] = { "jq", "[",	 "a b",	   "x'y\"z",
					    "-v", "...", "\x1b[m", "\xff" };
	static const char *const wrong[] = { "", ".", "..", "/", "a/b", "/bin/sh", "jq/" };
	char long_name[258];

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(program_name_valid(good[i]));
	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_false(program_name_valid(wrong[i]));
	memset(long_name, 'a', sizeof(long_name));
	long_name[255] = '\0';
	assert_true(program_name_valid(long_name));
	long_name[255] = 'a';
	long_name[256] = '\0';
	assert_false(program_name_valid(long_name));
}

static void assert_providers(const char *name, const char *expected)
{
	struct providers providers;
	struct failure failure;
	char list[500] = "";

	assert_true(providers_find(&providers, channel, name, &failure));
	for (size_t i = 0; i < providers.count; i++) {
		strcat(list, i ? " " : "");
		strcat(list, providers.list[i].attribute);
		assert_false(providers.list[i].local);
	}
	assert_string_equal(list, expected);
	providers_free(&providers);
}

static void providers_come_from_index_and_table(void **state)
{
	static const char *const rows[][3] = {
		{ "jq", NULL, "jq" },
		{ "jq", NULL, "gojq" },
		{ "jq", NULL, "a.jq" },
		{ "jq", NULL, "not-in-the-table" },
		{ "jq", "m68k-linux", "other-machine" },
		{ "x' or '1'='1", NULL, "gojq" },
		{ "a b", NULL, "jq" },
	};
	struct providers providers;
	struct failure failure;

	(void)state;
	index_write(rows, COUNT(rows));
	table_write(ROW("a.jq") ROW("gojq") ROW("jq") ROW("other-machine"));
	unsetenv(PINS_VARIABLE);
	assert_providers("jq", "jq a.jq gojq");
	assert_providers("JQ", "");
	assert_providers("j%", "");
	assert_providers("' or '1'='1", "");
	assert_providers("x' or '1'='1", "gojq");
	assert_providers("a b", "jq");
	assert_providers("\xff\xfe", "");

	setenv(PINS_VARIABLE, "jq=gojq", 1);
	assert_providers("jq", "gojq jq a.jq");
	setenv(PINS_VARIABLE, "jq=other-machine", 1);
	assert_true(providers_find(&providers, channel, "jq", &failure));
	assert_true(providers.pin_missing);
	assert_string_equal(providers.pin, "other-machine");
	providers_free(&providers);
	unsetenv(PINS_VARIABLE);
}

static void a_channel_without_an_index_is_said_to_be(void **state)
{
	char path[100];
	struct providers providers;
	struct failure failure;

	(void)state;
	table_write(ROW("jq"));
	snprintf(path, sizeof(path), "%s/programs.sqlite", channel);
	unlink(path);
	assert_false(providers_find(&providers, channel, "jq", &failure));
	assert_non_null(strstr(failure.text, "has no index"));
	providers_free(&providers);
	file_write("programs.sqlite", "no database at all, but long enough to be read", 46);
	assert_false(providers_find(&providers, channel, "jq", &failure));
	assert_non_null(strstr(failure.text, "not a database"));
	providers_free(&providers);
	snprintf(path, sizeof(path), "%s/packages.tsv", channel);
	unlink(path);
	assert_false(providers_find(&providers, channel, "jq", &failure));
	assert_non_null(strstr(failure.text, "packages.tsv: No such file"));
	providers_free(&providers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(store_paths),
		cmocka_unit_test(lines_are_read),
		cmocka_unit_test(what_is_no_line_is_passed_over),
		cmocka_unit_test(what_there_is_besides_needs_no_path),
		cmocka_unit_test(sizes),
		cmocka_unit_test(a_table_may_fill_its_last_page),
		cmocka_unit_test(every_name_is_found_and_no_other),
		cmocka_unit_test(near_names),
		cmocka_unit_test(near_names_are_few),
		cmocka_unit_test(the_order_is_fixed),
		cmocka_unit_test(pins),
		cmocka_unit_test(names_of_programs),
		cmocka_unit_test(providers_come_from_index_and_table),
		cmocka_unit_test(a_channel_without_an_index_is_said_to_be),
	};

	return cmocka_run_group_tests_name("packages", tests, directory_make, directory_remove);
}
