// A conversation as the exports see it: what was typed, what came of it, and what was said
// meanwhile. Pure.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export_text.h"

// How a command ended, as in events.jsonl.
enum step_end {
	STEP_UNKNOWN, // the recording ends before
	STEP_DONE,
	STEP_WAITING,
	STEP_SCREEN,
	STEP_TIMEOUT,
	STEP_FLOOD,
	STEP_GONE,
	STEP_ENDS,
};
extern const char *const step_ends[STEP_ENDS];

// The end called `name`, or STEP_ENDS.
enum step_end step_end_find(const char *name);

// One line that the person said, or one text that was told to the person.
struct talk {
	bool told;
	struct text text;
};

// What was typed at once.
struct step {
	int64_t id;
	struct text command, output;
	enum step_end end;
	int status;	   // with STEP_DONE and STEP_GONE
	uint64_t dropped;  // bytes of output
	struct talk *talk; // from its start to the start of the next one
	size_t talk_count;
};

struct conversation {
	const char *name; // of the recording, for messages
	struct text lodger, session, assistant, model, prompt;
	struct text reason, detail; // why it ended
	bool prompted, finished;
	struct step *steps;
	size_t count;
	bool lost; // memory was not to be had
};

// Adds a step for `command`, which the conversation takes over. Never NULL: without memory it is one
// that is lost.
struct step *conversation_step(struct conversation *conversation, struct text *command);
// Adds to the talk of the last step, which must be there; takes `text` over.
void conversation_talk(struct conversation *conversation, bool told, struct text *text);

// The same for one of its steps.
void conversation_step_talk(struct conversation *conversation, struct step *step, bool told,
			    struct text *text);
// Whether all of it is there.
bool conversation_whole(const struct conversation *conversation);
void conversation_free(struct conversation *conversation);

// Calls `each` with every text of the conversation.
void conversation_texts(struct conversation *conversation,
			void (*each)(void *context, struct text *text), void *context);

// Whether the step is `assistant_listen` and no more, and brought one line: in a chat that is the
// person's message.
bool step_listens(const struct step *step);
// Whether the step is `assistant_tell` with words that mean themselves, and told just these: in a
// chat that is the assistant's message.
bool step_tells(const struct step *step);

// The commands of a conversation that was no transcript: assistant_listen, and assistant_tell with
// `text` quoted for bash. What is told holds no NUL.
#define LISTEN_COMMAND "assistant_listen"
void tell_command(struct text *command, const struct text *text);
