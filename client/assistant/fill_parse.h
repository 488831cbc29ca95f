// The text that lodger fill reads, and what of it is to be run: commands in braces, and work blocks.
// The syntax is described in lodger-fill(1). Pure; takes any bytes, and keeps no more of them than
// one command or one block.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The longest command, the most code in one block, and the most fences with code in it.
#define FILL_COMMAND_MAX 4096U
#define FILL_WORK_MAX 65536U
#define FILL_PIECES_MAX 16U
// How deep quotes, parentheses and braces may stand in each other in a command.
#define FILL_NESTING_MAX 32U

enum fill_event {
	FILL_TEXT,    // what was taken is text and nothing more
	FILL_COMMAND, // its last byte is the colon that completes a command
	FILL_WORK,    // its last byte completes the end of a block that has something to run
	FILL_DROP,    // is a brace that the result closed already: not to be passed on
};

enum fill_language { FILL_SHELL, FILL_PYTHON, FILL_OTHER };

// A fence in a work block: the code is text[offset .. offset + size) of the parser.
struct fill_piece {
	enum fill_language language;
	size_t offset, size;
};

enum fill_state {
	STATE_TEXT,
	STATE_ESCAPED, // behind a backslash
	STATE_COMMAND,
	STATE_TICKS, // in the backticks that open inline code
	STATE_INLINE,
	STATE_INFO, // behind the marks of an opening fence
	STATE_FENCE,
};

// Where in a line that may be one of a fence.
enum fill_line {
	LINE_START,  // at most three blanks so far
	LINE_MARKS,  // and marks
	LINE_BLANKS, // and blanks behind as many as close the fence
	LINE_INSIDE, // anything else
};

struct fill_parser {
	enum fill_state state;
	bool work;    // in a work block
	bool closing; // the last event was a command, whose result has the closing brace
	char before;  // the byte before this one
	size_t tag;   // how much of <work> or </work> has been there

	enum fill_line line;
	char mark;	       // of the fence: ` or ~
	size_t indent, column; // blanks before the opening fence, and in this line
	size_t marks, fence;   // how many there are in this line, and opened it
	char info[16];	       // the fence's language
	size_t info_size;
	bool info_ended;

	char stack[FILL_NESTING_MAX]; // what is open in the command
	size_t depth;
	bool escaped, blank; // behind a backslash; nothing but blanks since the line began

	// The command that is complete, without its brace and colon, or the block's code.
	char text[FILL_WORK_MAX];
	size_t size;
	struct fill_piece pieces[FILL_PIECES_MAX];
	size_t piece_count;
	size_t line_at;	     // where in `text` the line began
	const char *refused; // why the block is not to be run; NULL: it is
};

void fill_start(struct fill_parser *parser);

// Takes bytes up to the first event, all `size` of them if there is none. Returns how many (at least
// one, unless `size` is 0): text to be passed on as it is, but for FILL_DROP's. After FILL_COMMAND
// and FILL_WORK `text`, and `pieces` or `refused`, say what to run until the next call.
size_t fill_read(struct fill_parser *parser, const char *data, size_t size, enum fill_event *event);

// What the text has left open at its end, for a message: "a command", "a work block", or NULL.
const char *fill_open(const struct fill_parser *parser);
