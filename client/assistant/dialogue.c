// The conversation (dialogue.h). Runs as the caller. A line of the person's goes to one listener; one
// that was given up before gets none, and the next one gets the line.
#include "dialogue.h"

#include <string.h>
#include <sys/epoll.h>

#include "hand.h"

static void watch(struct dialogue *dialogue, bool wanted)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = 1 };

	if (dialogue->person->fd < 0 || dialogue->always || wanted == dialogue->watched)
		return;
	// Files cannot be waited for; what is in them is there at once.
	if (epoll_ctl(dialogue->epoll, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, dialogue->person->fd,
		      &event) < 0)
		dialogue->always = true;
	else
		dialogue->watched = wanted;
}

static void listener_drop(struct dialogue *dialogue, size_t index)
{
	dialogue->count--;
	memmove(&dialogue->listeners[index], &dialogue->listeners[index + 1],
		(dialogue->count - index) * sizeof(dialogue->listeners[0]));
	if (index == 0)
		dialogue->outstanding = false;
	if (dialogue->count > 0)
		return;
	shell_pause(dialogue->shell, false);
	watch(dialogue, false);
}

static void refuse_all(struct dialogue *dialogue)
{
	static const char why[] = "the person has gone";

	while (dialogue->count > 0) {
		(void)shell_talk_send(dialogue->shell, HAND_END, dialogue->listeners[0], why,
				      strlen(why));
		dialogue->refusals++;
		listener_drop(dialogue, 0);
	}
}

// The hand's buffer is a message, and what is longer is cut there.
static void line_hold(struct dialogue *dialogue, const char *line, size_t size)
{
	dialogue->size = size < HAND_MESSAGE_MAX - 1 ? size : HAND_MESSAGE_MAX - 1;
	memcpy(dialogue->line, line, dialogue->size);
	dialogue->held = true;
	dialogue->recorded = false;
}

void dialogue_look(struct dialogue *dialogue)
{
	const char *line;
	size_t size;

	if (dialogue->count == 0 || dialogue->outstanding)
		return;
	if (!dialogue->held && !dialogue->ended) {
		enum person_state state;

		do
			state = dialogue->person->operations->take(dialogue->person, &line, &size);
		while (state == PERSON_NOTHING && dialogue->always);
		if (state == PERSON_NOTHING)
			return;
		if (state == PERSON_LINE)
			line_hold(dialogue, line, size);
		else
			dialogue->ended = true;
	}
	if (!dialogue->held) {
		refuse_all(dialogue);
		return;
	}
	dialogue->outstanding = shell_talk_send(dialogue->shell, HAND_LINE, dialogue->listeners[0],
						dialogue->line, dialogue->size);
	// Now, and not when it has got there: the command may have ended by then.
	if (dialogue->outstanding && !dialogue->recorded) {
		record_say(dialogue->recorder, dialogue->line, dialogue->size);
		dialogue->recorded = true;
	}
}

static void listen_begin(struct dialogue *dialogue, uint32_t id)
{
	if (dialogue->count == DIALOGUE_LISTENERS)
		return;
	dialogue->listeners[dialogue->count++] = id;
	if (dialogue->count > 1)
		return;
	if (!dialogue->held && !dialogue->ended)
		dialogue->person->operations->want(dialogue->person);
	shell_pause(dialogue->shell, true);
	watch(dialogue, true);
	dialogue_look(dialogue);
}

static void listen_end(struct dialogue *dialogue, uint32_t id, bool delivered)
{
	for (size_t i = 0; i < dialogue->count; i++) {
		if (dialogue->listeners[i] != id)
			continue;
		if (delivered && i == 0 && dialogue->outstanding) {
			dialogue->held = false;
		}
		listener_drop(dialogue, i);
		break;
	}
	if (dialogue->count > 0 && !dialogue->held && !dialogue->ended && delivered)
		dialogue->person->operations->want(dialogue->person);
	dialogue_look(dialogue);
}

// A session can tell without end, into the recording and to the person.
static void tell(struct dialogue *dialogue, const struct hand_frame *frame)
{
	static const char why[] = "everything has been said that may be (--total-output)";
	const size_t left =
		*dialogue->total < dialogue->most ? dialogue->most - *dialogue->total : 0;

	if (left == 0 || frame->size > left) {
		*dialogue->total = dialogue->most;
		(void)shell_talk_send(dialogue->shell, HAND_END, frame->id, why, strlen(why));
		return;
	}
	// An empty one is an event, too.
	*dialogue->total += frame->size > 0 ? frame->size : 1;
	record_tell(dialogue->recorder, frame->data, frame->size);
	dialogue->person->operations->tell(dialogue->person, frame->data, frame->size);
	(void)shell_talk_send(dialogue->shell, HAND_TOLD, frame->id, NULL, 0);
}

static void take(void *context, const struct hand_frame *frame)
{
	struct dialogue *dialogue = context;

	switch (frame->type) {
	case HAND_LISTEN:
		listen_begin(dialogue, frame->id);
		break;
	case HAND_CANCELLED:
		listen_end(dialogue, frame->id, false);
		break;
	case HAND_DELIVERED:
		listen_end(dialogue, frame->id, true);
		break;
	case HAND_GONE:
		while (dialogue->count > 0)
			listener_drop(dialogue, 0);
		break;
	case HAND_TELL:
		tell(dialogue, frame);
		break;
	default:
		break;
	}
}

void dialogue_start(struct dialogue *dialogue)
{
	shell_talk_to(dialogue->shell, take, dialogue);
}

bool dialogue_over(const struct dialogue *dialogue)
{
	return dialogue->refusals >= DIALOGUE_REFUSALS;
}
