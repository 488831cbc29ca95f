// The table of a channel's packages (package_table.h). Runs as the caller, or in a session as the
// lodger; reads only.
#include "package_table.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "channel.h"
#include "cleanup.h"

#define NEAR_MAX 5
// A beginning shorter than this says nothing.
#define NEAR_LEAST 2

static bool table_map(struct package_table *table, const char *channel, const char *name,
		      struct failure *failure)
{
	char path[PATH_MAX];
	struct stat status;

	*table = (struct package_table){ .text = "" };
	snprintf(path, sizeof(path), "%s/%s", channel, name);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) < 0)
		return fail(failure, "reading the channel's packages: %s: %s", path,
			    strerror(errno));
	if (status.st_size <= 0)
		return true;
	table->mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (table->mapped == MAP_FAILED) {
		table->mapped = NULL;
		return fail(failure, "reading the channel's packages: %s: %s", path,
			    strerror(errno));
	}
	table->text = table->mapped;
	table->size = (size_t)status.st_size;
	return true;
}

bool package_table_open(struct package_table *table, const char *channel, struct failure *failure)
{
	return table_map(table, channel, "packages.tsv", failure);
}

void package_table_open_more(struct package_table *table, const char *channel)
{
	struct failure ignored;

	(void)table_map(table, channel, "more.tsv", &ignored);
	table->more = true;
}

void package_table_close(struct package_table *table)
{
	if (table->mapped)
		munmap(table->mapped, table->size);
	*table = (struct package_table){ .text = "" };
}

static size_t line_length(const struct package_table *table, size_t at)
{
	const char *end = memchr(table->text + at, '\n', table->size - at);

	return end ? (size_t)(end - table->text) - at : table->size - at;
}

static uint64_t size_read(const char *text, size_t length)
{
	uint64_t size = 0;

	if (length == 0 || length > 18)
		return PACKAGE_SIZE_UNKNOWN;
	for (; length > 0; text++, length--) {
		if (*text < '0' || *text > '9')
			return PACKAGE_SIZE_UNKNOWN;
		size = size * 10 + (uint64_t)(*text - '0');
	}
	return size;
}

static bool line_read(const struct package_table *table, const char *line, size_t length,
		      struct package *package)
{
	const char *end = line + length;
	int count = 0;

	*package = (struct package){ 0 };
	for (const char *from = line; count < PACKAGE_COLUMNS; count++) {
		const char *tab = memchr(from, '\t', (size_t)(end - from));

		package->column[count].text = from;
		package->column[count].length = (size_t)((tab ? tab : end) - from);
		if (!tab) {
			count++;
			break;
		}
		from = tab + 1;
	}
	package->size =
		size_read(package->column[PACKAGE_SIZE].text, package->column[PACKAGE_SIZE].length);
	return count > PACKAGE_DESCRIPTION && package->column[PACKAGE_ATTRIBUTE].length > 0 &&
	       (table->more || store_path_valid(package->column[PACKAGE_PATH].text,
						package->column[PACKAGE_PATH].length));
}

bool package_next(const struct package_table *table, size_t *at, struct package *package)
{
	while (*at < table->size) {
		const char *line = table->text + *at;
		const size_t length = line_length(table, *at);

		*at += length + 1;
		if (line_read(table, line, length, package))
			return true;
	}
	return false;
}

// As strcmp(3), with the attribute at the beginning of a line.
static int attribute_compare(const struct package_table *table, size_t at, const char *attribute)
{
	const char *line = table->text + at;
	const size_t length = line_length(table, at), wanted = strlen(attribute);
	const char *tab = memchr(line, '\t', length);
	const size_t own = tab ? (size_t)(tab - line) : length;
	const int order = memcmp(line, attribute, own < wanted ? own : wanted);

	return order != 0 ? order : own < wanted ? -1 : own > wanted;
}

bool package_find(const struct package_table *table, const char *attribute, struct package *package)
{
	// What is looked for begins in [low, high).
	size_t low = 0, high = table->size;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const char *before = memrchr(table->text + low, '\n', middle - low);
		const size_t line = before ? (size_t)(before - table->text) + 1 : low;
		const int order = attribute_compare(table, line, attribute);

		if (order == 0)
			return line_read(table, table->text + line, line_length(table, line),
					 package);
		if (order > 0)
			high = line;
		else
			low = line + line_length(table, line) + 1;
	}
	return false;
}

char *package_text(const struct package *package, enum package_column column)
{
	return strndup(package->column[column].text, package->column[column].length);
}

// How near two names are: 2, 1, or 0 for not at all.
static int nearness(const char *attribute, const char *other)
{
	const char *own_dot = strrchr(attribute, '.'), *other_dot = strrchr(other, '.');
	const char *own_part = own_dot ? own_dot + 1 : attribute;
	const char *other_part = other_dot ? other_dot + 1 : other;
	const size_t own = strlen(own_part), its = strlen(other_part);
	const size_t shorter = own < its ? own : its;

	if (strcasecmp(own_part, other_part) == 0)
		return 2;
	return shorter >= NEAR_LEAST && strncasecmp(own_part, other_part, shorter) == 0;
}

unsigned int package_near(const struct package_table *table, const char *attribute,
			  char names[PACKAGE_NAMES_SIZE])
{
	unsigned int count = 0;

	names[0] = '\0';
	for (int wanted = 2; wanted > 0 && count == 0; wanted--) {
		struct package package;
		size_t at = 0, used = 0;

		while (count < NEAR_MAX && package_next(table, &at, &package)) {
			autofree char *other = package_text(&package, PACKAGE_ATTRIBUTE);
			const size_t room = PACKAGE_NAMES_SIZE - used;

			if (!other || nearness(attribute, other) != wanted ||
			    strlen(other) + 3 > room)
				continue;
			used += (size_t)snprintf(names + used, room, "%s%s", count ? ", " : "",
						 other);
			count++;
		}
	}
	return count;
}
