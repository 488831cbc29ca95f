// A conversation (export_conversation.h). Pure; runs as the caller.
#include "export_conversation.h"

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "shellquote.h"

const char *const step_ends[STEP_ENDS] = {
	[STEP_UNKNOWN] = "unknown", [STEP_DONE] = "done",	[STEP_WAITING] = "waiting",
	[STEP_SCREEN] = "screen",   [STEP_TIMEOUT] = "timeout", [STEP_FLOOD] = "flood",
	[STEP_GONE] = "gone",
};

enum step_end step_end_find(const char *name)
{
	enum step_end end = STEP_UNKNOWN;

	while (end < STEP_ENDS && strcmp(step_ends[end], name) != 0)
		end++;
	return end;
}

// Makes room for one more; in steps of powers of two, so that a long list is not copied each time.
static void *list_grow(void *list, size_t count, size_t size)
{
	if ((count & (count - 1)) != 0)
		return list;
	return reallocarray(list, count == 0 ? 1 : 2 * count, size);
}

struct step *conversation_step(struct conversation *conversation, struct text *command)
{
	static struct step nowhere;
	struct step *steps = list_grow(conversation->steps, conversation->count, sizeof(*steps));

	if (!steps) {
		conversation->lost = true;
		text_free(command);
		nowhere = (struct step){ 0 };
		return &nowhere;
	}
	conversation->steps = steps;
	steps += conversation->count++;
	*steps = (struct step){ .command = *command };
	*command = (struct text){ 0 };
	return steps;
}

void conversation_step_talk(struct conversation *conversation, struct step *step, bool told,
			    struct text *text)
{
	struct talk *talk = list_grow(step->talk, step->talk_count, sizeof(*talk));

	if (!talk) {
		conversation->lost = true;
		text_free(text);
		return;
	}
	step->talk = talk;
	talk[step->talk_count++] = (struct talk){ .told = told, .text = *text };
	*text = (struct text){ 0 };
}

void conversation_talk(struct conversation *conversation, bool told, struct text *text)
{
	conversation_step_talk(conversation, &conversation->steps[conversation->count - 1], told,
			       text);
}

void conversation_texts(struct conversation *conversation,
			void (*each)(void *context, struct text *text), void *context)
{
	struct text *const own[] = { &conversation->lodger,    &conversation->session,
				     &conversation->assistant, &conversation->model,
				     &conversation->prompt,    &conversation->reason,
				     &conversation->detail };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		each(context, own[i]);
	for (size_t i = 0; i < conversation->count; i++) {
		struct step *step = &conversation->steps[i];

		each(context, &step->command);
		each(context, &step->output);
		for (size_t j = 0; j < step->talk_count; j++)
			each(context, &step->talk[j].text);
	}
}

static void find_lost(void *context, struct text *text)
{
	bool *lost = context;

	*lost = *lost || text->lost;
}

bool conversation_whole(const struct conversation *conversation)
{
	bool lost = conversation->lost;

	conversation_texts((struct conversation *)conversation, find_lost, &lost);
	return !lost;
}

static void give_back(void *context, struct text *text)
{
	(void)context;
	text_free(text);
}

void conversation_free(struct conversation *conversation)
{
	conversation_texts(conversation, give_back, NULL);
	for (size_t i = 0; i < conversation->count; i++)
		free(conversation->steps[i].talk);
	free(conversation->steps);
	*conversation = (struct conversation){ 0 };
}

// Whether the step ended well and said exactly one thing, `told` or heard.
static bool step_said(const struct step *step, bool told)
{
	return step->talk_count == 1 && step->talk[0].told == told && step->end == STEP_DONE &&
	       step->status == 0 && step->dropped == 0;
}

bool step_listens(const struct step *step)
{
	struct text printed = { 0 };
	bool same;

	if (!step_said(step, false) || !text_is(&step->command, LISTEN_COMMAND))
		return false;
	text_copy(&printed, &step->talk[0].text);
	text_string(&printed, "\n");
	same = !printed.lost && text_equal(&step->output, printed.data, printed.size);
	text_free(&printed);
	return same;
}

// Reads what stands in quotes at *at, up to behind the closing one.
static bool quoted_read(const char **at, const char *end, struct text *to)
{
	const char quote = *(*at)++;

	for (; *at < end && **at != quote; (*at)++) {
		if (**at == '\0' || (quote == '"' && **at == '`'))
			return false;
		// What expands to the same and does nothing is seen by the comparison with what was
		// told; these can do something.
		if (quote == '"' && **at == '$' && *at + 1 < end &&
		    ((*at)[1] == '(' || (*at)[1] == '{' || (*at)[1] == '['))
			return false;
		if (quote == '"' && **at == '\\' && *at + 1 < end && (*at)[1] != '\0' &&
		    strchr("\\\"$`\n", (*at)[1]))
			if (*++*at == '\n')
				continue;
		text_add(to, *at, 1);
	}
	return (*at)++ < end;
}

// Reads a word as bash does (bash(1), QUOTING), if reading it can do no more than give that word.
static bool word_read(const char **at, const char *end, struct text *to)
{
	while (*at < end && **at != ' ' && **at != '\t') {
		if (**at == '\0' || strchr("$`;&|<>()\n", **at))
			return false;
		if (**at == '"' || **at == '\'') {
			if (!quoted_read(at, end, to))
				return false;
			continue;
		}
		if (**at == '\\' && (++*at == end || **at == '\n'))
			return false;
		text_add(to, (*at)++, 1);
	}
	return true;
}

// Adds the words, joined by blanks.
static bool words_read(const struct text *command, struct text *to)
{
	const char *at = text_get(command), *end = at + command->size;
	bool first = true;

	for (;;) {
		while (at < end && (*at == ' ' || *at == '\t'))
			at++;
		if (at == end)
			return !to->lost;
		if (!first)
			text_string(to, " ");
		first = false;
		if (!word_read(&at, end, to))
			return false;
	}
}

bool step_tells(const struct step *step)
{
	struct text expected = { 0 }, words = { 0 };
	bool same = false;

	if (!step_said(step, true) || step->output.size > 0 || !step->command.data ||
	    strncmp(step->command.data, "assistant_tell ", strlen("assistant_tell ")) != 0)
		return false;
	text_string(&expected, "assistant_tell ");
	text_copy(&expected, &step->talk[0].text);
	if (words_read(&step->command, &words) && !expected.lost)
		same = text_equal(&words, expected.data, expected.size);
	text_free(&expected);
	text_free(&words);
	return same;
}

void tell_command(struct text *command, const struct text *text)
{
	char *const words[] = { (char *)text_get(text), NULL };
	autofree char *quoted = shellquote(words);

	command->lost = command->lost || !quoted;
	text_string(command, "assistant_tell ");
	text_string(command, quoted ? quoted : "");
}
