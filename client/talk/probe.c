// Does something wait for input? (talk.h.) Reads, in /proc, what the processes in the foreground of the
// shell's terminal do: whether a thread sleeps in a call that reads the terminal, or waits until it can be
// read. Runs in a session, as the lodger, who may look at its own processes. Where the kernel does not say
// which call a thread sleeps in, the name of the kernel's function has to do (proc(5), syscall and wchan).
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cleanup.h"
#include "talk.h"

#define FDS_MAX 64U
// getc_with_restart() of bash 4.4 to 5.2 (input.c).
#define BASH_READS 1024U
// "/dev/tty", whichever terminal that is (Documentation/admin-guide/devices.txt).
#define DEVICE_TTY makedev(5, 0)

struct process {
	int pid, group, session, foreground;
	char state;
	dev_t terminal;
};

static ssize_t file_read(const char *path, char *text, size_t size)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t count = fd < 0 ? -1 : read(fd, text, size - 1);

	text[count > 0 ? count : 0] = '\0';
	return count;
}

// proc(5): "pid (comm) state ppid pgrp session tty_nr tpgid …", and comm may hold anything.
static bool process_read(int pid, struct process *process)
{
	char path[64], text[512];
	int terminal;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (file_read(path, text, sizeof(text)) <= 0)
		return false;
	const char *behind = strrchr(text, ')');
	*process = (struct process){ .pid = pid };
	if (!behind || sscanf(behind, ") %c %*d %d %d %d %d", &process->state, &process->group,
			      &process->session, &terminal, &process->foreground) != 5)
		return false;
	// The kernel's own packing (new_encode_dev), which is that of small numbers here.
	process->terminal = makedev(((unsigned int)terminal >> 8) & 0xfff,
				    ((unsigned int)terminal & 0xff) |
					    (((unsigned int)terminal >> 12) & 0xfff00));
	return true;
}

static bool is_terminal(const struct process *process, unsigned long fd)
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d/fd/%lu", process->pid, fd);
	return stat(path, &status) == 0 && S_ISCHR(status.st_mode) &&
	       (status.st_rdev == process->terminal || status.st_rdev == DEVICE_TTY);
}

static bool memory_read(int pid, unsigned long address, void *data, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && pread(fd, data, size, (off_t)address) == (ssize_t)size;
}

static bool poll_waits(const struct process *process, unsigned long address, unsigned long count)
{
	struct pollfd fds[FDS_MAX];

	if (count > FDS_MAX || !memory_read(process->pid, address, fds, count * sizeof(fds[0])))
		return false;
	for (unsigned long i = 0; i < count; i++)
		if (fds[i].fd >= 0 && (fds[i].events & POLLIN) &&
		    is_terminal(process, (unsigned long)fds[i].fd))
			return true;
	return false;
}

static bool select_waits(const struct process *process, unsigned long count, unsigned long address)
{
	unsigned char bits[FDS_MAX / 8] = { 0 };
	const unsigned long highest = count < FDS_MAX ? count : FDS_MAX;

	if (address == 0 || !memory_read(process->pid, address, bits, (highest + 7) / 8))
		return false;
	for (unsigned long fd = 0; fd < highest; fd++)
		if ((bits[fd / 8] >> (fd % 8) & 1) && is_terminal(process, fd))
			return true;
	return false;
}

// "tfd:        0 events:       19 …" for each descriptor, in hexadecimal but for the first.
static bool epoll_waits(const struct process *process, unsigned long fd)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%lu", process->pid, fd);
	if (file_read(path, text, sizeof(text)) <= 0)
		return false;
	for (const char *at = text; (at = strstr(at, "tfd:")); at++) {
		unsigned int watched, events;

		if (sscanf(at, "tfd: %u events: %x", &watched, &events) == 2 && (events & POLLIN) &&
		    is_terminal(process, watched))
			return true;
	}
	return false;
}

// Whether it waits, and in the call by which bash reads commands: its `read` takes other amounts.
static bool call_waits(const struct process *process, long call, const unsigned long argument[3],
		       bool *commands)
{
	*commands = call == SYS_read && argument[2] == BASH_READS;
	switch (call) {
	case SYS_read:
	case SYS_readv:
		return is_terminal(process, argument[0]);
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll:
		return poll_waits(process, argument[0], argument[1]);
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6:
		return select_waits(process, argument[0], argument[1]);
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
		return epoll_waits(process, argument[0]);
	default:
		return false;
	}
}

static bool thread_waits(const struct process *process, const char *thread, bool *commands)
{
	char path[96], text[256];
	unsigned long argument[3];
	long call;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/syscall", process->pid, thread);
	if (file_read(path, text, sizeof(text)) > 0) {
		if (sscanf(text, "%ld %lx %lx %lx", &call, &argument[0], &argument[1],
			   &argument[2]) == 4)
			return call_waits(process, call, argument, commands);
		return false;
	}
	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/wchan", process->pid, thread);
	if (file_read(path, text, sizeof(text)) <= 0)
		return false;
	return strstr(text, "tty_read") != NULL || strcmp(text, "wait_woken") == 0;
}

static bool process_waits(const struct process *process, bool *commands)
{
	char path[64];
	const struct dirent *entry;
	bool waits = false;

	snprintf(path, sizeof(path), "/proc/%d/task", process->pid);
	DIR *tasks = opendir(path);
	if (!tasks)
		return false;
	while (!waits && (entry = readdir(tasks)))
		waits = isdigit((unsigned char)entry->d_name[0]) &&
			thread_waits(process, entry->d_name, commands);
	closedir(tasks);
	return waits;
}

enum hand_probe probe(int shell)
{
	struct process own, other;
	const struct dirent *entry;
	enum hand_probe result = PROBE_BUSY;
	bool commands = false;

	if (shell <= 0 || !process_read(shell, &own))
		return PROBE_BUSY;
	DIR *processes = opendir("/proc");
	if (!processes)
		return PROBE_BUSY;
	while (result == PROBE_BUSY && (entry = readdir(processes)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    process_read(atoi(entry->d_name), &other) && other.terminal == own.terminal &&
		    other.group == own.foreground && other.state == 'S' &&
		    process_waits(&other, &commands))
			result = other.pid == shell && commands ? PROBE_SHELL : PROBE_WAITING;
	closedir(processes);
	return result;
}
