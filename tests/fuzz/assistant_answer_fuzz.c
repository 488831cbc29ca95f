// What a model's server answers (client/assistant/chat_answer.h, sse.h), in steps of any size.
// Holds: whatever comes, there is text of UTF-8 within its bound and a reason for its end, or a failure
// that can be said; nothing is handed over after an end; where the steps end changes nothing.
#include "fuzz.h"

#include <jansson.h>

#include "chat_answer.h"
#include "printable.h"

#define MOST 4096U

struct heard {
	struct chat_answer answer;
	struct failure failure;
	char text[MOST + 1];
	size_t size, enough;
	bool over;
};

static bool text_take(void *context, const char *text, size_t size)
{
	struct heard *heard = context;
	json_t *string = json_stringn(text, size);

	assert(string && size > 0 && size <= MOST - heard->size && !heard->over);
	json_decref(string);
	assert(memchr(text, '\0', size) == NULL);
	memcpy(heard->text + heard->size, text, size);
	heard->size += size;
	heard->over = heard->size >= heard->enough;
	return !heard->over;
}

static bool hear(struct heard *heard, struct input input, size_t step, long status,
		 const char *type, size_t enough)
{
	char words[256];

	*heard = (struct heard){ .enough = enough };
	answer_start(&heard->answer, MOST, text_take, heard, &heard->failure);
	bool more = answer_begin(&heard->answer, status, type);
	while (input.size > 0 && more) {
		size_t size = step;
		uint8_t *data = input_take(&input, &size);

		more = answer_read(&heard->answer, (const char *)data, size);
		free(data);
	}
	const bool good = answer_end(&heard->answer);
	assert(good == (heard->failure.text[0] == '\0') && good == !heard->answer.failed);
	if (!good) {
		assert(heard->failure.exit_code == EXIT_LODGER);
	} else if (heard->answer.form == ANSWER_ERROR) {
		answer_error(&heard->answer, words, sizeof(words));
		assert(words[0] != '\0');
	} else {
		assert(heard->answer.finish != CHAT_NONE);
		assert(heard->over == (heard->answer.finish == CHAT_ENOUGH));
	}
	answer_free(&heard->answer);
	return good;
}

// An input: the form, the steps, how much text is wanted, and the answer.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const types[] = { "text/event-stream", "application/json", "text/html" };
	static struct heard whole, steps;
	struct input input = { data, size };
	const uint8_t form = input_byte(&input);
	const size_t step = 1U + input_byte(&input) % 64U;
	const uint8_t enough = input_byte(&input);
	const char *type = types[form % 3];
	const long status = form & 8 ? 429 : 200;
	const size_t wanted = enough > 0 ? enough : SIZE_MAX;

	const bool good =
		hear(&whole, input, input.size > 0 ? input.size : 1, status, type, wanted);
	assert(hear(&steps, input, step, status, type, wanted) == good);
	assert(steps.size == whole.size && memcmp(steps.text, whole.text, whole.size) == 0);
	assert(steps.answer.finish == whole.answer.finish);
	return 0;
}
