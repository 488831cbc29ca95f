// Keys of an API (chat_key.h). Runs as the caller, and reads as nobody else.
#include "chat_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"

#define BLANKS " \t\r\n"

static bool key_check(char key[CHAT_KEY_SIZE], const char *where, struct failure *failure)
{
	size_t size = strlen(key);
	const size_t lead = strspn(key, BLANKS);

	while (size > lead && strchr(BLANKS, key[size - 1]))
		size--;
	memmove(key, key + lead, size - lead);
	key[size - lead] = '\0';
	if (key[0] == '\0')
		return fail(failure, "the API's key: there is none in %s", where);
	for (const char *c = key; *c; c++)
		if (*c <= ' ' || *c > '~')
			return fail(failure,
				    "the API's key: what is in %s is none, it has blanks or "
				    "characters that no key has",
				    where);
	return true;
}

static bool file_read(const char *path, char key[CHAT_KEY_SIZE], struct failure *failure)
{
	// A pipe will do, as of <(pass show key).
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat status;
	size_t used = 0;
	ssize_t n = -1;

	if (fd < 0 || fstat(fd, &status) < 0)
		return fail(failure, "the API's key: opening %s: %s", path, strerror(errno));
	if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRGRP | S_IROTH)))
		notice("others can read %s, which has the API's key; chmod 600 it", path);
	while (used < CHAT_KEY_SIZE && (n = read(fd, key + used, CHAT_KEY_SIZE - used)) > 0)
		used += (size_t)n;
	if (n < 0)
		return fail(failure, "the API's key: reading %s: %s", path, strerror(errno));
	if (used == CHAT_KEY_SIZE)
		return fail(failure, "the API's key: %s is too long for one", path);
	key[used] = '\0';
	if (strlen(key) != used)
		return fail(failure, "the API's key: %s is no text", path);
	return true;
}

bool chat_key_read(const char *path, const char *variable, char key[CHAT_KEY_SIZE],
		   struct failure *failure)
{
	key[0] = '\0';
	if (path)
		return file_read(path, key, failure) && key_check(key, path, failure);
	if (!variable)
		return true;

	char *value = getenv(variable);
	if (!value)
		return fail(failure, "the API's key: the variable %s is not set", variable);
	if (strlen(value) >= CHAT_KEY_SIZE)
		return fail(failure, "the API's key: %s is too long for one", variable);
	strcpy(key, value);
	// It stands in /proc/PID/environ, too, and would be handed down.
	explicit_bzero(value, strlen(value));
	unsetenv(variable);
	return key_check(key, variable, failure);
}

void chat_key_hide(const char *key, char *text)
{
	const size_t length = strlen(key);

	if (length == 0)
		return;
	while ((text = strstr(text, key)) != NULL) {
		memset(text, '*', length);
		text += length;
	}
}
