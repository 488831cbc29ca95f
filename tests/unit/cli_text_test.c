// Quoting for bash and printable text (client/lib/shellquote.h, printable.h, failure.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#undef fail // the client has a function of that name

#include "failure.h"
#include "printable.h"
#include "shellquote.h"

// Has bash read `program` and print each word that it makes of it, followed by a NUL.
static size_t bash_words(const char *program, char *output, size_t size)
{
	char *script;
	size_t used = 0;
	ssize_t n;
	int ends[2], status;

	assert_true(asprintf(&script, "set -- %s; printf '%%s\\0' \"$@\"", program) > 0);
	assert_int_equal(pipe(ends), 0);
	const pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		execl("/bin/bash", "bash", "--norc", "-c", script, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	while ((n = read(ends[0], output + used, size - used)) > 0)
		used += (size_t)n;
	close(ends[0]);
	free(script);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	return used;
}

static void round_trip(char *const words[])
{
	char output[8192];
	size_t at = 0;
	char *text = shellquote(words);
	const size_t size = bash_words(text, output, sizeof(output));

	for (size_t i = 0; words[i]; i++) {
		assert_true(at + strlen(words[i]) < size);
		assert_string_equal(output + at, words[i]);
		at += strlen(words[i]) + 1;
	}
	assert_int_equal(at, size);
	free(text);
}

static void quotes_for_bash(void **state)
{
	char every[256];
	char *all[] = { every, NULL };
	char *words[] = { "",	  "a",	   "it's", "'",	       "''",	   "a b", "$HOME",
			  "`id`", "$(id)", "\\",   "\\'",      "\"",	   "!x",  "*",
			  "~",	  "-n",	   "a\nb", "\t",       ";",	   "&",	  "|",
			  "#x",	  "{a,b}", "A=1",  "\xff\xfe", "\033[31m", NULL };

	(void)state;
	for (int i = 1; i < 256; i++)
		every[i - 1] = (char)i;
	every[255] = '\0';
	round_trip(all);
	round_trip(words);
	char *text = shellquote((char *[]){ "a", "b'c", NULL });
	assert_string_equal(text, "'a' 'b'\\''c'");
	free(text);
}

static void quotes_random_words(void **state)
{
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 20; round++) {
		char word[64];
		char *words[] = { word, NULL };
		const size_t length = (size_t)rand_r(&seed) % (sizeof(word) - 1);

		for (size_t i = 0; i < length; i++)
			word[i] = rand_r(&seed) % 3 ? "'\"\\$`! \n"[rand_r(&seed) % 8]
						    : (char)(1 + rand_r(&seed) % 255);
		word[length] = '\0';
		round_trip(words);
	}
}

static void makes_printable(void **state)
{
	char text[64], small[8];

	(void)state;
	assert_string_equal(printable(text, sizeof(text), "plain text ~"), "plain text ~");
	assert_string_equal(printable(text, sizeof(text), "\033[31m"), "\\x1b[31m");
	assert_string_equal(printable(text, sizeof(text), "a\nb\rc\td"), "a\\x0ab\\x0dc\\x09d");
	assert_string_equal(printable(text, sizeof(text), "\x9b\x7f"), "\\x9b\\x7f");
	assert_string_equal(printable(text, sizeof(text), "\xc3\x9b"), "\\xc3\\x9b");
	assert_string_equal(printable(text, sizeof(text), "a\\x1b"), "a\\\\x1b");
	// Never half an escape.
	assert_string_equal(printable(small, sizeof(small), "abcd\033"), "abcd");
	assert_string_equal(printable(small, sizeof(small), "abcdefghij"), "abcdefg");
	assert_string_equal(printable(small, 1, "a"), "");
}

static void judges_names(void **state)
{
	(void)state;
	assert_true(printable_name("a b"));
	assert_true(printable_name("\xc3\xbc"));
	assert_false(printable_name("a\nb"));
	assert_false(printable_name("\033"));
	assert_false(printable_name("\x7f"));
}

// What a foreign text can do to the one line of a failure.
static void failures_are_one_line(void **state)
{
	struct failure failure;
	char line[4096];
	int ends[2], saved;

	(void)state;
	assert_false(fail(&failure, "opening %s: no", "x\nlodger: forged\033]0;t\a"));
	assert_int_equal(failure.exit_code, EXIT_LODGER);
	assert_int_equal(pipe(ends), 0);
	fflush(stderr);
	saved = dup(STDERR_FILENO);
	dup2(ends[1], STDERR_FILENO);
	failure_print(&failure);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[1]);
	const ssize_t n = read(ends[0], line, sizeof(line) - 1);
	close(ends[0]);
	assert_true(n > 0);
	line[n] = '\0';
	assert_string_equal(line, "lodger: opening x\\x0alodger: forged\\x1b]0;t\\x07: no\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes_for_bash),	 cmocka_unit_test(quotes_random_words),
		cmocka_unit_test(makes_printable),	 cmocka_unit_test(judges_names),
		cmocka_unit_test(failures_are_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
