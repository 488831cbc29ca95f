// cgroups of sessions and of the helper itself, on v2 and on v1. All of these files are root's own.
// Facts: the kernel's cgroup-v2 document, and those of v1's memory, pids and CPU bandwidth.
// Signals only processes seen in the session's own cgroup while holding their pidfd.
#include "helper.h"

#include <limits.h>
#include <linux/magic.h>
#include <sys/statfs.h>

#define MOUNT "/sys/fs/cgroup/"
#define KILL_USEC 2000000U
// The file that moves whoever writes "0" to it. v1's `tasks` moves one thread, and skips the lock
// that cgroup.procs takes for a whole process, for which the kernel waits milliseconds; every
// process moved here has one thread.
#define ENTER_V1 "tasks"
#define ENTER_V2 "cgroup.procs"

// v1: one hierarchy a controller. v2: the first entry alone, at MOUNT itself. Behind those that hold
// sessions, where the owner of the caller's cgroup could stop the helper besides: v1's freezer, and the
// v2 tree of a hybrid machine.
static const char *const hierarchies[] = {
	"memory", "pids", "cpu", "cpuacct", "freezer", "unified"
};

// The limits, in the order of policy_optional_names. `hierarchy` is an index above; swap is
// forbidden by allowing none (v2), or by no more memory and swap together than memory (v1). CPU is
// microseconds in each 100,000.
static const struct {
	enum limit_index limit;
	int hierarchy;
	uint64_t factor;
	const char *v1_file, *v1, *v2_file, *v2;
} rows[OPTIONAL_COUNT] = {
	{ LIMIT_MEMORY, 0, 1, "memory.limit_in_bytes", "%lu", "memory.max", "%lu" },
	{ LIMIT_MEMORY, 0, 1, "memory.memsw.limit_in_bytes", "%lu", "memory.swap.max", "0" },
	{ LIMIT_PIDS, 1, 1, "pids.max", "%lu", "pids.max", "%lu" },
	{ LIMIT_CPU, 2, 1000, "cpu.cfs_quota_us", "%lu", "cpu.max", "%lu 100000" },
};

static bool v2;		 // which version the machine is on
static const char *base; // the policy's cgroup
static int base_directory[] = { -1, -1, -1, -1, -1, -1 };

static int file_write(int directory, const char *name, const char *value)
{
	autoclose int fd = openat(directory, name, O_WRONLY | OPEN_SAFE);

	return fd < 0 ? -1 : frame_write_full(fd, value, strlen(value));
}

// On v2 a controller works in a cgroup only if every one above it hands it down. One that the
// machine does not have shows in cgroup_create() as a missing file, by its name.
static void controllers_hand_down(int directory)
{
	file_write(directory, "cgroup.subtree_control", "+memory");
	file_write(directory, "cgroup.subtree_control", "+pids");
	file_write(directory, "cgroup.subtree_control", "+cpu");
}

// Makes cgroup `name` in `at` unless it is there, readable for the client's usage figures, and
// opens it.
static int directory_make(int at, const char *name)
{
	// umask is 077.
	if (mkdirat(at, name, 0755) < 0 ? errno != EEXIST : fchmodat(at, name, 0755, 0) < 0)
		die("making the cgroup", name);
	int fd = openat(at, name, OPEN_DIRECTORY);
	if (fd < 0)
		die("opening the cgroup", name);
	return fd;
}

static void enter(int directory, const char *file)
{
	if (directory >= 0 && file_write(directory, file, "0") < 0)
		die("entering", "the cgroup");
}

// Opens the policy's cgroup in `hierarchy` and moves this process to its "helper".
// Returns -1 when there is no such hierarchy.
static int base_enter(const char *hierarchy, const char *file)
{
	char path[PATH_MAX], *rest = path, *next;
	int at;

	snprintf(path, sizeof(path), MOUNT "%s", hierarchy);
	at = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	// One that is taken for missing keeps its part of every session that is removed meanwhile.
	if (at < 0 && errno != ENOENT)
		die("opening", path);
	snprintf(path, sizeof(path), "%s", base);
	while (at >= 0 && (next = strsep(&rest, "/"))) {
		// Once, when it is new: what is above may be somebody else's to manage.
		if (v2 && faccessat(at, next, F_OK, 0) < 0)
			controllers_hand_down(at);
		int inner = directory_make(at, next);
		close(at);
		at = inner;
	}
	autoclose int own = at < 0 ? -1 : directory_make(at, "helper");
	enter(own, file);
	return at;
}

void cgroup_enter_own(const char *policy_base)
{
	struct statfs status;

	if (statfs(MOUNT, &status) < 0)
		die("looking at", MOUNT);
	v2 = status.f_type == CGROUP2_SUPER_MAGIC;
	base = policy_base;
	for (size_t i = 0; i < (v2 ? 1 : COUNT(hierarchies)); i++)
		base_directory[i] =
			base_enter(v2 ? "" : hierarchies[i],
				   v2 || i == COUNT(hierarchies) - 1 ? ENTER_V2 : ENTER_V1);
}

struct cgroup cgroup_create(uint32_t number, const uint64_t limits[LIMIT_COUNT],
			    const bool optional[OPTIONAL_COUNT])
{
	struct cgroup cgroup;
	char value[48];

	if (v2)
		controllers_hand_down(base_directory[0]);
	// Two v1 controllers may share a hierarchy: then the second finds the first's directory.
	for (int i = 0; i < CGROUP_HIERARCHIES; i++)
		cgroup.directory[i] =
			base_directory[i] < 0
				? -1
				: directory_make(base_directory[i], session_digits(number));
	for (int i = 0; i < OPTIONAL_COUNT; i++) {
		const char *file = v2 ? rows[i].v2_file : rows[i].v1_file,
			   *name = policy_optional_names[i];

		snprintf(value, sizeof(value), v2 ? rows[i].v2 : rows[i].v1,
			 limits[rows[i].limit] * rows[i].factor);
		// A missing hierarchy is -1, for which openat(2) fails with EBADF.
		if (file_write(cgroup.directory[v2 ? 0 : rows[i].hierarchy], file, value) < 0 &&
		    !optional[i])
			refuse(CODE(SYSTEM), name,
			       "this machine cannot limit %s: setting %s: %s; enable "
			       "its cgroup controller, or put 'optional %s' into %s",
			       name, file, strerrordesc_np(errno), name, LODGER_POLICY);
	}
	return cgroup;
}

struct cgroup cgroup_open(uint32_t number)
{
	struct cgroup cgroup;

	for (int i = 0; i < CGROUP_HIERARCHIES; i++)
		cgroup.directory[i] =
			openat(base_directory[i], session_digits(number), OPEN_DIRECTORY);
	return cgroup;
}

void cgroup_enter(const struct cgroup *cgroup)
{
	for (int i = 0; i < CGROUP_HIERARCHIES; i++)
		enter(cgroup->directory[i], v2 ? ENTER_V2 : ENTER_V1);
}

// Reads the numbers of the session's processes, the first 16 KiB of them, behind a newline.
// Returns false when there are none.
static bool processes_read(const struct cgroup *cgroup, char text[16384])
{
	int i = 0;

	while (i < CGROUP_HIERARCHIES - 1 && cgroup->directory[i] < 0)
		i++;
	autoclose int fd = openat(cgroup->directory[i], "cgroup.procs", O_RDONLY | O_CLOEXEC);
	ssize_t n = frame_read_full(fd, text + 1, 16382);
	text[0] = '\n';
	text[n < 0 ? 1 : n + 1] = '\0';
	return n > 0;
}

// A pidfd stays with its process: if the number stands in the cgroup before the pidfd was opened
// and after, the pidfd is of a process of this session or of a dead one, never of a stranger that
// got the number since. The first is usually the namespace's init, with which all others die.
// Returns whether there were any.
static bool kill_round(const struct cgroup *cgroup)
{
	char text[16384], again[16384], line[16];
	bool any = processes_read(cgroup, text);

	for (const char *at = text; (at = strchr(at, '\n')) && at[1]; at++) {
		pid_t pid = (pid_t)strtoul(at + 1, NULL, 10);
		autoclose int fd = (int)syscall(SYS_pidfd_open, pid, 0);

		snprintf(line, sizeof(line), "\n%d\n", pid);
		processes_read(cgroup, again);
		if (strstr(again, line))
			// ESRCH: it has just died by itself.
			syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
	}
	return any;
}

bool cgroup_kill(const struct cgroup *cgroup)
{
	uint64_t end = clock_boot_usec() + KILL_USEC;
	bool any;

	// Only the pids hierarchy has the file; without it the init's death is enough.
	for (int i = 0; i < CGROUP_HIERARCHIES; i++)
		file_write(cgroup->directory[i], "pids.max", "0");
	capability_use(CAPABILITY(CAP_KILL));
	while ((any = kill_round(cgroup)) && clock_boot_usec() < end)
		usleep(300);
	capability_use(0);
	return !any;
}

bool cgroup_remove(uint32_t number)
{
	bool gone = true;

	for (int i = 0; i < CGROUP_HIERARCHIES; i++)
		// EBADF: there is no such hierarchy.
		if (unlinkat(base_directory[i], session_digits(number), AT_REMOVEDIR) < 0 &&
		    errno != ENOENT && errno != EBADF)
			gone = false;
	return gone;
}
