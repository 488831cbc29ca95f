// Archives that come out of a session, as lodger get unpacks them (client/lib/transfer.h).
// Holds: nothing is made, changed or removed but below the one name that was asked for; there, only
// files, directories and links, none of which leads out, without set-ID bits and within the budget;
// and no temporary file is left. The directory that it goes to may have links of its own.
#include "fuzz.h"

#include <archive.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "tar_header.h"
#include "transfer.h"

#define BUDGET (1U << 18)

// top/out is what must stay as it is, top/dest where it goes.
static char top[] = "lodger-fuzz-XXXXXX";
static uint64_t unpacked;
static int destination;
static bool own_links;

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *where = getenv("TMPDIR");
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)argc;
	(void)argv;
	assert(chdir(where ? where : "/tmp") == 0);
	assert(mkdtemp(top) && chdir(top) == 0);
	// As transfer_get: each mode is given whole.
	umask(0);
	assert(null >= 0);
	return 0;
}

static int entry_remove(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

static int entry_holds(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	const struct open_how inside = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH };

	(void)type;
	if (walk->level == 0)
		return 0;
	assert(strncmp(path + walk->base, ".lodger-get-", 12) != 0);
	assert(S_ISREG(status->st_mode) || S_ISDIR(status->st_mode) || S_ISLNK(status->st_mode));
	if (S_ISLNK(status->st_mode)) {
		if (own_links)
			return 0;
		// The kernel is the judge of where it leads to: EXDEV says out.
		const int fd = (int)syscall(SYS_openat2, destination, path + strlen("dest/top/"),
					    &inside, sizeof(inside));
		assert(fd >= 0 || errno != EXDEV);
		if (fd >= 0)
			close(fd);
		return 0;
	}
	assert((status->st_mode & 07000) == 0 && status->st_nlink >= 1);
	if (S_ISREG(status->st_mode)) {
		assert(status->st_nlink == 1);
		unpacked += (uint64_t)status->st_size;
	}
	return 0;
}

static void directory_has(const char *path, const char *only)
{
	const struct dirent *entry;
	DIR *directory = opendir(path);

	assert(directory);
	while ((entry = readdir(directory)))
		assert(strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		       (only && strstr(only, entry->d_name)));
	closedir(directory);
}

// Lays out what is there before: nothing, the directory, or a link in the place of it or in it.
static void stage(unsigned int kind)
{
	assert(mkdir("dest", 0755) == 0 && mkdir("out", 0755) == 0 && mkdir("out/x", 0755) == 0);
	own_links = kind >= 2;
	if (kind == 2)
		assert(symlink("../out", "dest/top") == 0);
	else if (kind > 0)
		assert(mkdir("dest/top", 0755) == 0);
	if (kind == 3)
		assert(symlink("../../out", "dest/top/a") == 0 &&
		       symlink("../../out/x", "dest/top/b") == 0 &&
		       symlink("../../out/new", "dest/top/f") == 0);
}

static void unstage(const struct stat *out, const struct stat *inner)
{
	struct stat now;

	directory_has(".", "dest out");
	directory_has("dest", "top");
	directory_has("out", "x");
	directory_has("out/x", NULL);
	assert(lstat("out", &now) == 0 && now.st_mode == out->st_mode);
	assert(now.st_ino == out->st_ino && now.st_mtim.tv_nsec == out->st_mtim.tv_nsec);
	assert(lstat("out/x", &now) == 0 && now.st_mode == inner->st_mode);
	assert(now.st_ino == inner->st_ino && now.st_mtim.tv_nsec == inner->st_mtim.tv_nsec);

	unpacked = 0;
	destination = open("dest/top", O_PATH | O_NOFOLLOW | O_CLOEXEC);
	assert(nftw("dest", entry_holds, 16, FTW_PHYS) == 0);
	if (destination >= 0)
		close(destination);
	assert(unpacked <= BUDGET);
	nftw("dest", entry_remove, 16, FTW_PHYS | FTW_DEPTH);
	nftw("out", entry_remove, 16, FTW_PHYS | FTW_DEPTH);
}

static void sum_put(uint8_t *block)
{
	unsigned int sum = 0;

	memset(block + 148, ' ', 8);
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += block[i];
	snprintf((char *)block + 148, 8, "%06o", sum & 0777777);
}

// Makes an archive of entries that are written as a type, a mode (two bytes), a path, and a link or
// data, each ended by a line's end: mutated, these stay entries. Returns its size.
static size_t archive_make(struct input *input, uint8_t *archive, size_t room)
{
	size_t used = 0;

	while (input->size > 0 && room - used > TAR_HEADER_MAX + input->size + TAR_BLOCK) {
		const char type = (char)input_byte(input);
		const unsigned int mode = input_byte(input) | (unsigned int)input_byte(input) << 8;
		char *path = input_text(input, '\n'), *text = input_text(input, '\n');
		const bool link = type == '1' || type == '2';
		const bool file = !link && type != '5';
		const struct stat status = { .st_mode = S_IFREG | mode,
					     .st_size = file ? (off_t)strlen(text) : 0 };
		const size_t size = tar_header(archive + used, path, &status, link ? text : NULL);

		if (size > 0) {
			used += size;
			archive[used - TAR_BLOCK + 156] = (uint8_t)type;
			sum_put(archive + used - TAR_BLOCK);
			if (file) {
				memcpy(archive + used, text, strlen(text));
				used += strlen(text) + tar_padding(strlen(text));
			}
		}
		free(path);
		free(text);
	}
	return used;
}

// An archive as it is, but for the sums of its headers, which no mutation gets right.
static size_t archive_mend(struct input *input, uint8_t *archive, size_t room)
{
	const size_t size = input->size < room ? input->size : room;

	memcpy(archive, input->data, size);
	for (size_t at = 0; at + TAR_BLOCK <= size; at += TAR_BLOCK)
		if (memcmp(archive + at + 257, "ustar", 5) == 0)
			sum_put(archive + at);
	return size;
}

static void archive_unpack(const uint8_t *bytes, size_t size)
{
	struct transfer transfer = { .budget = BUDGET, .max = BUDGET, .skipped = 1000 };
	struct unpack unpack = {
		.transfer = &transfer, .source = "top", .name = "top", .mask = 022
	};
	struct archive *archive = archive_read_new();
	struct failure failure = { 0 };

	unpack.directory = open("dest", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert(unpack.directory >= 0 && archive);
	archive_read_support_format_tar(archive);
	archive_read_support_format_empty(archive);
	if (archive_read_open_memory(archive, (void *)bytes, size) == ARCHIVE_OK)
		assert(unpack_archive(&unpack, archive, &failure) == (failure.text[0] == '\0'));
	archive_read_free(archive);
	close(unpack.directory);
}

// An input: what is there before and which form, and entries or an archive.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t archive[1 << 17];
	struct input input = { data, size };
	const uint64_t before = descriptors_open();
	const uint8_t kind = input_byte(&input);
	struct stat out, inner;

	const size_t used = kind & 0x80 ? archive_mend(&input, archive, sizeof(archive) - 1024)
					: archive_make(&input, archive, sizeof(archive) - 1024);
	memset(archive + used, 0, 1024);
	stage(kind & 3);
	assert(lstat("out", &out) == 0 && lstat("out/x", &inner) == 0);
	archive_unpack(archive, used + 1024);
	assert(descriptors_open() == before);
	unstage(&out, &inner);
	return 0;
}
