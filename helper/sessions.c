// The directory of sessions. /run/lodger/sessions/N exists exactly while number N is in use; its
// `lock` is held exactly while session N is alive. Everything here is root's own and in directories
// that only root can write, so that no name can be swapped by anybody.
// Lock order: the allocation lock, then a session's. The first is never held across anything that
// can take long.
#include "helper.h"

#include <dirent.h>
#include <sys/file.h>
#include <sys/un.h>

// Connections that wait for the agent to accept them.
#define BACKLOG 64

static const char *const session_files[] = { "socket", "record", "lock" };
static int run_directory = -1, sessions_directory = -1;

int root_directory_open(int at, const char *name, mode_t mode)
{
	struct stat status;
	bool made = mkdirat(at, name, mode) == 0;
	int fd = openat(at, name, OPEN_DIRECTORY);

	// umask is 077.
	if (fd < 0 || (made && fchmod(fd, mode) < 0) || fstat(fd, &status) < 0)
		die("opening the directory", name);
	if (status.st_uid != 0 || (status.st_mode & 022))
		refuse(CODE(SYSTEM), "",
		       "the directory %s must be root's and writable by root alone", name);
	return fd;
}

void sessions_open(void)
{
	run_directory = root_directory_open(AT_FDCWD, LODGER_RUN, 0755);
	sessions_directory = root_directory_open(run_directory, "sessions", 0755);
	close(root_directory_open(run_directory, "root", 0700));
}

static int session_open(uint32_t number)
{
	return openat(sessions_directory, session_digits(number), OPEN_DIRECTORY);
}

// Takes the allocation lock. Only helpers can open the file, and none of them can be stopped by
// its caller (guard.c), so that waiting for it ends. The file holds the next number.
static int allocation_lock(void)
{
	int fd = openat(run_directory, "lock", O_RDWR | O_CREAT | OPEN_SAFE, 0600);

	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		die("taking the lock", LODGER_RUN "/lock");
	return fd;
}

// Calls `visit` with the number of each session directory, and adds up what it returns.
// getdents64(2) into the stack, since readdir(3) would take heap.
static uint64_t sessions_walk(uint64_t (*visit)(uint32_t number, uid_t owner), uid_t owner)
{
	_Alignas(struct dirent64) char buffer[16384];
	autoclose int fd = openat(sessions_directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t sum = 0;
	ssize_t n;

	while ((n = getdents64(fd, buffer, sizeof(buffer))) > 0) {
		const struct dirent64 *entry;

		for (ssize_t at = 0; at < n; at += entry->d_reclen) {
			entry = (const struct dirent64 *)(buffer + at);
			if (entry->d_name[0] != '.')
				sum += visit((uint32_t)strtoul(entry->d_name, NULL, 10), owner);
		}
	}
	if (n < 0)
		die("reading", LODGER_SESSIONS);
	return sum;
}

// One in the low half for every session, one in the high half for each of `owner`: the socket is
// the owner's from within the claim on.
static uint64_t count_one(uint32_t number, uid_t owner)
{
	struct stat status;
	char path[32];

	snprintf(path, sizeof(path), "%u/socket", number);
	bool own = fstatat(sessions_directory, path, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		   status.st_uid == owner;
	return 1 | (uint64_t)own << 32;
}

// Returns which count of the policy leaves no room for one more session, or a number below zero.
static int count_reached(const struct policy *policy, uid_t owner)
{
	uint64_t counts = sessions_walk(count_one, owner);

	if ((counts & UINT32_MAX) >= policy->maxima[MAXIMUM_SESSIONS])
		return MAXIMUM_SESSIONS;
	return counts >> 32 >= policy->maxima[MAXIMUM_PER_CALLER] ? MAXIMUM_PER_CALLER : -1;
}

// Makes the first free directory behind the number in the lock file. A new or torn file is as good
// as any: mkdirat finds what is in use.
static uint32_t number_take(int allocation)
{
	uint32_t number = 0;

	if (pread(allocation, &number, sizeof(number), 0) < 0)
		die("reading", LODGER_RUN "/lock");
	for (uint32_t tries = 0; tries < SESSION_NUMBER_MAX; tries++) {
		number = number % SESSION_NUMBER_MAX + 1;
		// Written first: a helper that dies here leaves a gap, never a number used twice.
		if (pwrite(allocation, &number, sizeof(number), 0) != sizeof(number))
			die("writing", LODGER_RUN "/lock");
		if (mkdirat(sessions_directory, session_digits(number), 0711) == 0)
			return number;
		if (errno != EEXIST)
			break;
	}
	die("making a directory for a new number in", LODGER_SESSIONS);
}

// The kernel makes the socket's node by path; the path is root's alone, nobody can be there first.
static int socket_listen(int directory, uint32_t number, uid_t owner)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), LODGER_SESSIONS "/%u/socket", number);
	capability_use(CAPABILITY(CAP_CHOWN));
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, BACKLOG) < 0 || fchmodat(directory, "socket", 0600, 0) < 0 ||
	    fchownat(directory, "socket", owner, 0, AT_SYMLINK_NOFOLLOW) < 0)
		die("making the socket", address.sun_path);
	capability_use(0);
	return fd;
}

void sessions_claim(const struct policy *policy, struct record *record, int *lock, int *listener)
{
	autoclose int allocation = allocation_lock();

	if (count_reached(policy, record->owner) >= 0) {
		// The dead ones need not be in the way.
		close(allocation);
		sessions_collect();
		allocation = allocation_lock();
	}
	int reached = count_reached(policy, record->owner);
	if (reached >= 0)
		refuse(CODE(LIMIT), policy_keys[reached].name,
		       "maximum %s is %lu, and as many sessions live: destroy one first",
		       policy_keys[reached].name, policy->maxima[reached]);

	record->number = number_take(allocation);
	autoclose int directory = session_open(record->number);
	if (directory < 0 || fchmod(directory, 0711) < 0)
		die("opening", "the session's directory");
	*lock = openat(directory, "lock", O_RDWR | O_CREAT | O_EXCL | OPEN_SAFE, 0600);
	// A DESTROY that is late for the number's last session may hold it while it looks.
	if (*lock < 0 || flock(*lock, LOCK_EX) < 0)
		die("locking", "the session");
	*listener = socket_listen(directory, record->number, record->owner);
}

void sessions_record(const struct record *record)
{
	autoclose int directory = session_open(record->number);
	autoclose int fd =
		openat(directory, "record", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	// Readable only when it is whole.
	if (fd < 0 || frame_write_full(fd, record, sizeof(*record)) < 0 || fchmod(fd, 0644) < 0)
		die("writing", "the session's record");
	names_add(record->number);
}

Lodger__Helper__Code sessions_lookup(uint32_t number, struct record *record)
{
	autoclose int directory = session_open(number);
	if (directory < 0)
		return errno == ENOENT ? CODE(ALREADY_GONE) : CODE(BUSY);
	autoclose int fd = openat(directory, "record", O_RDONLY | OPEN_SAFE);
	return fd >= 0 && record_read(fd, number, record) ? CODE(OK) : CODE(BUSY);
}

int sessions_lock(uint32_t number)
{
	struct stat status;
	autoclose int directory = session_open(number);
	int fd = openat(directory, "lock", O_RDWR | OPEN_SAFE), answer = fd;

	if (fd < 0)
		return SESSION_GONE;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		answer = SESSION_ALIVE;
	// A lock on a file that somebody has just unlinked is no lock.
	else if (fstat(fd, &status) < 0 || status.st_nlink == 0)
		answer = SESSION_GONE;
	if (answer < 0)
		close(fd);
	return answer;
}

bool sessions_remove(uint32_t number)
{
	struct cgroup cgroup = cgroup_open(number);
	autoclose int directory = session_open(number);

	if (!cgroup_kill(&cgroup) || !cgroup_remove(number))
		return false;
	names_remove(number);
	for (size_t i = 0; i < COUNT(session_files); i++)
		if (unlinkat(directory, session_files[i], 0) < 0 && errno != ENOENT)
			die("removing the session's", session_files[i]);
	if (unlinkat(sessions_directory, session_digits(number), AT_REMOVEDIR) < 0 &&
	    errno != ENOENT)
		die("removing the directory of session", session_digits(number));
	for (int i = 0; i < CGROUP_HIERARCHIES; i++)
		if (cgroup.directory[i] >= 0)
			close(cgroup.directory[i]);
	return true;
}

// Under the allocation lock no CREATE stands between making a directory and its lock: one without
// is what a helper left that died right there, or right before the end of removing.
static uint64_t collect_one(uint32_t number, uid_t owner)
{
	struct record record = { 0 };
	char detail[64];
	int allocation = allocation_lock();
	autoclose int lock = sessions_lock(number);

	(void)owner;
	// What a helper left half made has no record, and nobody to tell of.
	sessions_lookup(number, &record);
	snprintf(detail, sizeof(detail), "lodger-%u of uid %u, which had ended", number,
		 record.owner);
	if (lock == SESSION_GONE)
		// Not empty or not there any more: somebody else is at it.
		unlinkat(sessions_directory, session_digits(number), AT_REMOVEDIR);
	close(allocation);
	if (lock < 0 || !sessions_remove(number))
		return 0;
	report_log(false, detail);
	return 1;
}

uint32_t sessions_collect(void)
{
	return (uint32_t)sessions_walk(collect_one, 0);
}
