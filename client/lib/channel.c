// Finding the channel (channel.h). Runs as the caller, or in a session as the lodger.
#include "channel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol.h"

#define STORE "/nix/store/"
#define NAME "nixpkgs="
#define CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-._?="

bool store_path_valid(const char *text, size_t length)
{
	const size_t start = strlen(STORE);

	if (length <= start || length >= STORE_PATH_SIZE || memcmp(text, STORE, start) != 0 ||
	    text[start] == '.')
		return false;
	for (size_t i = start; i < length; i++)
		if (!memchr(CHARACTERS, text[i], strlen(CHARACTERS)))
			return false;
	return true;
}

bool store_has(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

static bool path_take(char path[STORE_PATH_SIZE], const char *text, size_t length)
{
	if (!store_path_valid(text, length))
		return false;
	memcpy(path, text, length);
	path[length] = '\0';
	return true;
}

bool channel_find(char path[STORE_PATH_SIZE])
{
	char target[STORE_PATH_SIZE];
	const ssize_t length = readlink(LODGER_CHANNEL, target, sizeof(target) - 1);

	if (length < 0)
		return false;
	target[length] = '\0';
	return path_take(path, target, (size_t)length);
}

bool session_inside(void)
{
	return getuid() > SESSION_UID_BASE && getuid() - SESSION_UID_BASE <= SESSION_NUMBER_MAX;
}

// The first entry of NIX_PATH that is called nixpkgs.
static bool search_path_find(const char *entry, char path[STORE_PATH_SIZE])
{
	while (entry) {
		const size_t length = strcspn(entry, ":");

		if (strncmp(entry, NAME, strlen(NAME)) == 0)
			return path_take(path, entry + strlen(NAME), length - strlen(NAME));
		entry = entry[length] ? entry + length + 1 : NULL;
	}
	return false;
}

bool channel_here(char path[STORE_PATH_SIZE], struct failure *failure)
{
	if (session_inside())
		return search_path_find(getenv("NIX_PATH"), path) ||
		       fail(failure, "there is no channel: NIX_PATH does not say nixpkgs= and a "
				     "path in /nix/store, as it does when a session starts");
	return channel_find(path) ||
	       fail(failure,
		    "there is no channel: %s does not lead to a package set; an "
		    "administrator can make one with lodger-channel",
		    LODGER_CHANNEL);
}
