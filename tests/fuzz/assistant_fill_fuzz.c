// The text that lodger fill reads (client/assistant/fill_parse.h), in steps of any size.
// Holds: all bytes are taken, in order, and where the steps end changes nothing; what is run is what
// stood in the text, of the lengths that are allowed, without a byte that a terminal would obey; only
// the brace behind a command's result is dropped.
#include "fuzz.h"

#include "fill_parse.h"

// A few hundred bytes decide what is looked for.
#define EVENTS 512

struct seen {
	enum fill_event event;
	size_t at;	 // bytes taken by then
	uint64_t digest; // of what is to be run
};

static struct fill_parser parser;

static uint64_t digest_add(uint64_t digest, const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		digest = (digest ^ (uint8_t)data[i]) * UINT64_C(1099511628211);
	return digest;
}

static void code_holds(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		assert((uint8_t)text[i] >= ' ' ? text[i] != 0x7f
					       : text[i] == '\n' || text[i] == '\t');
}

static uint64_t command_holds(const char *text, size_t at)
{
	assert(parser.size > 0 && parser.size <= FILL_COMMAND_MAX && parser.size + 2 <= at);
	assert(text[at - 1] == ':' && text[at - 2 - parser.size] == '{');
	assert(memcmp(parser.text, text + at - 1 - parser.size, parser.size) == 0);
	code_holds(parser.text, parser.size);
	return digest_add(1, parser.text, parser.size);
}

static uint64_t work_holds(const char *text, size_t at)
{
	uint64_t digest = 2;
	size_t end = 0;

	assert(at >= 7 && memcmp(text + at - 7, "</work>", 7) == 0);
	if (parser.refused)
		return digest_add(digest, parser.refused, strlen(parser.refused));
	assert(parser.piece_count > 0 && parser.piece_count <= FILL_PIECES_MAX);
	for (size_t i = 0; i < parser.piece_count; i++) {
		const struct fill_piece *piece = &parser.pieces[i];

		assert(piece->language == FILL_SHELL || piece->language == FILL_PYTHON);
		assert(piece->offset >= end && piece->size > 0);
		end = piece->offset + piece->size;
		assert(end <= parser.size && parser.size <= FILL_WORK_MAX);
		assert(parser.text[end - 1] == '\n');
		code_holds(parser.text + piece->offset, piece->size);
		digest = digest_add(digest + piece->language, parser.text + piece->offset,
				    piece->size);
	}
	return digest;
}

// Reads all of `text` in steps of `step` bytes. Returns how many events there were.
static size_t read_all(const char *text, size_t size, size_t step, struct seen seen[EVENTS])
{
	enum fill_event event, last = FILL_TEXT;
	size_t at = 0, count = 0;

	fill_start(&parser);
	while (at < size && count < EVENTS) {
		const size_t offered = size - at < step ? size - at : step;
		// Memory of exactly that size, so that a read beyond it is seen.
		char *data = malloc(offered);

		assert(data);
		memcpy(data, text + at, offered);
		const size_t taken = fill_read(&parser, data, offered, &event);
		free(data);
		assert(taken > 0 && taken <= offered && (event != FILL_TEXT || taken == offered));
		at += taken;
		if (event == FILL_DROP)
			assert(last == FILL_COMMAND && taken == 1 && text[at - 1] == '}');
		last = event;
		if (event != FILL_TEXT)
			seen[count++] =
				(struct seen){ event, at,
					       event == FILL_COMMAND ? command_holds(text, at)
					       : event == FILL_WORK  ? work_holds(text, at)
								     : 0 };
	}
	return count;
}

// An input: the size of the steps, and the text.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct seen whole[EVENTS], steps[EVENTS];
	struct input input = { data, size };
	const size_t step = 1U + input_byte(&input) % 64U;
	const char *text = (const char *)input.data;
	const size_t count = read_all(text, input.size, input.size, whole);
	const char *open = fill_open(&parser);

	assert(read_all(text, input.size, step, steps) == count);
	assert(fill_open(&parser) == open);
	for (size_t i = 0; i < count; i++)
		assert(whole[i].event == steps[i].event && whole[i].at == steps[i].at &&
		       whole[i].digest == steps[i].digest);
	return 0;
}
