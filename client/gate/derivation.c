// A derivation's outputs (derivation.h). Runs in workers. The files are the daemon's, but sessions
// have it write what they like into them.
#include "derivation.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"

static const char malformed[] = "its file is not of the form that Nix writes";

static bool take(struct view *text, const char *expected)
{
	const size_t size = strlen(expected);

	if (text->size < size || memcmp(text->text, expected, size) != 0)
		return false;
	text->text += size;
	text->size -= size;
	return true;
}

// A quoted string. One with an escape in it is none of those that matter here.
static bool take_string(struct view *text, struct view *string)
{
	if (!take(text, "\""))
		return false;

	const char *end = memchr(text->text, '"', text->size);
	if (end == NULL)
		return false;
	*string = (struct view){ text->text, (size_t)(end - text->text) };
	text->text = end + 1;
	text->size -= string->size + 1;
	return string->size == 0 || memchr(string->text, '\\', string->size) == NULL;
}

// A hash's kind (`r:sha256`) or its digits, or nothing.
static bool hash_word(struct view word)
{
	for (size_t i = 0; i < word.size; i++) {
		const char c = word.text[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == ':'))
			return false;
	}
	return true;
}

static const char *parse_output(struct view *text, struct derivation *derivation)
{
	struct output output;
	struct view algorithm, hash;

	if (!take(text, "(") || !take_string(text, &output.name) || !take(text, ",") ||
	    !take_string(text, &output.path) || !take(text, ",") ||
	    !take_string(text, &algorithm) || !take(text, ",") || !take_string(text, &hash) ||
	    !take(text, ")"))
		return malformed;
	if (!hash_word(algorithm) || !hash_word(hash) || !paths_output(output.name) ||
	    derivation_output(derivation, output.name) != NULL)
		return malformed;
	if (output.path.size == 0)
		return "where its result will be is not known before it is built";
	if (!paths_store(output.path))
		return malformed;
	if (derivation->count == DERIVATION_OUTPUTS)
		return "it has more outputs than anybody needs";
	output.fixed = algorithm.size > 0 || hash.size > 0;
	derivation->outputs[derivation->count++] = output;
	return NULL;
}

const char *derivation_parse(struct view text, struct derivation *derivation)
{
	derivation->count = 0;
	if (!take(&text, "Derive(["))
		return malformed;
	do {
		const char *problem = parse_output(&text, derivation);

		if (problem != NULL)
			return problem;
	} while (take(&text, ","));
	return take(&text, "],[") ? NULL : malformed;
}

const struct output *derivation_output(const struct derivation *derivation, struct view name)
{
	for (size_t i = 0; i < derivation->count; i++) {
		if (view_equal(derivation->outputs[i].name, name))
			return &derivation->outputs[i];
	}
	return NULL;
}

const char *derivation_read(int store, struct view path, struct derivation *derivation)
{
	// Nix reads what it finds behind a link; here it is not followed (openat2(2)).
	const struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	static char head[DERIVATION_HEAD];
	char name[PATHS_MAX + 1];
	struct stat status;
	size_t size = 0;

	derivation->count = 0;
	snprintf(name, sizeof(name), "%.*s", (int)path.size, path.text);
	autoclose int fd =
		(int)syscall(SYS_openat2, store, name + sizeof(PATHS_STORE), &how, sizeof(how));
	if (fd < 0 || fstat(fd, &status) < 0)
		return "its file cannot be read";
	if (!S_ISREG(status.st_mode))
		return "it is not a file";
	while (size < sizeof(head)) {
		const ssize_t got = read(fd, head + size, sizeof(head) - size);

		if (got == 0)
			break;
		if (got < 0 && errno != EINTR)
			return "its file cannot be read";
		if (got > 0)
			size += (size_t)got;
	}
	return derivation_parse((struct view){ head, size }, derivation);
}
