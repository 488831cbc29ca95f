// What a model is told first (prompt.h). Runs as the caller; reads the channel's table of packages.
#include "prompt.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "cleanup.h"
#include "package_table.h"
#include "printable.h"
#include "quantity.h"

// More names than that tell a model nothing.
#define PACKAGES_MOST 60U

static const char in_shell[] =
	"You work at a bash shell. Each message of yours is typed there as it is, and what it prints "
	"is the next message that you get. So write commands and nothing else: no explanation, no "
	"Markdown, no prompt sign. Several lines are typed together. The shell stays: its directory, "
	"its variables and what runs in the background.\n"
	"\n"
	"Two commands lead to the person whom you work for, who sees nothing else of what you do:\n"
	"  assistant_listen         waits for the person's next line, and prints it\n"
	"  assistant_tell \"TEXT\"    shows TEXT to the person; several of them build one reply\n"
	"Begin with assistant_listen. When the conversation is over, write: exit\n"
	"\n"
	"A program that asks for something gets your next message as its input; ^C and ^D are these "
	"keys. Editors and other programs that fill the screen are ended: write files with cat <<'E' "
	"or the like.\n";

static const char in_fill[] =
	"You write a text for a reader, and can have things computed while you write it.\n"
	"\n"
	"Write an open brace, a shell command and a colon: at the colon the command runs, and what it "
	"prints, and the closing brace, stand behind it as if you had written them. As an example, "
	"after\n"
	"  The square root of fifty is {python3 -c 'import math; print(math.sqrt(50))':\n"
	"the text is\n"
	"  The square root of fifty is {python3 -c 'import math; print(math.sqrt(50))':"
	"7.0710678118654755}\n"
	"and you go on behind the brace. So never write the result yourself. A colon that is part of "
	"the command stands in quotes or behind a backslash, and a brace that begins no command "
	"behind a backslash.\n"
	"\n"
	"Longer work stands between <work> and </work>, in fences of python or sh:\n"
	"  <work>\n"
	"  ```python\n"
	"  print(sum(range(10)))\n"
	"  ```\n"
	"  </work>\n"
	"At </work> the code runs, and what it prints follows between <output> and </output>. The "
	"shell and Python each stay as they are from one time to the next. You work without a break: "
	"whenever you are given a result, go on with the text exactly where it stops.\n";

static void packages_write(FILE *text, const struct package_table *table)
{
	struct package package;
	size_t at = 0, count = 0, others = 0;

	while (package_next(table, &at, &package)) {
		autofree char *name = package_text(&package, PACKAGE_ATTRIBUTE);
		autofree char *path = package_text(&package, PACKAGE_PATH);
		char shown[PRINTABLE_GROWTH * 64];

		if (!name || !path || !store_has(path))
			continue;
		if (count == PACKAGES_MOST) {
			others++;
			continue;
		}
		fprintf(text, "%s%s", count++ == 0 ? "At once there are: " : ", ",
			printable(shown, sizeof(shown), name));
	}
	if (others > 0)
		fprintf(text, " and %zu more", others);
	if (count > 0)
		fprintf(text, ".\n");
}

static void software_write(FILE *text, const struct prompt_facts *facts)
{
	struct package_table table;
	struct failure ignored;
	char channel[STORE_PATH_SIZE];

	// A session without a channel has what the machine has.
	if (!channel_find(channel) || !package_table_open(&table, channel, &ignored))
		return;
	// What stands below it in the same message is run by the shell that it is typed at, afterwards.
	fprintf(text,
		"\nSoftware: `nix-shell -p PACKAGE…`, as a message of its own, begins a shell that "
		"has these packages, and exit ends it; `lodger packages WORD` finds packages, `lodger which "
		"COMMAND` says who has a command. ");
	if (!facts->auto_off)
		fprintf(text, "A command that a package has is fetched when it is first called. ");
	packages_write(text, &table);
	package_table_close(&table);
}

static void limit_write(FILE *text, const char *what, uint64_t number,
			char *(*format)(char text[QUANTITY_SIZE], uint64_t number))
{
	char shown[QUANTITY_SIZE];

	if (number == 0)
		return;
	if (format)
		fprintf(text, "; %s %s", what, format(shown, number));
	else
		fprintf(text, "; %s %" PRIu64, what, number);
}

static void limits_write(FILE *text, const struct prompt_facts *facts)
{
	fprintf(text,
		"\nYou are a user without privileges, made for this alone, whose files vanish "
		"at the end. Limits: %s",
		facts->network ? "the machine's network" : "no network");
	limit_write(text, "memory, files included,", facts->limits[LIMIT_MEMORY], size_format);
	limit_write(text, "processes", facts->limits[LIMIT_PIDS], NULL);
	limit_write(text, "commands in all", facts->turns, NULL);
	limit_write(text, "time of a command", facts->command_seconds, duration_format);
	limit_write(text, "time in all", facts->seconds, duration_format);
	limit_write(text, "output of a command", facts->command_output, size_format);
	limit_write(text, "output in all", facts->total_output, size_format);
	fprintf(text, ".\n");
}

static char *prompt_read(const char *path, struct failure *failure)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	autofree char *text = malloc(PROMPT_MAX + 1);
	size_t used = 0;
	ssize_t n = -1;

	if (!text) {
		fail(failure, "--prompt-file: out of memory");
		return NULL;
	}
	while (fd >= 0 && used <= PROMPT_MAX &&
	       (n = read(fd, text + used, PROMPT_MAX + 1 - used)) > 0)
		used += (size_t)n;
	if (n < 0) {
		fail(failure, "--prompt-file: reading %s: %s", path, strerror(errno));
		return NULL;
	}
	if (used > PROMPT_MAX) {
		fail(failure, "--prompt-file: %s is longer than %zu bytes", path, PROMPT_MAX);
		return NULL;
	}
	json_t *string = json_stringn(text, used);
	if (!string || memchr(text, '\0', used)) {
		fail(failure, "--prompt-file: %s is no text of UTF-8", path);
		json_decref(string);
		return NULL;
	}
	json_decref(string);

	char *result = strndup(text, used);
	if (!result)
		fail(failure, "--prompt-file: out of memory");
	return result;
}

char *prompt_make(enum prompt_kind kind, const struct prompt_facts *facts, struct failure *failure)
{
	char *text = NULL;
	size_t size = 0;

	if (facts->file)
		return prompt_read(facts->file, failure);
	FILE *stream = open_memstream(&text, &size);
	if (stream) {
		fputs(kind == PROMPT_FILL ? in_fill : in_shell, stream);
		software_write(stream, facts);
		limits_write(stream, facts);
	}
	if (!stream || fclose(stream) != 0) {
		free(text);
		fail(failure, "telling the model what there is: out of memory");
		return NULL;
	}
	return text;
}
