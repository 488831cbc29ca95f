// The session's root: all that exists for a lodger. Built with CAP_SYS_ADMIN before any code of the
// lodger runs, on fixed paths and paths of the policy alone. One tmpfs holds everything that can be
// written; the rest are read-only clones of host directories. Every step works on descriptors:
// fsopen(2), open_tree(2), move_mount(2), mount_setattr(2).
#include "helper.h"

#include <limits.h>
#include <sys/mount.h>

#define READ_ONLY (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define DEVICE (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)

static const char *const device_nodes[] = {
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
};
static const char *const links[][2] = {
	{ "dev/ptmx", "pts/ptmx" },	     { "dev/fd", "/proc/self/fd" },
	{ "dev/stdin", "/proc/self/fd/0" },  { "dev/stdout", "/proc/self/fd/1" },
	{ "dev/stderr", "/proc/self/fd/2" },
};
// What the lodger can write to beside its home.
static const char *const shared_directories[] = { "/tmp", "/var/tmp", "/dev/shm" };

// Opens the directory of `path` below `root`, making what is missing, and sets *name to the last
// component inside `buffer`. No component may be a link.
static int parent_open(int root, const char *path, char buffer[PATH_MAX], char **name)
{
	int at = fcntl(root, F_DUPFD_CLOEXEC, 0);
	char *slash;

	snprintf(buffer, PATH_MAX, "%s", path + 1);
	for (*name = buffer; (slash = strchr(*name, '/')); *name = slash + 1) {
		*slash = '\0';
		bool made = mkdirat(at, *name, 0755) == 0;
		int inner = openat(at, *name, OPEN_DIRECTORY);

		// umask is 077.
		if (inner < 0 || (made && fchmod(inner, 0755) < 0))
			die("making in the session's root the directory of", path);
		close(at);
		at = inner;
	}
	return at;
}

// Makes directory `path` with `mode`, the lodger's own if `owner` is its uid, 0 otherwise.
static void directory_make(int root, const char *path, mode_t mode, uid_t owner)
{
	char buffer[PATH_MAX], *name;
	autoclose int at = parent_open(root, path, buffer, &name);

	if ((mkdirat(at, name, mode) < 0 && errno != EEXIST) || fchmodat(at, name, mode, 0) < 0 ||
	    fchownat(at, name, owner, owner, AT_SYMLINK_NOFOLLOW) < 0)
		die("making in the session's root", path);
}

// Puts `mount` on `path`, on a new directory or file where nothing is there yet.
static void mount_put(int mount, int root, const char *path, bool directory)
{
	char buffer[PATH_MAX], *name;
	autoclose int at = parent_open(root, path, buffer, &name);

	// What cannot be made is there already, or move_mount(2) fails.
	if (directory)
		mkdirat(at, name, 0755);
	else
		close(openat(at, name, O_WRONLY | O_CREAT | O_EXCL | OPEN_SAFE, 0444));
	if (move_mount(mount, "", at, name, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		die("mounting in the session's root", path);
}

// A new mount of file system `type`, with options as pairs of key and value up to NULL.
static int filesystem_make(const char *type, const char *const options[], uint64_t flags)
{
	autoclose int context = fsopen(type, FSOPEN_CLOEXEC);

	for (; *options; options += 2)
		if (fsconfig(context, FSCONFIG_SET_STRING, options[0], options[1], 0) < 0)
			die("setting the mount option", options[0]);
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		die("making a file system of type", type);
	int mount = fsmount(context, FSMOUNT_CLOEXEC, (unsigned int)flags);
	if (mount < 0)
		die("mounting a file system of type", type);
	return mount;
}

// Clones what is at `source` on the host, with everything mounted below it, to `target` in the
// session. A link stays a link; what the host does not have is left out, but for a device.
static void clone_add(int root, const char *source, const char *target, uint64_t flags)
{
	struct mount_attr attributes = { .attr_set = flags };
	struct stat status;
	autoclose int tree =
		open_tree(AT_FDCWD, source,
			  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW);

	// Anything but a device would be a file that is not read-only.
	if (flags == DEVICE && (fstat(tree, &status) < 0 || !S_ISCHR(status.st_mode)))
		refuse(CODE(POLICY), "device", "%s is not a character device here", source);
	if (tree < 0 && errno == ENOENT)
		return;
	if (tree < 0 || fstat(tree, &status) < 0)
		die("cloning", source);
	if (S_ISLNK(status.st_mode)) {
		char buffer[PATH_MAX], *name, link[PATH_MAX] = "";
		autoclose int at = parent_open(root, target, buffer, &name);

		if (readlinkat(tree, "", link, sizeof(link) - 1) < 0 ||
		    symlinkat(link, at, name) < 0)
			die("copying the link", source);
		return;
	}
	if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof(attributes)) <
	    0)
		die("making read-only", source);
	mount_put(tree, root, target, S_ISDIR(status.st_mode));
}

// Puts a read-only file of `text` over `path`, which an exposed directory may already hold.
static void file_cover(int root, const char *path, const char *text)
{
	struct mount_attr attributes = { .attr_set = READ_ONLY | MOUNT_ATTR_NOEXEC };
	autoclose int file = openat(root, "cover", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	autoclose int tree = open_tree(root, "cover", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (frame_write_full(file, text, strlen(text)) < 0 || fchmod(file, 0444) < 0 ||
	    mount_setattr(tree, "", AT_EMPTY_PATH, &attributes, sizeof(attributes)) < 0)
		die("writing the session's", path);
	mount_put(tree, root, path, false);
	if (unlinkat(root, "cover", 0) < 0)
		die("clearing away after", path);
}

// The kernel's own file systems. `max` keeps one session from taking all pseudo-terminals of the
// machine (the kernel's devpts document).
static void kernel_add(int root)
{
	static const char *const proc[] = { "hidepid", "invisible", NULL };
	static const char *const devpts[] = { "mode", "620", "ptmxmode", "666", "max", "64", NULL };
	const uint64_t flags = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
	autoclose int proc_mount = filesystem_make("proc", proc, flags | MOUNT_ATTR_NODEV);
	autoclose int pts_mount = filesystem_make("devpts", devpts, flags);

	mount_put(proc_mount, root, "/proc", true);
	mount_put(pts_mount, root, "/dev/pts", true);
	for (size_t i = 0; i < COUNT(device_nodes); i++)
		clone_add(root, device_nodes[i], device_nodes[i], DEVICE);
	for (size_t i = 0; i < COUNT(links); i++)
		if (symlinkat(links[i][1], root, links[i][0]) < 0)
			die("making the link", links[i][0]);
}

// The lodger's home, the directories that are everybody's, and its place in passwd and group.
static void user_add(int root, const struct record *record)
{
	char text[512];

	for (size_t i = 0; i < COUNT(shared_directories); i++)
		directory_make(root, shared_directories[i], 01777, 0);
	snprintf(text, sizeof(text), "/home/lodger-%u", record->number);
	directory_make(root, text, 0700, record->uid);
	snprintf(text, sizeof(text),
		 "root:x:0:0:root:/root:/usr/sbin/nologin\n"
		 "lodger-%u:x:%u:%u:Lodger session:/home/lodger-%u:/bin/bash\n"
		 "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
		 record->number, record->uid, record->uid, record->number);
	file_cover(root, "/etc/passwd", text);
	snprintf(text, sizeof(text), "root:x:0:\nlodger-%u:x:%u:\nnogroup:x:65534:\n",
		 record->number, record->uid);
	file_cover(root, "/etc/group", text);
}

void root_build(const struct policy *policy, const struct record *record)
{
	struct mount_attr private = { .propagation = MS_PRIVATE };
	char size[24], inodes[24];
	const char *const options[] = { "size", size, "nr_inodes", inodes, "mode", "755", NULL };

	// First of all: nothing mounted or unmounted from here on shows outside, or comes in.
	if (mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &private, sizeof(private)) < 0)
		die("making private", "the session's mounts");
	snprintf(size, sizeof(size), "%lu", record->limits[LIMIT_DISK]);
	snprintf(inodes, sizeof(inodes), "%lu", record->limits[LIMIT_INODES]);
	autoclose int root =
		filesystem_make("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (move_mount(root, "", AT_FDCWD, SESSIONS_STAGE, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		die("mounting", SESSIONS_STAGE);

	for (size_t i = 0; i < policy->path_count; i++)
		if (!policy->paths[i].device)
			clone_add(root, policy->paths[i].path, policy->paths[i].path, READ_ONLY);
	kernel_add(root);
	for (size_t i = 0; i < policy->path_count; i++)
		if (policy->paths[i].device)
			clone_add(root, policy->paths[i].path, policy->paths[i].path, DEVICE);
	user_add(root, record);
	// The directory, not the socket: a restarted daemon is found again.
	clone_add(root, LODGER_PACKAGES, PACKAGES_TARGET, READ_ONLY | MOUNT_ATTR_NOEXEC);

	// pivot_root(2), "pivot_root(".", ".")": the old root is stacked on the new one, then
	// leaves.
	if (fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
	    umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		die("entering", "the session's root");
}
