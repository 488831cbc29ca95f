// A program as the person (person.h, --user-exec): it is sent each reply as a line and says a line. Runs
// as the caller; the program is the caller's.
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "clean.h"
#include "cleanup.h"
#include "person.h"

struct program {
	struct person person; // first
	struct child child;
	bool json_lines;
	struct text reply;
	struct text line; // what was said, taken out of JSON
};

static void program_tell(struct person *person, const char *text, size_t size)
{
	text_add(&((struct program *)person)->reply, text, size);
}

// {"reply": TEXT}, or the text with its backslashes doubled and its newlines as \n: one line.
static void reply_send(struct program *program)
{
	struct text line = { 0 }, utf8 = { 0 };

	if (program->json_lines) {
		text_utf8(&utf8, &program->reply);
		json_t *object = json_pack("{s:s%}", "reply", text_get(&utf8), utf8.size);
		autofree char *dumped = object ? json_dumps(object, JSON_COMPACT) : NULL;

		text_string(&line, dumped ? dumped : "");
		json_decref(object);
	}
	for (size_t i = 0; !program->json_lines && i < program->reply.size; i++) {
		const char byte = program->reply.data[i];

		if (byte == '\n')
			text_string(&line, "\\n");
		else if (byte == '\\')
			text_string(&line, "\\\\");
		else
			text_add(&line, &byte, 1);
	}
	text_add(&line, "\n", 1);
	child_write(&program->child, line.data, line.size);
	text_free(&line);
	text_free(&utf8);
	text_free(&program->reply);
}

static void program_want(struct person *person)
{
	struct program *program = (struct program *)person;

	if (program->reply.size > 0)
		reply_send(program);
}

// {"say": TEXT}; anything else ends the conversation.
static bool say_read(struct program *program, const char **line, size_t *size)
{
	json_t *object = json_loadb(*line, *size, JSON_REJECT_DUPLICATES, NULL);
	const json_t *say = json_object_get(object, "say");

	text_free(&program->line);
	if (say && json_is_string(say))
		text_add(&program->line, json_string_value(say), json_string_length(say));
	const bool good = json_is_string(say) && !program->line.lost;
	json_decref(object);
	*line = text_get(&program->line);
	*size = program->line.size;
	return good;
}

static enum person_state program_take(struct person *person, const char **line, size_t *size)
{
	struct program *program = (struct program *)person;
	struct line_reader *from = &program->child.from;
	bool some = line_reader_next(from, line, size);

	child_flush(&program->child);
	if (!some && !from->end) {
		line_reader_read(from);
		some = line_reader_next(from, line, size);
	}
	if (!some)
		return from->end ? PERSON_ENDED : PERSON_NOTHING;
	if (!program->json_lines || say_read(program, line, size))
		return PERSON_LINE;
	notice("--user-exec: a line is no {\"say\": TEXT}: it counts as the end");
	return PERSON_ENDED;
}

static void program_close(struct person *person)
{
	struct program *program = (struct program *)person;

	program_want(person);
	child_end(&program->child);
	text_free(&program->reply);
	text_free(&program->line);
	free(program);
}

struct person *person_exec(const char *program, bool json_lines, struct failure *failure)
{
	static const struct person_operations operations = { program_tell, program_want,
							     program_take, program_close };
	struct program *made = calloc(1, sizeof(*made));

	if (!made) {
		fail(failure, "preparing the conversation: out of memory");
		return NULL;
	}
	made->person.operations = &operations;
	made->json_lines = json_lines;
	if (!child_start(&made->child, program, failure)) {
		child_end(&made->child);
		free(made);
		return NULL;
	}
	made->person.fd = made->child.from.fd;
	return &made->person;
}
