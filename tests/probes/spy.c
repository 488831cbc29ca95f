// Tries to look into, trace and take over a process, by every road that is for its own user alone,
// over and over; prints "NAME SUCCESSES of TRIES" for each road.
//   spy helper COUNT     a helper that it calls itself, COUNT times, once that has become root
//   spy own              any other process of its own uid that comes by, until it is sent SIGTERM
//   spy child            control: a child of its own that does nothing
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELPER "/usr/local/libexec/lodger/lodger-helper"

static char where; // what process_vm_readv is asked for; any address will do
static const char *const files[] = { "mem",  "environ", "maps", "auxv",	    "fd",
				     "root", "cwd",	"exe",	"map_files" };
enum { FILES = sizeof(files) / sizeof(files[0]) };
enum { SEIZE = FILES, READ, GETFD, ROADS };
static const char *const others[] = { "ptrace", "process_vm_readv", "pidfd_getfd" };
static unsigned long tries[ROADS], successes[ROADS];

static void count(int road, bool success)
{
	tries[road]++;
	successes[road] += success;
}

static void file_try(pid_t pid, int i)
{
	char path[64], target[256];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, files[i]);
	if (strcmp(files[i], "root") == 0 || strcmp(files[i], "cwd") == 0 ||
	    strcmp(files[i], "exe") == 0) {
		count(i, readlink(path, target, sizeof(target)) >= 0);
		return;
	}
	// Some are checked when they are opened, some when they are read.
	fd = open(path, strcmp(files[i], "mem") == 0 ? O_RDWR : O_RDONLY);
	if (fd < 0)
		count(i, false);
	else if (strcmp(files[i], "fd") == 0 || strcmp(files[i], "map_files") == 0)
		count(i, syscall(SYS_getdents64, fd, target, sizeof(target)) > 0);
	else
		count(i, strcmp(files[i], "mem") == 0 || read(fd, target, sizeof(target)) > 0);
	if (fd >= 0)
		close(fd);
}

static void all_try(pid_t pid)
{
	struct iovec local = { &where, 1 }, remote = { &where, 1 };
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int got = (int)syscall(SYS_pidfd_getfd, pidfd, 0, 0);

	count(GETFD, got >= 0);
	close(got);
	close(pidfd);
	count(READ, process_vm_readv(pid, &local, 1, &remote, 1, 0) == 1 || errno == EFAULT);
	for (int i = 0; i < FILES; i++)
		file_try(pid, i);
	bool seized = ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;
	count(SEIZE, seized);
	if (seized && ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0 &&
	    waitpid(pid, NULL, __WALL) == pid)
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

// Real and effective uid.
static bool uids_read(pid_t pid, unsigned int uid[2])
{
	char path[64], line[128];
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	FILE *file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "Uid: %u %u", &uid[0], &uid[1]) == 2;
	if (file)
		fclose(file);
	return found;
}

static void helper_spy(void)
{
	static const unsigned char create[] = { 4, 0, 0, 0, 8, 1, 18, 0 };
	int request[2], reply[2];
	unsigned int uid[2] = { 1, 1 };

	if (pipe(request) < 0 || pipe(reply) < 0)
		exit(99);
	pid_t child = fork();
	if (child == 0) {
		dup2(request[0], 0);
		dup2(reply[1], 1);
		for (int fd = 3; fd < 32; fd++)
			close(fd);
		execl(HELPER, "lodger-helper", NULL);
		_exit(98);
	}
	close(request[0]);
	close(reply[1]);
	// Until then it is a process of our own.
	while (uids_read(child, uid) && uid[1] != 0)
		;
	for (int i = 0; i < 5; i++)
		all_try(child);
	if (write(request[1], create, sizeof(create)) != sizeof(create))
		exit(99);
	while (waitpid(child, NULL, WNOHANG) == 0)
		all_try(child);
	close(request[1]);
	close(reply[0]);
}

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

static void own_spy(void)
{
	signal(SIGTERM, end);
	while (!ended) {
		DIR *directory = opendir("/proc");
		const struct dirent *entry;
		unsigned int uid[2];

		while ((entry = readdir(directory))) {
			pid_t pid = atoi(entry->d_name);

			if (pid > 0 && pid != getpid() && uids_read(pid, uid) && uid[0] == getuid())
				all_try(pid);
		}
		closedir(directory);
	}
}

int main(int argc, char *argv[])
{
	const char *what = argc > 1 ? argv[1] : "";
	int number = argc > 2 ? atoi(argv[2]) : 0;

	signal(SIGPIPE, SIG_IGN);
	if (strcmp(what, "helper") == 0) {
		for (int i = 0; i < number; i++)
			helper_spy();
	} else if (strcmp(what, "own") == 0) {
		own_spy();
	} else {
		pid_t child = fork();

		if (child == 0) {
			pause();
			_exit(0);
		}
		all_try(child);
		kill(child, SIGKILL);
	}
	for (int i = 0; i < ROADS; i++)
		printf("%s %lu of %lu\n", i < FILES ? files[i] : others[i - FILES], successes[i],
		       tries[i]);
	return 0;
}
