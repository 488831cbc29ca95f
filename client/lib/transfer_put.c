// Packing the caller's files for a session (transfer.h). Runs as the caller and reads what the
// caller can read: links inside a directory are packed as links, never followed, since somebody
// else may have put them there.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "job.h"
#include "tar_header.h"
#include "transfer.h"

#define CHUNK 65536

struct pack {
	struct transfer *transfer;
	struct tar *tar;
	struct failure *failure;
};

// Writes to the session's tar, unless it ends, or the deadline passes.
static bool stream_write(const struct pack *pack, const char *path, const void *data, size_t size)
{
	while (size > 0 && tar_await(pack->tar)) {
		const ssize_t written = write(pack->tar->data, data, size);

		if (written > 0) {
			data = (const char *)data + written;
			size -= (size_t)written;
		} else if (errno == EPIPE) {
			pack->tar->ended = true;
			break;
		} else if (errno != EAGAIN && errno != EINTR) {
			break;
		}
	}
	return size == 0
		       ? true
		       : fail(pack->failure, "packing %s: tar in the session takes no more", path);
}

static bool zeros_write(const struct pack *pack, const char *path, uint64_t size)
{
	static const char zeros[CHUNK];

	for (; size > sizeof(zeros); size -= sizeof(zeros))
		if (!stream_write(pack, path, zeros, sizeof(zeros)))
			return false;
	return stream_write(pack, path, zeros, size);
}

static bool pack_header(const struct pack *pack, const char *path, const struct stat *status,
			const char *link)
{
	uint8_t header[TAR_HEADER_MAX];
	const size_t size = tar_header(header, path, status, link);

	return size > 0 ? stream_write(pack, path, header, size)
			: fail(pack->failure, "packing %.100s...: its name is too long", path);
}

static bool pack_file(const struct pack *pack, int fd, const char *path, const struct stat *status)
{
	char buffer[CHUNK];
	uint64_t left = (uint64_t)status->st_size;

	if (!pack_header(pack, path, status, NULL))
		return false;
	while (left > 0) {
		const ssize_t n = read(fd, buffer, left < sizeof(buffer) ? left : sizeof(buffer));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(pack->failure, "reading %s: %s", path, strerror(errno));
		if (n == 0) {
			// The header has promised the size: the rest becomes zeros.
			notice("%s became shorter while it was read", path);
			break;
		}
		if (!stream_write(pack, path, buffer, (size_t)n))
			return false;
		left -= (uint64_t)n;
	}
	return zeros_write(pack, path, left + tar_padding((uint64_t)status->st_size));
}

static bool pack_link(const struct pack *pack, int directory, const char *name, const char *path,
		      const struct stat *status)
{
	char target[PATH_MAX];
	const ssize_t length = readlinkat(directory, name, target, sizeof(target) - 1);

	if (length < 0)
		return fail(pack->failure, "reading the link %s: %s", path, strerror(errno));
	target[length] = '\0';
	return pack_header(pack, path, status, target);
}

static bool pack_entry(const struct pack *pack, int directory, const char *name, const char *path,
		       int depth);

static bool pack_directory(const struct pack *pack, int fd, const char *path, int depth)
{
	const struct dirent *entry;
	bool good = true;
	DIR *stream = fdopendir(fd);

	if (!stream) {
		close(fd);
		return fail(pack->failure, "reading %s: %s", path, strerror(errno));
	}
	while (good && (entry = readdir(stream))) {
		autofree char *inner = NULL;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		good = asprintf(&inner, "%s/%s", path, entry->d_name) >= 0
			       ? pack_entry(pack, dirfd(stream), entry->d_name, inner, depth + 1)
			       : fail(pack->failure, "packing %s: out of memory", path);
	}
	closedir(stream);
	return good;
}

// Packs `name` of `directory` as `path`, with all below it. Depth 0 is what the caller named:
// there, and only there, a link is followed.
static bool pack_entry(const struct pack *pack, int directory, const char *name, const char *path,
		       int depth)
{
	const int follow = depth == 0 ? 0 : AT_SYMLINK_NOFOLLOW;
	struct stat status;

	if (depth > TRANSFER_DEPTH)
		return fail(pack->failure, "packing %s: nested deeper than %d directories", path,
			    TRANSFER_DEPTH);
	if (fstatat(directory, name, &status, follow) < 0)
		return fail(pack->failure, "reading %s: %s", name, strerror(errno));
	if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) && !S_ISLNK(status.st_mode)) {
		transfer_skip(pack->transfer, path, "neither file nor directory nor link");
		return true;
	}
	if (!transfer_charge(pack->transfer,
			     S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0))
		return fail(pack->failure,
			    "packing %s: it is more than the %llu bytes that --max "
			    "allows (%u are counted for each entry)",
			    path, (unsigned long long)pack->transfer->max, TRANSFER_ENTRY);
	if (S_ISLNK(status.st_mode))
		return pack_link(pack, directory, name, path, &status);

	// O_NONBLOCK: what was a file a moment ago may be a FIFO now.
	autoclose int fd =
		openat(directory, name,
		       O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow ? O_NOFOLLOW : 0));
	struct stat opened;

	if (fd < 0 || fstat(fd, &opened) < 0)
		return fail(pack->failure, "opening %s: %s", path, strerror(errno));
	if ((opened.st_mode & S_IFMT) != (status.st_mode & S_IFMT))
		return fail(pack->failure, "packing %s: it was replaced meanwhile", path);
	if (S_ISREG(status.st_mode))
		return pack_file(pack, fd, path, &status);
	if (!pack_header(pack, path, &status, NULL))
		return false;

	const int inner = fd;
	fd = -1;
	return pack_directory(pack, inner, path, depth);
}

static bool pack_sources(const struct pack *pack, char *const sources[], size_t count,
			 const char *rename)
{
	for (size_t i = 0; i < count; i++) {
		autofree char *directory = NULL, *name = NULL;

		if (!path_split(sources[i], &directory, &name) && !rename)
			return fail(pack->failure,
				    "'%s' has no name of its own that it could get in "
				    "the session; name the target, as in '%s NAME'",
				    sources[i], sources[i]);
		if (!pack_entry(pack, AT_FDCWD, sources[i], rename ? rename : name, 0))
			return false;
	}
	// Two blocks of zeros are its end.
	return zeros_write(pack, "the end", 2 * TAR_BLOCK);
}

// Whether `path` is a directory in the session.
static bool target_is_directory(const struct transfer *transfer, char *path, bool *is,
				struct failure *failure)
{
	char *argv[] = { (char[]){ "test" }, (char[]){ "-d" }, path, NULL };
	struct tar test;
	struct job_end end = { .exit_code = 1 };
	bool good = tar_start(&test, (struct transfer *)transfer, argv, true, failure) &&
		    job_wait(test.connection, 60000, &end, failure);

	*is = end.exit_code == 0;
	tar_close(&test);
	return good;
}

static bool put_into(struct transfer *transfer, char *const sources[], size_t count,
		     const char *directory, const char *rename, struct failure *failure)
{
	autofree char *where = NULL;
	struct tar tar;
	const struct pack pack = { .transfer = transfer, .tar = &tar, .failure = failure };

	if (asprintf(&where, "--directory=%s", directory) < 0)
		return fail(failure, "putting files: out of memory");
	char *argv[] = { (char[]){ "tar" },
			 (char[]){ "--extract" },
			 (char[]){ "--file=-" },
			 (char[]){ "--no-same-owner" },
			 where,
			 NULL };

	if (!tar_start(&tar, transfer, argv, true, failure)) {
		tar_close(&tar);
		return false;
	}
	bool good = pack_sources(&pack, sources, count, rename);
	// A tar that ended early says itself why.
	if (good || tar.ended || tar.late)
		good = tar_finish(&tar, "putting files", failure) && good;
	tar_close(&tar);
	return good;
}

bool transfer_put(struct transfer *transfer, char *const sources[], size_t count,
		  const char *target, struct failure *failure)
{
	autofree char *copy = strdup(target), *directory = NULL, *name = NULL;
	bool is_directory;

	if (!copy)
		return fail(failure, "putting files: out of memory");
	if (!target_is_directory(transfer, copy, &is_directory, failure))
		return false;
	if (is_directory)
		return put_into(transfer, sources, count, target, NULL, failure);
	if (count > 1 || !path_split(target, &directory, &name) ||
	    target[strlen(target) - 1] == '/')
		return fail(failure, "putting files: '%s' is not a directory in the session",
			    target);
	return put_into(transfer, sources, count, directory, name, failure);
}
