// The caller's descriptors (endpoint.h). Runs as the caller. Never changes a flag of an open file
// description that it shares with others.
#include "endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>

// How long a write to a shared descriptor may take before it is interrupted.
#define WRITE_MS 500

#define MAJOR_MEMORY 1

// Files of these file systems act on whoever opened them, or on the kernel.
static bool kernel_file(int fd)
{
	static const long magics[] = {
		PROC_SUPER_MAGIC,    SYSFS_MAGIC,   CGROUP_SUPER_MAGIC,
		CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC,
		SECURITYFS_MAGIC,    BPF_FS_MAGIC,  NSFS_MAGIC,
	};
	struct statfs system;

	if (fstatfs(fd, &system) < 0)
		return true;
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if ((long)system.f_type == magics[i])
			return true;
	return false;
}

static bool file_passes(int fd, const struct stat *status, int access_mode)
{
	// Opened for reading, but anybody could write.
	if (access_mode == O_RDONLY && (status->st_mode & S_IWOTH))
		return false;
	// Opened for writing, but there is something in it that anybody could read.
	if (access_mode == O_WRONLY && (status->st_mode & S_IROTH) && status->st_size > 0)
		return false;
	return !kernel_file(fd);
}

// /dev/null, /dev/zero and /dev/full (Documentation/admin-guide/devices.txt).
static bool harmless_device(const struct stat *status)
{
	const unsigned int number = minor(status->st_rdev);

	return major(status->st_rdev) == MAJOR_MEMORY &&
	       (number == 3 || number == 5 || number == 7);
}

enum endpoint_verdict endpoint_judge(int fd, struct failure *failure)
{
	static const char *const names[] = { "standard input", "standard output",
					     "standard error" };
	const int flags = fcntl(fd, F_GETFL);
	struct stat status;

	if (flags < 0 || fstat(fd, &status) < 0) {
		fail(failure, "examining %s: %s", names[fd], strerror(errno));
		return ENDPOINT_REFUSE;
	}
	if (flags & O_PATH) {
		fail(failure,
		     "%s was opened with O_PATH: nothing can be read from or written to it",
		     names[fd]);
		return ENDPOINT_REFUSE;
	}
	switch (status.st_mode & S_IFMT) {
	case S_IFIFO:
		return ENDPOINT_PASS;
	case S_IFREG:
		return file_passes(fd, &status, flags & O_ACCMODE) ? ENDPOINT_PASS : ENDPOINT_RELAY;
	case S_IFCHR:
		return harmless_device(&status) ? ENDPOINT_PASS : ENDPOINT_RELAY;
	case S_IFSOCK:
	case S_IFBLK:
		return ENDPOINT_RELAY;
	default:
		fail(failure, "%s is %s; use a file, a pipe or a terminal", names[fd],
		     S_ISDIR(status.st_mode) ? "a directory" : "not something with contents");
		return ENDPOINT_REFUSE;
	}
}

static void interrupt(int number)
{
	(void)number;
}

struct endpoint endpoint_open(int fd, int access_mode)
{
	struct endpoint endpoint = { .fd = fd, .kind = ENDPOINT_BLOCKING };
	struct stat status;
	char path[sizeof("/proc/self/fd/") + 11];

	if (fstat(fd, &status) < 0)
		return endpoint;
	if (S_ISSOCK(status.st_mode)) {
		endpoint.kind = ENDPOINT_SOCKET;
		return endpoint;
	}
	if (S_ISCHR(status.st_mode)) {
		endpoint.terminal = isatty(fd);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

		// For a terminal of somebody else (after su) this fails; a number is no file.
		const int again = open(path, access_mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (again >= 0) {
			endpoint.fd = again;
			endpoint.kind = ENDPOINT_NONBLOCKING;
			endpoint.owned = true;
			return endpoint;
		}
	}

	// Without SA_RESTART: it is there to interrupt a write.
	const struct sigaction action = { .sa_handler = interrupt };
	sigaction(SIGALRM, &action, NULL);
	return endpoint;
}

struct endpoint endpoint_own(int fd)
{
	// Cannot fail on a descriptor that is open.
	(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	return (struct endpoint){ .fd = fd, .kind = ENDPOINT_NONBLOCKING, .owned = true };
}

void endpoint_close(struct endpoint *endpoint)
{
	if (endpoint->fd >= 0 && endpoint->owned)
		close(endpoint->fd);
	endpoint->fd = -1;
}

ssize_t endpoint_read(const struct endpoint *endpoint, void *buffer, size_t size)
{
	if (endpoint->kind == ENDPOINT_SOCKET)
		return recv(endpoint->fd, buffer, size, MSG_DONTWAIT);
	return read(endpoint->fd, buffer, size);
}

ssize_t endpoint_write(const struct endpoint *endpoint, const void *data, size_t size)
{
	const struct itimerval none = { 0 }, soon = {
		.it_value.tv_usec = WRITE_MS * 1000,
		.it_interval.tv_usec = WRITE_MS * 1000, // should the first one come too early
	};

	if (endpoint->kind == ENDPOINT_SOCKET)
		return send(endpoint->fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (endpoint->kind == ENDPOINT_NONBLOCKING)
		return write(endpoint->fd, data, size);

	// poll(2) promises room for PIPE_BUF bytes in a pipe, and for one in a terminal.
	setitimer(ITIMER_REAL, &soon, NULL);
	const ssize_t written = write(endpoint->fd, data, size < PIPE_BUF ? size : PIPE_BUF);
	const int error = errno;
	setitimer(ITIMER_REAL, &none, NULL);
	errno = error == EINTR ? EAGAIN : error;
	return written;
}
