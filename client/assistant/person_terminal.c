// The caller as the person (person.h), at a terminal or by files and pipes. Runs as the caller. What the
// assistant tells is made harmless for the terminal.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clean.h"
#include "cleanup.h"
#include "person.h"

struct terminal {
	struct person person; // first
	struct line_reader *input;
	struct clean clean;
	bool prompts, lines, within; // a reply whose line has no end yet
};

static void show(struct terminal *terminal, const char *text, size_t size)
{
	if (size == 0)
		return;
	terminal->within = text[size - 1] != '\n';
	// What cannot be written, output_check tells in the end.
	(void)fwrite(text, 1, size, stdout);
	(void)fflush(stdout);
}

static void reply_end(struct terminal *terminal)
{
	char rest[CLEAN_GROWTH * CLEAN_KEPT];

	show(terminal, rest, clean_end(&terminal->clean, rest));
	if (terminal->within)
		show(terminal, "\n", 1);
}

static void terminal_tell(struct person *person, const char *text, size_t size)
{
	struct terminal *terminal = (struct terminal *)person;
	autofree char *clean = malloc(CLEAN_GROWTH * (size + CLEAN_KEPT));

	if (clean)
		show(terminal, clean, clean_text(&terminal->clean, clean, text, size));
	if (terminal->lines)
		reply_end(terminal);
}

static void terminal_want(struct person *person)
{
	struct terminal *terminal = (struct terminal *)person;

	reply_end(terminal);
	if (terminal->prompts) {
		show(terminal, "you: ", 5);
		terminal->within = false;
	}
}

static enum person_state terminal_take(struct person *person, const char **line, size_t *size)
{
	struct line_reader *input = ((struct terminal *)person)->input;

	if (line_reader_next(input, line, size))
		return PERSON_LINE;
	if (!input->end)
		line_reader_read(input);
	if (line_reader_next(input, line, size))
		return PERSON_LINE;
	return input->end ? PERSON_ENDED : PERSON_NOTHING;
}

static void terminal_close(struct person *person)
{
	reply_end((struct terminal *)person);
	free(person);
}

struct person *person_terminal(struct line_reader *input, bool prompts, bool lines,
			       struct failure *failure)
{
	static const struct person_operations operations = { terminal_tell, terminal_want,
							     terminal_take, terminal_close };
	struct terminal *terminal = calloc(1, sizeof(*terminal));

	if (!terminal) {
		fail(failure, "preparing the conversation: out of memory");
		return NULL;
	}
	terminal->person = (struct person){ &operations, input->fd };
	terminal->input = input;
	terminal->prompts = prompts;
	terminal->lines = lines;
	terminal->clean.ascii = isatty(STDOUT_FILENO) == 1 && !clean_terminal_utf8();
	return &terminal->person;
}
