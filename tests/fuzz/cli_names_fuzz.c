// Names that a caller gives and words for a shell (client/lib/names.h, shellquote.h).
// Holds: a package's name is taken exactly when it is an attribute path and nothing else, which
// nix-shell pastes into a program; variables and terminals have names of plain letters; and a shell
// that reads what shellquote wrote has the same words again.
#include "fuzz.h"

#include "names.h"
#include "printable.h"
#include "session.h"
#include "shellquote.h"

#define WORDS 16

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool attribute_path(const char *word)
{
	bool first = true;

	if (strlen(word) > 256)
		return false;
	for (; *word; word++) {
		if (*word == '.' && !first)
			first = true;
		else if (letter(*word) || (!first && (digit(*word) || strchr("'-", *word))))
			first = false;
		else
			return false;
	}
	return !first;
}

// What was refused is said, and can be shown on any terminal.
static void said(bool taken, const struct failure *failure)
{
	char text[PRINTABLE_GROWTH * sizeof(failure->text)];

	assert(taken == (failure->text[0] == '\0'));
	for (const char *c = printable(text, sizeof(text), failure->text); *c; c++)
		assert(*c >= ' ' && *c <= '~');
}

static void names_hold(const char *word)
{
	struct failure failure = { 0 }, about_variable = { 0 }, about_session = { 0 };
	const bool package = package_check(word, &failure);
	const bool variable = variable_check(word, &about_variable);
	const uint32_t session = session_parse(word, &about_session);

	said(package, &failure);
	said(variable, &about_variable);
	said(session != 0, &about_session);
	assert(package == attribute_path(word));
	if (variable) {
		assert(letter(*word));
		for (; *word != '='; word++)
			assert(letter(*word) || digit(*word));
	} else if (terminal_name_valid(word)) {
		assert(strlen(word) <= 64);
		for (; *word; word++)
			assert(letter(*word) || digit(*word) || strchr(".+-", *word));
	}
}

// The part of the shell's grammar that shellquote uses (POSIX, 2.2 Quoting): blanks part words, a
// backslash takes the next byte as it is, quotes all up to the next quote. Whatever else means
// something to a shell, or has no quotes around it, is not what shellquote may write.
// Writes the words to `to`, each ended by a NUL. Returns their number.
static size_t shell_words(const char *text, char *to, size_t room)
{
	size_t count = 0, used = 0;

	while (*text) {
		assert(*text != ' ');
		while (*text && *text != ' ') {
			assert(*text == '\'' || *text == '\\');
			if (*text == '\\') {
				assert(text[1] != '\0' && text[1] != '\n' && used < room);
				to[used++] = text[1];
				text += 2;
				continue;
			}
			for (text++; *text != '\''; text++) {
				assert(*text && used < room);
				to[used++] = *text;
			}
			text++;
		}
		assert(used < room);
		to[used++] = '\0';
		count++;
		if (*text == ' ')
			assert(*++text);
	}
	return count;
}

static void quoting_holds(char *const words[], size_t count)
{
	char *text = shellquote(words);
	size_t size = 1;

	for (size_t i = 0; i < count; i++)
		size += strlen(words[i]) + 1;
	char *read = malloc(size), *word = read;
	assert(text && read);
	assert(shell_words(text, read, size) == count);
	for (size_t i = 0; i < count; i++) {
		assert(strcmp(word, words[i]) == 0);
		word += strlen(word) + 1;
	}
	free(read);
	free(text);
}

// An input: words, each ended by a NUL.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	char *words[WORDS + 1] = { NULL };
	size_t count = 0;

	while (input.size > 0 && count < WORDS)
		words[count++] = input_text(&input, '\0');
	for (size_t i = 0; i < count; i++)
		names_hold(words[i]);
	quoting_holds(words, count);
	for (size_t i = 0; i < count; i++)
		free(words[i]);
	return 0;
}
