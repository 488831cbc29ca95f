// Unpacking what comes from a session (transfer.h). Runs as the caller, on the caller's disk, with
// an input that is hostile in every bit: libarchive only reads the format (tar alone, no
// decompression), and every file operation is made here, name by name, from a held directory.
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "printable.h"
#include "transfer.h"

#define CHUNK 65536
#define DRAIN_MAX (1U << 20)
#define TEMPORARY_SIZE 48

// One entry on its way to the disk.
struct place {
	int directory;	  // where it goes
	const char *name; // what it is called there
	int depth;	  // directories between the fetched tree's top and it
};

// Splits `path` in place; "." and empty components go. Returns how many there are, or -1 when one
// is "..", when there are too many, or when the path is absolute.
static int components_split(char *path, char *components[TRANSFER_DEPTH])
{
	int count = 0;
	char *word;

	if (*path == '/')
		return -1;
	while ((word = strsep(&path, "/"))) {
		if (*word == '\0' || strcmp(word, ".") == 0)
			continue;
		if (strcmp(word, "..") == 0 || count == TRANSFER_DEPTH)
			return -1;
		components[count++] = word;
	}
	return count;
}

// Opens directory `name` of `parent`, made if it is not there; a link is never followed.
static int directory_enter(const struct unpack *unpack, int parent, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	const int fd = openat(parent, name, flags);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	if (mkdirat(parent, name, (0777 & ~unpack->mask) | 0700) < 0 && errno != EEXIST)
		return -1;
	return openat(parent, name, flags);
}

// A link that stays inside the fetched tree: relative, climbing only at its beginning and no
// further than the tree's top. In the middle, ".." could climb from where another link leads to.
static bool link_stays(const char *target, int depth)
{
	bool climbing = true;

	if (*target == '/' || *target == '\0' || !printable_name(target))
		return false;
	while (*target) {
		const size_t length = strcspn(target, "/");

		if (length == 2 && strncmp(target, "..", 2) == 0) {
			if (!climbing || depth-- == 0)
				return false;
		} else if (length > 0 && !(length == 1 && *target == '.')) {
			climbing = false;
		}
		target += length + strspn(target + length, "/");
	}
	return true;
}

static bool entry_failed(const char *doing, const char *path, struct failure *failure)
{
	return fail(failure, "%s %s: %s", doing, path, strerror(errno));
}

static void temporary_name(char name[TEMPORARY_SIZE])
{
	static unsigned int counter;

	snprintf(name, TEMPORARY_SIZE, ".lodger-get-%d-%u", (int)getpid(), counter++);
}

static bool data_copy(struct archive *archive, int fd, uint64_t size, const char *path,
		      struct failure *failure)
{
	const void *block;
	size_t length;
	la_int64_t offset;
	int result;

	while ((result = archive_read_data_block(archive, &block, &length, &offset)) ==
	       ARCHIVE_OK) {
		if (offset < 0 || (uint64_t)offset > size || length > size - (uint64_t)offset)
			return fail(failure, "unpacking %s: it has more data than it announces",
				    path);
		while (length > 0) {
			const ssize_t n = pwrite(fd, block, length, offset);

			if (n < 0 && errno != EINTR)
				return entry_failed("writing", path, failure);
			if (n > 0) {
				block = (const char *)block + n;
				length -= (size_t)n;
				offset += n;
			}
		}
	}
	if (result != ARCHIVE_EOF)
		return fail(failure, "unpacking %s: %s", path, archive_error_string(archive));
	return true;
}

// The file appears under its name when it is whole, in place of what had that name: nothing is ever
// written through an existing file or link.
static bool file_write(const struct unpack *unpack, struct archive *archive,
		       struct archive_entry *entry, const struct place *place, const char *path,
		       struct failure *failure)
{
	const mode_t mode = archive_entry_perm(entry) & 0777 & ~unpack->mask;
	const uint64_t size = (uint64_t)archive_entry_size(entry);
	char temporary[TEMPORARY_SIZE];

	temporary_name(temporary);
	autoclose int fd = openat(place->directory, temporary,
				  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return entry_failed("creating", path, failure);

	bool good = data_copy(archive, fd, size, path, failure);
	if (good && (ftruncate(fd, (off_t)size) < 0 || fchmod(fd, mode) < 0 ||
		     renameat(place->directory, temporary, place->directory, place->name) < 0))
		good = entry_failed("finishing", path, failure);
	if (!good)
		unlinkat(place->directory, temporary, 0);
	return good;
}

static bool link_make(const struct place *place, const char *target, const char *path,
		      struct failure *failure)
{
	char temporary[TEMPORARY_SIZE];

	temporary_name(temporary);
	if (symlinkat(target, place->directory, temporary) < 0)
		return entry_failed("creating the link", path, failure);
	if (renameat(place->directory, temporary, place->directory, place->name) == 0)
		return true;
	entry_failed("creating the link", path, failure);
	unlinkat(place->directory, temporary, 0);
	return false;
}

static bool directory_make(const struct unpack *unpack, struct archive_entry *entry,
			   const struct place *place, const char *path, struct failure *failure)
{
	// Its owner can always write to it, or what is in it could not be unpacked.
	const mode_t mode = (archive_entry_perm(entry) & 0777 & ~unpack->mask) | 0700;

	if (mkdirat(place->directory, place->name, mode) == 0)
		return true;
	if (errno != EEXIST)
		return entry_failed("creating the directory", path, failure);
	autoclose int fd = directory_enter(unpack, place->directory, place->name);
	return fd >= 0 ? true : entry_failed("entering the directory", path, failure);
}

static bool entry_write(const struct unpack *unpack, struct archive *archive,
			struct archive_entry *entry, const struct place *place, const char *path,
			struct failure *failure)
{
	const char *target = archive_entry_symlink(entry);

	if (archive_entry_hardlink(entry)) {
		transfer_skip(unpack->transfer, path, "a hard link");
		return true;
	}
	switch (archive_entry_filetype(entry)) {
	case AE_IFREG:
		return file_write(unpack, archive, entry, place, path, failure);
	case AE_IFDIR:
		return directory_make(unpack, entry, place, path, failure);
	case AE_IFLNK:
		if (target && place->depth >= 0 && link_stays(target, place->depth))
			return link_make(place, target, path, failure);
		transfer_skip(unpack->transfer, path, "a link that leads out of what is fetched");
		return true;
	default:
		transfer_skip(unpack->transfer, path, "neither file nor directory nor link");
		return true;
	}
}

// Finds the place of an entry whose path has `count` components, and puts it there.
static bool entry_place(const struct unpack *unpack, struct archive *archive,
			struct archive_entry *entry, char *components[], int count,
			const char *path, struct failure *failure)
{
	struct place place = { .directory = unpack->directory, .name = unpack->name, .depth = -1 };
	autoclose int held = -1;

	for (int i = 1; i < count; i++) {
		const int next = directory_enter(unpack, place.directory, place.name);

		if (next < 0)
			return fail(failure, "unpacking %s: entering the directory %s: %s", path,
				    place.name,
				    errno == ELOOP || errno == ENOTDIR
					    ? "it is a link or a file, which are not followed"
					    : strerror(errno));
		cleanup_close(&held);
		place = (struct place){ .directory = held = next,
					.name = components[i],
					.depth = i - 1 };
	}
	return entry_write(unpack, archive, entry, &place, path, failure);
}

static bool entry_unpack(const struct unpack *unpack, struct archive *archive,
			 struct archive_entry *entry, struct failure *failure)
{
	const char *path = archive_entry_pathname(entry);
	char *components[TRANSFER_DEPTH];
	const int64_t size = archive_entry_size(entry);

	if (!transfer_charge(unpack->transfer, size > 0 ? (uint64_t)size : 0))
		return fail(failure,
			    "unpacking: it is more than the %" PRIu64 " bytes that --max "
			    "allows (%u are counted for each entry)",
			    unpack->transfer->max, TRANSFER_ENTRY);
	if (!path || size < 0) {
		transfer_skip(unpack->transfer, path ? path : "?", "its header makes no sense");
		return true;
	}
	if (!printable_name(path)) {
		transfer_skip(unpack->transfer, path, "control characters in its name");
		return true;
	}

	autofree char *copy = strdup(path);
	if (!copy)
		return fail(failure, "unpacking %s: out of memory", path);
	const int count = components_split(copy, components);
	if (count < 1 || strcmp(components[0], unpack->source) != 0) {
		transfer_skip(unpack->transfer, path, "it is not part of what was asked for");
		return true;
	}
	return entry_place(unpack, archive, entry, components, count, path, failure);
}

bool unpack_archive(struct unpack *unpack, struct archive *archive, struct failure *failure)
{
	struct archive_entry *entry;
	int result;

	while ((result = archive_read_next_header(archive, &entry)) == ARCHIVE_OK ||
	       result == ARCHIVE_WARN)
		if (!entry_unpack(unpack, archive, entry, failure))
			return false;
	return result == ARCHIVE_EOF
		       ? true
		       : fail(failure, "reading the archive: %s", archive_error_string(archive));
}

struct stream {
	struct tar *tar;
	char buffer[CHUNK];
};

static la_ssize_t stream_read(struct archive *archive, void *data, const void **buffer)
{
	struct stream *stream = data;
	struct tar *tar = stream->tar;

	while (tar_await(tar)) {
		const ssize_t n = read(tar->data, stream->buffer, sizeof(stream->buffer));

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n > 0 && (uint64_t)n > tar->raw)
			break;
		if (n < 0)
			break;
		tar->raw -= (uint64_t)n;
		*buffer = stream->buffer;
		return n;
	}
	archive_set_error(archive, EIO,
			  tar->late ? "not done in time; --timeout gives it more"
				    : "it is longer than --max allows");
	return ARCHIVE_FATAL;
}

// Reads what a tar writes behind the end of its archive, so that it does not die of SIGPIPE.
static void stream_drain(struct stream *stream)
{
	for (size_t drained = 0; drained < DRAIN_MAX && tar_await(stream->tar);) {
		const ssize_t n = read(stream->tar->data, stream->buffer, sizeof(stream->buffer));

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return;
		drained += n > 0 ? (size_t)n : 0;
	}
}

static bool archive_get(struct unpack *unpack, struct tar *tar, struct failure *failure)
{
	struct stream *stream = malloc(sizeof(*stream));
	struct archive *archive = archive_read_new();
	bool good = stream && archive;

	if (good) {
		stream->tar = tar;
		archive_read_support_format_tar(archive);
		archive_read_support_format_empty(archive);
		good = archive_read_open(archive, stream, NULL, stream_read, NULL) == ARCHIVE_OK;
	}
	if (!good)
		fail(failure, "reading the archive: %s",
		     archive ? archive_error_string(archive) : "out of memory");
	good = good && unpack_archive(unpack, archive, failure);
	if (good)
		stream_drain(stream);
	archive_read_free(archive);
	free(stream);
	return good;
}

static bool get_source(struct unpack *unpack, const char *source, const char *rename,
		       struct failure *failure)
{
	autofree char *directory = NULL, *name = NULL, *where = NULL, *what = NULL;
	struct tar tar;

	if (!path_split(source, &directory, &name))
		return fail(failure, "'%s' has no name of its own; name a file or a directory",
			    source);
	if (asprintf(&where, "--directory=%s", directory) < 0 || asprintf(&what, "./%s", name) < 0)
		return fail(failure, "getting %s: out of memory", source);
	unpack->source = name;
	unpack->name = rename ? rename : name;
	if (!printable_name(unpack->name))
		return fail(failure, "getting '%s': control characters in its name", source);

	char *argv[] = { (char[]){ "tar" }, (char[]){ "--create" }, (char[]){ "--file=-" },
			 (char[]){ "--format=gnu" }, (char[]){ "--hard-dereference" },
			 // What follows is a name as it is, not one with escapes.
			 (char[]){ "--no-unquote" }, where, what, NULL };
	bool good = tar_start(&tar, unpack->transfer, argv, false, failure) &&
		    archive_get(unpack, &tar, failure) &&
		    tar_finish(&tar, "getting files", failure);
	tar_close(&tar);
	return good;
}

static bool get_all(struct unpack *unpack, char *const sources[], size_t count, const char *target,
		    struct failure *failure)
{
	autofree char *parent = NULL, *rename = NULL;
	autoclose int directory = open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (directory < 0 && (errno == ENOENT || errno == ENOTDIR) && count == 1) {
		if (!path_split(target, &parent, &rename) || target[strlen(target) - 1] == '/')
			return fail(failure, "getting files: '%s' is not a directory here", target);
		directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (directory < 0)
		return fail(failure, "getting files: opening the directory %s: %s",
			    parent ? parent : target, strerror(errno));
	unpack->directory = directory;
	for (size_t i = 0; i < count; i++)
		if (!get_source(unpack, sources[i], rename, failure))
			return false;
	return true;
}

bool transfer_get(struct transfer *transfer, char *const sources[], size_t count,
		  const char *target, struct failure *failure)
{
	// Every mode is given whole, with the mask taken off by hand.
	struct unpack unpack = { .transfer = transfer, .mask = umask(0) };
	const bool good = get_all(&unpack, sources, count, target, failure);

	umask(unpack.mask);
	return good;
}
