// What put writes and what get lets onto the caller's disk (client/lib/transfer.h, tar_header.h):
// hostile archives against a directory whose surroundings must stay as they were.
#include <archive_entry.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#undef fail // the client has a function of that name

#include "tar_header.h"
#include "transfer.h"

static char top[] = "/tmp/lodger-transfer-XXXXXX";
static uint8_t archive_bytes[1 << 20];
static size_t archive_size;

static int setup(void **state)
{
	(void)state;
	strcpy(top + strlen(top) - 6, "XXXXXX");
	archive_size = 0;
	memset(archive_bytes, 0, sizeof(archive_bytes));
	if (!mkdtemp(top) || chdir(top) < 0 || mkdir("dest", 0755) < 0 || mkdir("out", 0755) < 0)
		return -1;
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s", top, top);
	return chdir("/") < 0 ? -1 : system(command);
}

// Puts an entry into the archive, with `data` when it is a file.
static void entry_add(const char *path, mode_t mode, const char *data, const char *link)
{
	const struct stat status = { .st_mode = mode, .st_size = data ? (off_t)strlen(data) : 0 };

	archive_size += tar_header(archive_bytes + archive_size, path, &status, link);
	if (data) {
		memcpy(archive_bytes + archive_size, data, strlen(data));
		archive_size += strlen(data) + tar_padding(strlen(data));
	}
}

// The type and size of the last header, for kinds that the client's own packer never writes.
static void header_patch(size_t at, char type)
{
	uint8_t *block = archive_bytes + at;
	unsigned int sum = 0;

	block[156] = (uint8_t)type;
	memset(block + 148, ' ', 8);
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += block[i];
	snprintf((char *)block + 148, 8, "%06o", sum);
}

// Unpacks what was put together, as `top` into dest. Returns whether all went well.
static bool unpack(unsigned int *skipped, uint64_t max, struct failure *failure)
{
	struct transfer transfer = { .budget = max, .max = max };
	struct unpack unpack = {
		.transfer = &transfer,
		.directory = open("dest", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.source = "top",
		.name = "top",
		.mask = 022,
	};
	struct archive *archive = archive_read_new();

	archive_read_support_format_tar(archive);
	archive_read_support_format_empty(archive);

	// The notices of what is skipped are of no interest here.
	fflush(stderr);
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC), saved = dup(STDERR_FILENO);
	const mode_t old = umask(0);
	dup2(null, STDERR_FILENO);
	const bool good = archive_read_open_memory(archive, archive_bytes,
						   archive_size + 2 * TAR_BLOCK) == ARCHIVE_OK &&
			  unpack_archive(&unpack, archive, failure);
	dup2(saved, STDERR_FILENO);
	umask(old);
	close(null);
	close(saved);
	archive_read_free(archive);
	close(unpack.directory);
	*skipped = transfer.skipped;
	return good;
}

static bool is(const char *path, mode_t type)
{
	struct stat status;

	return lstat(path, &status) == 0 && (status.st_mode & S_IFMT) == type;
}

static void ordinary_tree(void **state)
{
	struct failure failure = { 0 };
	struct stat status;
	unsigned int skipped;
	char text[8] = "";

	(void)state;
	entry_add("top/", S_IFDIR | 0555, NULL, NULL);
	entry_add("./top/file", S_IFREG | 06777, "hello", NULL);
	entry_add("top/sub/", S_IFDIR | 0755, NULL, NULL);
	entry_add("top/sub/link", S_IFLNK | 0777, NULL, "../file");
	assert_true(unpack(&skipped, 1 << 20, &failure));
	assert_int_equal(skipped, 0);
	assert_int_equal(stat("dest/top/file", &status), 0);
	assert_int_equal(status.st_mode, S_IFREG | 0755);
	assert_int_equal(stat("dest/top", &status), 0);
	assert_int_equal(status.st_mode, S_IFDIR | 0755);
	const int fd = open("dest/top/sub/link", O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text)), 5);
	close(fd);
	assert_string_equal(text, "hello");
}

static void names_that_lead_out(void **state)
{
	static const char *const names[] = { "/abs",   "../out/x", "top/../../out/x", "top/..",
					     "..",     "other",	   "out/x",	      ".bashrc",
					     "/top/x", "top/a\nb", "top/\033[2J",     "." };
	struct failure failure = { 0 };
	unsigned int skipped;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		entry_add(names[i], S_IFREG | 0644, "x", NULL);
	assert_true(unpack(&skipped, 1 << 20, &failure));
	assert_int_equal(skipped, sizeof(names) / sizeof(names[0]));
	assert_int_equal(rmdir("dest"), 0);
	assert_int_equal(rmdir("out"), 0);
}

static void links_that_lead_out(void **state)
{
	static const char *const targets[] = { "/etc", "..",	    "../x",	"a/../../x",
					       "./..", "sub/../..", "../top/x", "a\nb" };
	struct failure failure = { 0 };
	unsigned int skipped;
	char name[16];

	(void)state;
	entry_add("top", S_IFDIR | 0755, NULL, NULL);
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		snprintf(name, sizeof(name), "top/l%zu", i);
		entry_add(name, S_IFLNK | 0777, NULL, targets[i]);
	}
	entry_add("top/a/b/deep", S_IFLNK | 0777, NULL, "../../x");
	entry_add("top/a/b/deeper", S_IFLNK | 0777, NULL, "../../../x");
	assert_true(unpack(&skipped, 1 << 20, &failure));
	assert_int_equal(skipped, sizeof(targets) / sizeof(targets[0]) + 1);
	assert_true(is("dest/top/a/b/deep", S_IFLNK));
	assert_false(is("dest/top/l0", S_IFLNK));
}

// The tree itself as a link would turn every later name into somewhere else.
static void top_as_link(void **state)
{
	struct failure failure = { 0 };
	unsigned int skipped;

	(void)state;
	entry_add("top", S_IFLNK | 0777, NULL, "out");
	entry_add("top/x", S_IFREG | 0644, "x", NULL);
	assert_true(unpack(&skipped, 1 << 20, &failure));
	assert_int_equal(skipped, 1);
	assert_true(is("dest/top/x", S_IFREG));
}

// A link that is fine by itself is not written through.
static void through_own_link(void **state)
{
	struct failure failure = { 0 };
	unsigned int skipped;

	(void)state;
	entry_add("top/dir", S_IFDIR | 0755, NULL, NULL);
	entry_add("top/link", S_IFLNK | 0777, NULL, "dir");
	entry_add("top/link/x", S_IFREG | 0644, "x", NULL);
	assert_false(unpack(&skipped, 1 << 20, &failure));
	assert_non_null(strstr(failure.text, "link"));
	assert_false(is("dest/top/dir/x", S_IFREG));
}

// What the caller has there already is replaced, not followed.
static void through_callers_link(void **state)
{
	struct failure failure = { 0 };
	unsigned int skipped;

	(void)state;
	assert_int_equal(mkdir("dest/top", 0755), 0);
	assert_int_equal(symlink("../../out/victim", "dest/top/file"), 0);
	entry_add("top/file", S_IFREG | 0644, "x", NULL);
	assert_true(unpack(&skipped, 1 << 20, &failure));
	assert_true(is("dest/top/file", S_IFREG));
	assert_int_equal(rmdir("out"), 0);
	assert_int_equal(unlink("dest/top/file"), 0);
	assert_int_equal(rmdir("dest/top"), 0);
	assert_int_equal(symlink("../elsewhere", "dest/top"), 0);
	assert_int_equal(mkdir("elsewhere", 0755), 0);
	assert_false(unpack(&skipped, 1 << 20, &failure));
	assert_int_equal(rmdir("elsewhere"), 0);
}

static void odd_types(void **state)
{
	static const char types[] = "13467";
	struct failure failure = { 0 };
	unsigned int skipped;

	(void)state;
	for (const char *type = types; *type; type++) {
		const char name[] = { 't', 'o', 'p', '/', *type, '\0' };
		const size_t at = archive_size;

		entry_add(name, S_IFLNK | 0777, NULL, "/etc/passwd");
		header_patch(at, *type);
	}
	assert_true(unpack(&skipped, 1 << 20, &failure));
	// '7' is an ordinary file to everybody.
	assert_int_equal(skipped, 4);
	assert_false(is("dest/top/1", S_IFREG));
	assert_false(is("dest/top/3", S_IFCHR));
	assert_false(is("dest/top/6", S_IFIFO));
}

static void too_much(void **state)
{
	struct failure failure = { 0 };
	const struct stat huge = { .st_mode = S_IFREG | 0644, .st_size = 1LL << 60 };
	unsigned int skipped;

	(void)state;
	archive_size = tar_header(archive_bytes, "top/huge", &huge, NULL);
	assert_false(unpack(&skipped, 1 << 30, &failure));
	assert_non_null(strstr(failure.text, "--max"));
	assert_int_equal(rmdir("dest"), 0);
	assert_int_equal(mkdir("dest", 0755), 0);

	// Ten empty files, where two entries are allowed.
	archive_size = 0;
	for (int i = 0; i < 10; i++)
		entry_add("top/x", S_IFREG | 0644, "", NULL);
	assert_false(unpack(&skipped, 2 * TRANSFER_ENTRY + 1, &failure));
	assert_non_null(strstr(failure.text, "--max"));
}

// An archive that ends in the middle of a file leaves no half of it.
static void cut_short(void **state)
{
	struct failure failure = { 0 };
	const struct stat status = { .st_mode = S_IFREG | 0644, .st_size = 100000 };
	unsigned int skipped;

	(void)state;
	archive_size = tar_header(archive_bytes, "top", &status, NULL);
	assert_false(unpack(&skipped, 1 << 20, &failure));
	assert_int_equal(rmdir("dest"), 0);
}

static void garbage(void **state)
{
	struct failure failure = { 0 };
	unsigned int skipped, seed = 7;

	(void)state;
	for (int round = 0; round < 200; round++) {
		archive_size = 0;
		memset(archive_bytes, 0, 16384);
		entry_add("top/a", S_IFREG | 0644, "data", NULL);
		entry_add("top/b", S_IFLNK | 0777, NULL, "a");
		for (int i = 0; i < 1 + round / 10; i++)
			archive_bytes[(size_t)rand_r(&seed) % archive_size] =
				(uint8_t)rand_r(&seed);
		(void)unpack(&skipped, 1 << 20, &failure);
	}
	assert_int_equal(rmdir("out"), 0);
}

static void too_deep(void **state)
{
	struct failure failure = { 0 };
	unsigned int skipped;
	char path[4096] = "top";

	(void)state;
	for (int i = 0; i < TRANSFER_DEPTH; i++)
		strcat(path, "/d");
	entry_add(path, S_IFDIR | 0755, NULL, NULL);
	assert_true(unpack(&skipped, 1 << 20, &failure));
	assert_int_equal(skipped, 1);
}

// Our headers, read by libarchive.
static void headers_read_back(void **state)
{
	static const off_t sizes[] = { 0, 1, 511, 512, 077777777777LL, 0100000000000LL, 1LL << 50 };
	static uint8_t room[TAR_HEADER_MAX + 2 * TAR_BLOCK];
	char path[4097], link[300];
	struct archive_entry *entry;

	(void)state;
	memset(link, 'l', sizeof(link) - 1);
	link[sizeof(link) - 1] = '\0';
	for (size_t length = 1; length < sizeof(path); length += length < 256 ? 1 : 767) {
		const off_t size = sizes[length % (sizeof(sizes) / sizeof(sizes[0]))];
		const bool linked = length % 2;
		const struct stat status = { .st_mode = (linked ? S_IFLNK : S_IFREG) | 0640,
					     .st_size = size,
					     .st_mtime = 1000000000 };
		struct archive *archive = archive_read_new();

		memset(path, 'p', length);
		path[length] = '\0';
		const size_t used = tar_header(room, path, &status, linked ? link : NULL);
		if (length >= 4096) {
			assert_int_equal(used, 0);
			archive_read_free(archive);
			continue;
		}
		memset(room + used, 0, sizeof(room) - used);
		assert_int_equal(used % TAR_BLOCK, 0);
		archive_read_support_format_tar(archive);
		assert_int_equal(archive_read_open_memory(archive, room, sizeof(room)), ARCHIVE_OK);
		assert_int_equal(archive_read_next_header(archive, &entry), ARCHIVE_OK);
		assert_string_equal(archive_entry_pathname(entry), path);
		assert_int_equal(archive_entry_perm(entry), 0640);
		assert_int_equal(archive_entry_mtime(entry), 1000000000);
		if (linked)
			assert_string_equal(archive_entry_symlink(entry), link);
		else
			assert_true(archive_entry_size(entry) == size);
		archive_read_free(archive);
	}
}

static void paths_split(void **state)
{
	static const struct {
		const char *path, *directory, *name; // NULL: refused
	} rows[] = {
		{ "a", ".", "a" },    { "a/", ".", "a" },	  { "a/b", "a/", "b" },
		{ "/a", "/", "a" },   { "/a//b//", "/a//", "b" }, { "../a", "../", "a" },
		{ "/", NULL, NULL },  { "//", NULL, NULL },	  { ".", NULL, NULL },
		{ "..", NULL, NULL }, { "a/..", NULL, NULL },	  { "a/./", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *directory, *name;

		assert_int_equal(path_split(rows[i].path, &directory, &name), rows[i].name != NULL);
		if (rows[i].name) {
			assert_string_equal(directory, rows[i].directory);
			assert_string_equal(name, rows[i].name);
		}
		free(directory);
		free(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ordinary_tree, setup, teardown),
		cmocka_unit_test_setup_teardown(names_that_lead_out, setup, teardown),
		cmocka_unit_test_setup_teardown(links_that_lead_out, setup, teardown),
		cmocka_unit_test_setup_teardown(top_as_link, setup, teardown),
		cmocka_unit_test_setup_teardown(through_own_link, setup, teardown),
		cmocka_unit_test_setup_teardown(through_callers_link, setup, teardown),
		cmocka_unit_test_setup_teardown(odd_types, setup, teardown),
		cmocka_unit_test_setup_teardown(too_much, setup, teardown),
		cmocka_unit_test_setup_teardown(cut_short, setup, teardown),
		cmocka_unit_test_setup_teardown(garbage, setup, teardown),
		cmocka_unit_test_setup_teardown(too_deep, setup, teardown),
		cmocka_unit_test_setup_teardown(headers_read_back, setup, teardown),
		cmocka_unit_test(paths_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
