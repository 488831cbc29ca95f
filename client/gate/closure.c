// The channels' lists (closure.h). Runs in workers, before they have their filter; trusts what only
// root can have put there.
#include "closure.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"

static const char suffix[] = "-lodger-channel";

bool closure_list_has(struct view list, struct view line)
{
	size_t low = 0, high = list.size; // both at the start of a line, or at the end of all

	while (low < high) {
		size_t start = low + (high - low) / 2;

		while (start > low && list.text[start - 1] != '\n')
			start--;
		const char *end = memchr(list.text + start, '\n', high - start);
		// A last line that is not ended may not be whole.
		if (end == NULL) {
			high = start;
			continue;
		}
		const size_t size = (size_t)(end - list.text) - start;
		const size_t shorter = size < line.size ? size : line.size;
		const int order = memcmp(list.text + start, line.text, shorter);

		if (order == 0 && size == line.size)
			return true;
		if (order < 0 || (order == 0 && size < line.size))
			low = start + size + 1;
		else
			high = start;
	}
	return false;
}

bool closure_has(const struct closure *closure, struct view derivation)
{
	if (!paths_derivation(derivation))
		return false;
	for (size_t i = 0; i < closure->count; i++) {
		if (closure_list_has(closure->lists[i], derivation))
			return true;
	}
	return false;
}

static void list_add(struct closure *closure, int roots, const char *link, int store)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	char target[PATHS_MAX + 1], name[PATHS_MAX + sizeof("/closure")];
	struct stat status;
	const ssize_t size = readlinkat(roots, link, target, sizeof(target));

	if (size <= 0 || size >= (ssize_t)sizeof(target) ||
	    !paths_store((struct view){ target, (size_t)size }))
		return;
	target[size] = '\0';
	snprintf(name, sizeof(name), "%s/closure", target + sizeof(PATHS_STORE));
	autoclose int fd = (int)syscall(SYS_openat2, store, name, &how, sizeof(how));
	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
	    status.st_size > (off_t)CLOSURE_SIZE)
		return;

	// Nothing in the store is ever changed, so it cannot get shorter either.
	void *text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text != MAP_FAILED)
		closure->lists[closure->count++] = (struct view){ text, (size_t)status.st_size };
}

static bool is_channel(const char *name)
{
	const size_t size = strlen(name);

	return size > sizeof(suffix) - 1 && strcmp(name + size - (sizeof(suffix) - 1), suffix) == 0;
}

void closure_open(struct closure *closure, const char *roots, int store)
{
	struct stat status;
	DIR *directory = opendir(roots);

	closure->count = 0;
	if (directory == NULL)
		return;
	if (fstat(dirfd(directory), &status) == 0 && status.st_uid == 0 &&
	    (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) {
		for (const struct dirent *entry = readdir(directory);
		     entry != NULL && closure->count < CLOSURE_LISTS; entry = readdir(directory)) {
			if (is_channel(entry->d_name))
				list_add(closure, dirfd(directory), entry->d_name, store);
		}
	}
	closedir(directory);
}

void closure_close(struct closure *closure)
{
	while (closure->count > 0) {
		const struct view list = closure->lists[--closure->count];

		munmap((void *)list.text, list.size);
	}
}
