// What lodger export reads (export_source.h). Runs as the caller.
#include "export_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "export_chat.h"
#include "export_events.h"

#define EVENTS "events.jsonl"
#define TEXT_FILE_MAX (1U << 20)

static bool name_set(struct source *source, const char *path, const char *within)
{
	if (asprintf(&source->name, "%s%s%s", path, *within ? "/" : "", within) < 0)
		source->name = NULL;
	return source->name != NULL;
}

static bool source_take(struct source *source, int fd, struct failure *failure)
{
	source->file = fd >= 0 ? fdopen(fd, "r") : NULL;
	source->lines = (struct lines){ .file = source->file, .name = source->name };
	if (source->file)
		return true;
	if (fd >= 0)
		close(fd);
	return fail(failure, "opening %s: %s", source->name, strerror(errno));
}

bool source_open(struct source *source, const char *path, bool chat, struct failure *failure)
{
	const bool input = strcmp(path, "-") == 0;
	struct stat status;
	int fd, directory;

	*source = (struct source){ .chat = chat };
	if (!name_set(source, input ? "standard input" : path, ""))
		return fail(failure, "opening %s: out of memory", path);
	fd = input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
		   : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, &status) != 0 || !S_ISDIR(status.st_mode))
		return source_take(source, fd, failure);
	if (chat) {
		close(fd);
		return fail(failure, "%s is a directory; with --from chat name a file", path);
	}
	directory = fd;
	free(source->name);
	if (!name_set(source, path, EVENTS)) {
		close(directory);
		return fail(failure, "opening %s: out of memory", path);
	}
	fd = openat(directory, EVENTS, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	close(directory);
	return source_take(source, fd, failure);
}

void source_close(struct source *source)
{
	if (source->file)
		fclose(source->file);
	lines_free(&source->lines);
	free(source->name);
	*source = (struct source){ 0 };
}

int source_next(struct source *source, struct conversation *conversation, struct failure *failure)
{
	if (source->chat)
		return chat_next(&source->lines, conversation, failure);
	if (source->read)
		return 0;
	source->read = true;
	return events_read(source->file, source->name, conversation, failure) ? 1 : -1;
}

bool source_text(const char *path, struct text *text, struct failure *failure)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct text whole = { 0 };
	char buffer[4096];
	ssize_t size = 0;
	bool good = true;

	if (fd < 0)
		return fail(failure, "opening %s: %s", path, strerror(errno));
	while (whole.size <= TEXT_FILE_MAX && (size = read(fd, buffer, sizeof(buffer))) > 0)
		text_add(&whole, buffer, (size_t)size);
	if (size < 0)
		good = fail(failure, "reading %s: %s", path, strerror(errno));
	else if (whole.size > TEXT_FILE_MAX)
		good = fail(failure, "%s is larger than %u KiB", path, TEXT_FILE_MAX >> 10);
	else if (text_utf8(text, &whole) > 0)
		good = fail(failure, "%s is no text in UTF-8", path);
	else if (text->lost)
		good = fail(failure, "reading %s: out of memory", path);
	text_free(&whole);
	return good;
}
