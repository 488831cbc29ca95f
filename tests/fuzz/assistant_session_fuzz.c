// What a session sends to lodger assistant: its terminal's bytes (client/assistant/mark.h, plain.h, clean.h),
// and what its hand says (hand.h), which dialogue.h takes for the conversation.
// Holds: where the pieces end changes nothing; a mark without the number is text; what is shown is UTF-8
// without anything that a terminal obeys. Whatever the hand says, a line of the person's is taken when the
// one before has been delivered, goes to one who asked for it, and no more is told than may be.
#include "fuzz.h"

#include <locale.h>
#include <sys/socket.h>
#include <wchar.h>

#include "clean.h"
#include "dialogue.h"
#include "mark.h"
#include "plain.h"
#include "shell_inner.h"

#define NONCE "00000000000000000000000000000000"
#define LINES 8
#define TOLD_MOST 4096
#define IDS 256

struct printed {
	struct mark mark;
	char *text;
	size_t size;
};

// What is shown of `data` when it comes in pieces of `piece` bytes.
static struct printed print(const uint8_t *data, size_t size, size_t piece, bool ascii)
{
	struct printed printed = { .text = malloc(CLEAN_GROWTH * (size + MARK_KEPT) + 1) };
	struct clean clean = { .ascii = ascii };
	enum plain_state state = PLAIN_TEXT;

	assert(printed.text);
	mark_start(&printed.mark, NONCE);
	for (size_t at = 0; at <= size; at += piece) {
		struct input input = { data + at, size - at };
		size_t taken = piece;
		uint8_t *some = input_take(&input, &taken);
		char *unmarked = malloc(taken + MARK_KEPT), *plain = NULL, *shown = NULL;

		assert(unmarked);
		size_t left = mark_feed(&printed.mark, unmarked, (const char *)some, taken);
		if (at + taken == size)
			left += mark_flush(&printed.mark, unmarked + left);
		assert(left <= taken + MARK_KEPT);
		plain = malloc(left + 1);
		assert(plain);
		left = plain_text(&state, plain, unmarked, left);
		shown = malloc(CLEAN_GROWTH * (left + CLEAN_KEPT));
		assert(shown);
		left = clean_text(&clean, shown, plain, left);
		memcpy(printed.text + printed.size, shown, left);
		printed.size += left;
		free(shown);
		free(plain);
		free(unmarked);
		free(some);
		if (at + taken == size)
			break;
	}
	printed.size += clean_end(&clean, printed.text + printed.size);
	return printed;
}

static void shown_holds(const struct printed *printed, bool ascii)
{
	mbstate_t state = { 0 };
	wchar_t character;

	for (size_t at = 0, length; at < printed->size; at += length) {
		length = mbrtowc(&character, printed->text + at, printed->size - at, &state);
		assert(length > 0 && length <= 4);
		assert(character >= ' ' ? character < 0x7f || (!ascii && character >= 0xa0)
					: character == '\n' || character == '\t');
	}
}

// Whether there is a mark in it, looked for in another way.
static bool marked(const uint8_t *data, size_t size, const struct mark *mark)
{
	const uint8_t *at = data, *end = data + size;

	while ((at = memmem(at, (size_t)(end - at), mark->begin, mark->begin_size)) != NULL) {
		size_t digits = 0;

		at += mark->begin_size;
		while (at + digits < end && at[digits] >= '0' && at[digits] <= '9')
			digits++;
		if (digits >= 1 && digits <= 3 && at + digits < end && at[digits] == '\a')
			return true;
	}
	return false;
}

static void terminal(struct input *input)
{
	const uint8_t form = input_byte(input);
	const bool ascii = form & 1;
	const size_t piece = 1U + form / 2U;
	struct printed whole = print(input->data, input->size, input->size + 1, ascii);
	struct printed pieces = print(input->data, input->size, piece, ascii);

	assert(whole.size == pieces.size && memcmp(whole.text, pieces.text, whole.size) == 0);
	assert(whole.mark.found == pieces.mark.found && whole.mark.status == pieces.mark.status &&
	       whole.mark.screen == pieces.mark.screen);
	assert(whole.mark.found == marked(input->data, input->size, &whole.mark));
	assert(whole.mark.status >= 0 && whole.mark.status <= 999);
	shown_holds(&whole, ascii);
	free(whole.text);
	free(pieces.text);
}

// The person says LINES lines, one after the other, and is then gone.
static struct {
	struct person person; // first
	struct dialogue dialogue;
	struct shell shell;
	int to; // what the hand is sent
	char line[16];
	unsigned int taken;
	bool busy; // has not said the next line yet
	bool asked[IDS];
	bool said;	  // `line` has not been delivered
	bool sent;	  // it is on its way, to:
	uint32_t sent_to; // a number of the hand's
	size_t told, tells, total;
} stage;

static void person_tell(struct person *person, const char *text, size_t size)
{
	(void)person;
	(void)text;
	stage.told += size;
	stage.tells++;
	assert(stage.told <= TOLD_MOST && stage.tells <= TOLD_MOST);
}

static void person_want(struct person *person)
{
	(void)person;
}

static enum person_state person_take(struct person *person, const char **line, size_t *size)
{
	(void)person;
	assert(!stage.dialogue.held && !stage.said);
	if (stage.taken == LINES)
		return PERSON_ENDED;
	if (stage.busy)
		return PERSON_NOTHING;
	*size = (size_t)snprintf(stage.line, sizeof(stage.line), "line %u", ++stage.taken);
	*line = stage.line;
	stage.said = true;
	return PERSON_LINE;
}

static void sent_holds(void)
{
	static char data[1 << 16];
	struct hand_header header;
	const ssize_t size = recv(stage.to, data, sizeof(data), MSG_DONTWAIT);

	for (size_t at = 0; size > 0 && at < (size_t)size; at += sizeof(header) + header.length) {
		const char *text = data + at + sizeof(header);

		assert((size_t)size - at >= sizeof(header));
		memcpy(&header, data + at, sizeof(header));
		assert((size_t)size - at - sizeof(header) >= header.length);
		if (header.type != HAND_LINE) {
			assert(header.type == HAND_TOLD || header.type == HAND_END);
			continue;
		}
		assert(!stage.sent && stage.asked[header.id % IDS] && stage.dialogue.held);
		assert(header.length == strlen(stage.line) &&
		       memcmp(text, stage.line, header.length) == 0);
		stage.sent = true;
		stage.sent_to = header.id;
	}
	assert(stage.dialogue.count <= DIALOGUE_LISTENERS);
	assert(stage.total <= TOLD_MOST && stage.told <= stage.total && stage.tells <= stage.total);
}

// All that has come, as shell_wait takes it.
static bool frames_take(void)
{
	struct hand_frame frame;

	if (!hand_read(&stage.shell.hand)) {
		shell_hand_lost(&stage.shell);
		assert(stage.dialogue.count == 0);
		return false;
	}
	while (hand_next(&stage.shell.hand, &frame)) {
		assert(frame.size <= HAND_MESSAGE_MAX);
		if (frame.type == HAND_LISTEN)
			stage.asked[frame.id % IDS] = true;
		if ((frame.type == HAND_CANCELLED || frame.type == HAND_DELIVERED) && stage.sent &&
		    frame.id == stage.sent_to) {
			stage.sent = false;
			stage.said = stage.said && frame.type == HAND_CANCELLED;
		}
		stage.shell.talk.take(stage.shell.talk.context, &frame);
		sent_holds();
		assert(stage.sent == stage.dialogue.outstanding);
	}
	return stage.shell.hand.from >= 0;
}

// Bytes as they are, or a frame made of a type, a number and a length.
static size_t frame_make(struct input *input, uint8_t *to)
{
	static const char types[] = { HAND_WRITTEN,   HAND_PROBED,    HAND_LISTEN, HAND_LISTEN,
				      HAND_CANCELLED, HAND_DELIVERED, HAND_TELL };
	const uint8_t kind = input_byte(input);
	size_t size = input_byte(input);

	if (kind >= 0xf0) {
		uint8_t *some = input_take(input, &size);

		memcpy(to, some, size);
		free(some);
		return size;
	}
	struct hand_header header = { (uint32_t)types[kind % sizeof(types)], input_byte(input),
				      (uint32_t)size };
	if (kind >= 0xe0)
		header.length *= 300;
	memcpy(to, &header, sizeof(header));
	memset(to + sizeof(header), 'x', size);
	return sizeof(header) + size;
}

static void hand(struct input *input)
{
	static const struct person_operations operations = { person_tell, person_want, person_take,
							     NULL };
	int to[2], from[2];
	bool good = true;

	assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, to) == 0);
	assert(pipe2(from, O_CLOEXEC | O_NONBLOCK) == 0);
	memset(&stage, 0, sizeof(stage));
	stage.person = (struct person){ &operations, -1 };
	stage.shell.hand.connection = -1;
	stage.shell.hand.to = to[0];
	stage.shell.hand.from = from[0];
	stage.to = to[1];
	stage.dialogue.shell = &stage.shell;
	stage.dialogue.person = &stage.person;
	stage.dialogue.total = &stage.total;
	stage.dialogue.most = TOLD_MOST;
	stage.dialogue.epoll = -1;
	dialogue_start(&stage.dialogue);
	while (good && input->size > 0) {
		uint8_t made[sizeof(struct hand_header) + 256];
		const size_t size = frame_make(input, made);

		assert(write(from[1], made, size) == (ssize_t)size);
		stage.busy = size % 2 == 1;
		good = frames_take();
		if (good)
			dialogue_look(&stage.dialogue);
		sent_holds();
	}
	close(from[1]);
	if (good)
		assert(!frames_take());
	close(to[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	const uint64_t open = descriptors_open();

	if (!setlocale(LC_ALL, "C.UTF-8"))
		abort();
	if (input_byte(&input) % 2)
		hand(&input);
	else
		terminal(&input);
	assert(descriptors_open() == open);
	return 0;
}
