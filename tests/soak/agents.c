// What each session's agent takes, one a line: session, pid, resident and private KiB, descriptors.
// For tests/soak, as root: /proc of three hundred processes is too much for a shell. Reads only; a
// process that goes meanwhile is left out.
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "protocol.h"

// Reads /proc/PID/NAME whole, as far as it fits.
static bool process_read(const char *pid, const char *name, char *text, size_t size)
{
	char path[300];

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	FILE *file = fopen(path, "re");
	const size_t length = file ? fread(text, 1, size - 1, file) : 0;
	if (file)
		fclose(file);
	text[length] = '\0';
	return length > 0;
}

// The number behind `key` in `text`, or 0.
static unsigned long number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoul(at + strlen(key), NULL, 10) : 0;
}

static int descriptors_count(const char *pid)
{
	char path[300];
	int count = 0;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	DIR *directory = opendir(path);
	for (const struct dirent *entry; directory && (entry = readdir(directory));)
		count += entry->d_name[0] != '.';
	if (directory)
		closedir(directory);
	return count;
}

static void agent_print(const char *pid)
{
	char path[300], text[4096];
	unsigned int outer, inner;
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%s", pid);
	if (stat(path, &status) < 0 || !process_read(pid, "comm", text, sizeof(text)) ||
	    strcmp(text, "lodger-agent\n") != 0 || !process_read(pid, "status", text, sizeof(text)))
		return;
	const unsigned long uid = number_after(text, "\nUid:\t");
	const char *numbers = strstr(text, "\nNSpid:");
	if (uid <= SESSION_UID_BASE || uid > SESSION_UID_BASE + SESSION_NUMBER_MAX)
		return;
	// The first process of its namespace alone: what it starts bears its name for a moment.
	if (!numbers || sscanf(numbers, "\nNSpid: %u %u", &outer, &inner) != 2 || inner != 1)
		return;
	if (!process_read(pid, "smaps_rollup", text, sizeof(text)))
		return;
	printf("lodger-%lu %s %lu %lu %d\n", uid - SESSION_UID_BASE, pid,
	       number_after(text, "\nRss:"),
	       number_after(text, "\nPrivate_Clean:") + number_after(text, "\nPrivate_Dirty:"),
	       descriptors_count(pid));
}

int main(void)
{
	DIR *directory = opendir("/proc");

	if (!directory) {
		perror("/proc");
		return 1;
	}
	for (const struct dirent *entry; (entry = readdir(directory));)
		if (isdigit((unsigned char)entry->d_name[0]))
			agent_print(entry->d_name);
	closedir(directory);
	return 0;
}
