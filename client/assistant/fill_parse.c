// The parser of lodger fill (fill_parse.h). Pure: each byte is looked at once, in order, and nothing
// that was passed over is looked at again.
#include "fill_parse.h"

#include <string.h>

#define FENCE_LEAST 3U
#define INDENT_MOST 3U

static const char work_open[] = "<work>", work_close[] = "</work>";

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Bytes that a terminal would take for something else than text.
static bool control(char c)
{
	return ((unsigned char)c < ' ' && c != '\t' && c != '\n') || c == 0x7f;
}

void fill_start(struct fill_parser *parser)
{
	// Not the text, which is only read as far as it was written.
	memset(parser, 0, offsetof(struct fill_parser, text));
	parser->before = '\n';
	parser->size = 0;
	parser->piece_count = 0;
	parser->refused = NULL;
}

static void line_begin(struct fill_parser *parser)
{
	parser->line = LINE_START;
	parser->column = 0;
	parser->marks = 0;
	parser->line_at = parser->size;
}

static void text_go_on(struct fill_parser *parser, enum fill_line line)
{
	parser->state = STATE_TEXT;
	parser->line = line;
	parser->tag = 0;
	if (line == LINE_START)
		line_begin(parser);
}

// Commands ---------------------------------------------------------------------------------------

// Whether a brace behind `before` can begin a command: not in ${x}, f{x}, {{x}}, x_{i}, \{.
static bool brace_counts(char before)
{
	return !letter(before) && !(before >= '0' && before <= '9') &&
	       (before == '\0' || !strchr("_$\\{})]^@#%", before));
}

static bool command_begins(char c)
{
	return letter(c) || (c != '\0' && strchr("_./~", c));
}

static bool command_push(struct fill_parser *parser, char kind)
{
	if (parser->depth == sizeof(parser->stack))
		return false;
	parser->stack[parser->depth++] = kind;
	return true;
}

// A byte that is neither escaped nor in single quotes. False: this is no command.
static bool command_nest(struct fill_parser *parser, char top, char c)
{
	const bool substitutes = parser->before == '$';

	if (c == top && (c == '"' || c == '`')) {
		parser->depth--;
		return true;
	}
	if (top == '"')
		return c == '`' || (substitutes && (c == '(' || c == '{')) ? command_push(parser, c)
									   : true;
	switch (c) {
	case '\'':
		// $'…' is 'a' on the stack: a backslash counts in there.
		return command_push(parser, substitutes ? 'a' : '\'');
	case '"':
	case '`':
	case '(':
	case '{':
		return command_push(parser, c);
	case ')':
		parser->depth -= top == '(';
		return true;
	case '}':
		parser->depth -= top == '{';
		return top != '\0';
	case '\n':
		return top != '\0';
	default:
		return true;
	}
}

// One more byte of a command. False: it is none after all.
static bool command_byte(struct fill_parser *parser, char c, enum fill_event *event)
{
	const char top = parser->depth > 0 ? parser->stack[parser->depth - 1] : '\0';
	const bool escaped = parser->escaped;

	if (control(c) || (c == '\n' && parser->blank))
		return false;
	if (c == ':' && top == '\0' && !escaped) {
		*event = FILL_COMMAND;
		return true;
	}
	if (parser->size == FILL_COMMAND_MAX)
		return false;
	if (escaped)
		parser->escaped = false;
	else if (c == '\\' && top != '\'')
		parser->escaped = true;
	else if (top == '\'' || top == 'a')
		parser->depth -= c == '\'';
	else if (!command_nest(parser, top, c))
		return false;
	parser->blank = c == '\n' || (parser->blank && (c == ' ' || c == '\t'));
	parser->text[parser->size++] = c;
	// What was escaped makes nothing of what comes behind it.
	parser->before = escaped ? '\\' : c;
	return true;
}

// Fences -----------------------------------------------------------------------------------------

static void work_keep(struct fill_parser *parser, char c)
{
	if (!parser->work || parser->refused)
		return;
	if (control(c) && c != '\r')
		parser->refused = "it has a control character";
	else if (parser->size == FILL_WORK_MAX)
		parser->refused = "it is too long";
	else if (c != '\r')
		parser->text[parser->size++] = c;
}

static enum fill_language language(const struct fill_parser *parser)
{
	static const struct {
		const char *name;
		enum fill_language language;
	} languages[] = {
		{ "", FILL_SHELL },	 { "sh", FILL_SHELL },	    { "bash", FILL_SHELL },
		{ "shell", FILL_SHELL }, { "python", FILL_PYTHON }, { "python3", FILL_PYTHON },
		{ "py", FILL_PYTHON },
	};

	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++)
		if (parser->info_size == strlen(languages[i].name) &&
		    memcmp(parser->info, languages[i].name, parser->info_size) == 0)
			return languages[i].language;
	return FILL_OTHER;
}

// The opening line is over.
static void fence_open(struct fill_parser *parser)
{
	parser->state = STATE_FENCE;
	line_begin(parser);
	if (!parser->work || language(parser) == FILL_OTHER)
		return;
	if (parser->piece_count == FILL_PIECES_MAX) {
		parser->refused = "it has too many pieces of code";
		return;
	}
	parser->pieces[parser->piece_count++] =
		(struct fill_piece){ .language = language(parser), .offset = parser->size };
}

static void fence_close(struct fill_parser *parser, enum fill_line line)
{
	if (parser->work && language(parser) != FILL_OTHER && !parser->refused) {
		struct fill_piece *piece = &parser->pieces[parser->piece_count - 1];

		parser->size = parser->line_at;
		piece->size = parser->size - piece->offset;
		// No code is nothing to run.
		if (piece->size == 0)
			parser->piece_count--;
	}
	text_go_on(parser, line);
}

static void fence_byte(struct fill_parser *parser, char c)
{
	const bool marks_close = parser->marks >= parser->fence &&
				 (parser->line == LINE_MARKS || parser->line == LINE_BLANKS);

	if (c == '\n' && marks_close) {
		fence_close(parser, LINE_START);
		return;
	}
	// The end of the block may stand in the same line.
	if (c == '<' && marks_close && parser->work) {
		fence_close(parser, LINE_INSIDE);
		parser->tag = 1;
		return;
	}
	if (parser->line == LINE_START && c == ' ' && parser->column < INDENT_MOST) {
		// Code is as far to the left as its fence.
		if (++parser->column <= parser->indent)
			return;
	} else if (parser->line <= LINE_MARKS && c == parser->mark) {
		parser->line = LINE_MARKS;
		parser->marks++;
	} else if (marks_close && (c == ' ' || c == '\t' || c == '\r')) {
		parser->line = LINE_BLANKS;
	} else {
		parser->line = LINE_INSIDE;
	}
	if (language(parser) != FILL_OTHER)
		work_keep(parser, c);
	if (c == '\n')
		line_begin(parser);
}

static void info_byte(struct fill_parser *parser, char c)
{
	if (c == '\n') {
		fence_open(parser);
	} else if (c == '`' && parser->mark == '`') {
		// ```code``` in one line.
		parser->state = STATE_INLINE;
		parser->marks = 1;
	} else if (c == ' ' || c == '\t' || c == '\r') {
		parser->info_ended |= parser->info_size > 0;
	} else if (!parser->info_ended && parser->info_size < sizeof(parser->info)) {
		parser->info[parser->info_size++] =
			c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
	}
}

// Text -------------------------------------------------------------------------------------------

static void inline_byte(struct fill_parser *parser, char c)
{
	if (c == '`')
		parser->marks++;
	else if (c == '\n' || parser->marks == parser->fence)
		text_go_on(parser, c == '\n' ? LINE_START : LINE_INSIDE);
	else
		parser->marks = 0;
}

// Marks at the beginning of a line. Returns whether that is all that there is to say about `c`.
static bool line_byte(struct fill_parser *parser, char c)
{
	if (parser->line == LINE_START && c == ' ' && parser->column < INDENT_MOST) {
		parser->column++;
		return true;
	}
	if (parser->line == LINE_START && (c == '`' || c == '~')) {
		parser->line = LINE_MARKS;
		parser->mark = c;
		parser->marks = 1;
		return true;
	}
	if (parser->line != LINE_MARKS) {
		parser->line = LINE_INSIDE;
		return false;
	}
	if (c == parser->mark) {
		parser->marks++;
		return true;
	}
	parser->line = LINE_INSIDE;
	parser->fence = parser->marks;
	if (parser->marks >= FENCE_LEAST) {
		parser->state = STATE_INFO;
		parser->indent = parser->column;
		parser->info_size = 0;
		parser->info_ended = false;
		info_byte(parser, c);
		return true;
	}
	if (parser->mark != '`' || parser->work)
		return false;
	parser->state = STATE_INLINE;
	parser->marks = 0;
	inline_byte(parser, c);
	return true;
}

// Returns whether `c` ended a tag. A block that has nothing to run is text.
static bool tag_byte(struct fill_parser *parser, char c, enum fill_event *event)
{
	const char *tag = parser->work ? work_close : work_open;

	parser->tag = c == tag[parser->tag] ? parser->tag + 1 : c == '<';
	if (tag[parser->tag] != '\0')
		return false;
	if (parser->work && (parser->piece_count > 0 || parser->refused))
		*event = FILL_WORK;
	parser->work = !parser->work;
	if (parser->work) {
		parser->size = parser->piece_count = 0;
		parser->refused = NULL;
	}
	// A fence may stand right behind it.
	text_go_on(parser, LINE_START);
	return true;
}

static void text_byte(struct fill_parser *parser, char c, enum fill_event *event)
{
	if (line_byte(parser, c) || tag_byte(parser, c, event))
		return;
	if (c == '\n') {
		line_begin(parser);
	} else if (!parser->work && c == '\\') {
		parser->state = STATE_ESCAPED;
	} else if (!parser->work && c == '`') {
		parser->state = STATE_TICKS;
		parser->fence = 1;
	} else if (!parser->work && c == '{' && brace_counts(parser->before)) {
		parser->state = STATE_COMMAND;
		parser->size = parser->depth = 0;
		parser->escaped = parser->blank = false;
	}
}

static void byte(struct fill_parser *parser, char c, enum fill_event *event)
{
	if (parser->state == STATE_COMMAND) {
		if ((parser->size > 0 || command_begins(c)) && command_byte(parser, c, event)) {
			if (*event == FILL_COMMAND)
				text_go_on(parser, LINE_INSIDE);
			return;
		}
		text_go_on(parser, LINE_INSIDE);
	}
	if (parser->state == STATE_TICKS && c == '`') {
		parser->fence++;
	} else if (parser->state == STATE_TICKS || parser->state == STATE_INLINE) {
		if (parser->state == STATE_TICKS)
			parser->marks = 0;
		parser->state = STATE_INLINE;
		inline_byte(parser, c);
		// What closed it is the byte before this one.
		if (parser->state == STATE_TEXT && c != '\n')
			text_byte(parser, c, event);
	} else if (parser->state == STATE_INFO) {
		info_byte(parser, c);
	} else if (parser->state == STATE_FENCE) {
		fence_byte(parser, c);
	} else if (parser->state == STATE_ESCAPED) {
		text_go_on(parser, c == '\n' ? LINE_START : LINE_INSIDE);
	} else {
		text_byte(parser, c, event);
	}
	parser->before = c;
}

size_t fill_read(struct fill_parser *parser, const char *data, size_t size, enum fill_event *event)
{
	*event = FILL_TEXT;
	if (parser->closing && size > 0) {
		parser->closing = false;
		parser->before = ' ';
		if (*data == '}') {
			*event = FILL_DROP;
			return 1;
		}
	}
	for (size_t i = 0; i < size; i++) {
		byte(parser, data[i], event);
		if (*event != FILL_TEXT) {
			parser->closing = *event == FILL_COMMAND;
			return i + 1;
		}
	}
	return size;
}

const char *fill_open(const struct fill_parser *parser)
{
	if (parser->work)
		return "a work block";
	return parser->state == STATE_COMMAND && parser->size > 0 ? "a command" : NULL;
}
