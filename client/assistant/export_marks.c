// What is marked in exports (export_marks.h). Runs as the caller.
#include "export_marks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "failure.h"

// They begin with a newline of their own, whether the output ended in one or not.
#define BINARY_MARK "\n[lodger: %zu bytes that are no UTF-8 are shown as U+FFFD]\n"
#define DROPPED_MARK "\n[lodger: %" PRIu64 " bytes more were printed, and not recorded]\n"

bool marks_text(struct marks *marks, struct text *text, const struct text *from)
{
	const size_t bad = text_utf8(text, from);

	marks->binary += bad > 0;
	return bad == 0;
}

bool marks_output(struct marks *marks, struct text *text, const struct step *step)
{
	const size_t bad = text_utf8(text, &step->output);

	if (bad > 0)
		text_printf(text, BINARY_MARK, bad);
	if (step->dropped > 0)
		text_printf(text, DROPPED_MARK, step->dropped);
	marks->binary += bad > 0;
	marks->dropped += step->dropped > 0;
	marks->unfinished += step->end == STEP_UNKNOWN;
	return bad == 0;
}

void marks_take_off(struct text *text, uint64_t dropped)
{
	char mark[sizeof(DROPPED_MARK) + 24];

	if (dropped == 0)
		return;
	snprintf(mark, sizeof(mark), DROPPED_MARK, dropped);
	if (!text_ends(text, mark))
		return;
	text->size -= strlen(mark);
	text->data[text->size] = '\0';
}

void marks_aside(struct marks *marks, struct text *text, const struct step *step)
{
	for (size_t i = 0; i < step->talk_count; i++) {
		text_string(text, step->talk[i].told ? "[lodger: told: " : "[lodger: heard: ");
		marks_text(marks, text, &step->talk[i].text);
		text_string(text, "]\n");
		marks->aside++;
	}
}

void marks_notice(const struct marks *marks, const char *name)
{
	if (marks->binary > 0)
		notice("%s: %zu texts have bytes that are no UTF-8; they are marked", name,
		       marks->binary);
	if (marks->dropped > 0)
		notice("%s: of %zu outputs the recording has a part only; they are marked", name,
		       marks->dropped);
	if (marks->unfinished > 0)
		notice("%s: of %zu commands the end is not known; they are marked", name,
		       marks->unfinished);
	if (marks->aside > 0)
		notice("%s: %zu times something was said in the middle of a command; it is marked",
		       name, marks->aside);
}
