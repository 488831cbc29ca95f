// Stands in the place of the installed helper, set-user-ID root like it, while a test run is traced:
// starts the real helper in this very process, and follows it and its children by ptrace(2) from a
// process beside it. Writes one line for each thing that it has not yet seen in this process: phase,
// call, capabilities in effect, path and how it was opened, with tabs between them. Follows the session
// leader up to where it becomes the agent. For tests alone: tests/trace/run puts it in place.
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define REAL "/var/tmp/lodger-trace/lodger-helper"
#define LOG "/var/tmp/lodger-trace/log"
#define TRACEES 8
#define OPTIONS                                                                                  \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | \
	 PTRACE_O_TRACECLONE)

// What SECURITY.md calls them. A process begins in the phase of the one that made it, or in its own.
enum phase { PHASE_STARTING, PHASE_START, PHASE_WORK, PHASE_LAST, PHASE_PARSER, PHASE_LEADER };
static const char *const phase_names[] = { "", "start", "work", "last", "parser", "leader" };

// Which arguments are a path, and the directory that it starts from (-1: the working directory).
enum kind { PATH_NAMED, PATH_SOCKET };
static const struct call {
	int number;
	enum kind kind;
	int directory, path;
} calls[] = {
	{ SYS_openat, PATH_NAMED, 0, 1 },     { SYS_mkdirat, PATH_NAMED, 0, 1 },
	{ SYS_unlinkat, PATH_NAMED, 0, 1 },   { SYS_symlinkat, PATH_NAMED, 1, 2 },
	{ SYS_fchmodat, PATH_NAMED, 0, 1 },   { SYS_fchownat, PATH_NAMED, 0, 1 },
	{ SYS_newfstatat, PATH_NAMED, 0, 1 }, { SYS_readlinkat, PATH_NAMED, 0, 1 },
	{ SYS_faccessat, PATH_NAMED, 0, 1 },  { SYS_faccessat2, PATH_NAMED, 0, 1 },
	{ SYS_execveat, PATH_NAMED, 0, 1 },   { SYS_open_tree, PATH_NAMED, 0, 1 },
	{ SYS_move_mount, PATH_NAMED, 2, 3 }, { SYS_mount_setattr, PATH_NAMED, 0, 1 },
	{ SYS_chdir, PATH_NAMED, -1, 0 },     { SYS_statfs, PATH_NAMED, -1, 0 },
	{ SYS_umount2, PATH_NAMED, -1, 0 },   { SYS_pivot_root, PATH_NAMED, -1, 0 },
	{ SYS_bind, PATH_SOCKET, 0, 0 },      { SYS_connect, PATH_SOCKET, 0, 0 },
#ifdef __x86_64__
	{ SYS_mkdir, PATH_NAMED, -1, 0 },     { SYS_chmod, PATH_NAMED, -1, 0 },
	{ SYS_unlink, PATH_NAMED, -1, 0 },    { SYS_readlink, PATH_NAMED, -1, 0 },
	{ SYS_access, PATH_NAMED, -1, 0 },    { SYS_open, PATH_NAMED, -1, 0 },
#endif
};

struct tracee {
	pid_t pid;
	enum phase phase;
	uint64_t effective; // capabilities, as of the last capset(2)
};

static struct tracee tracees[TRACEES];
static int log_fd;

static struct tracee *tracee_find(pid_t pid)
{
	for (int i = 0; i < TRACEES; i++)
		if (tracees[i].pid == pid)
			return &tracees[i];
	return NULL;
}

static struct tracee *tracee_add(pid_t pid, enum phase phase, uint64_t effective)
{
	struct tracee *tracee = tracee_find(0);

	if (tracee != NULL)
		*tracee = (struct tracee){ pid, phase, effective };
	return tracee;
}

static bool memory_read(pid_t pid, uint64_t address, void *into, size_t size)
{
	struct iovec local = { into, size }, remote = { (void *)(uintptr_t)address, size };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

// A string may end just before memory that is not there.
static void string_read(pid_t pid, uint64_t address, char text[PATH_MAX])
{
	size_t at = 0;

	while (at < PATH_MAX - 1 && memory_read(pid, address + at, text + at, 1) &&
	       text[at] != '\0')
		at++;
	text[at] = '\0';
}

static void descriptor_path(pid_t pid, int fd, char text[PATH_MAX])
{
	char link[64];

	snprintf(link, sizeof(link), fd == AT_FDCWD ? "/proc/%d/cwd" : "/proc/%d/fd/%d", pid, fd);
	const ssize_t n = readlink(link, text, PATH_MAX - 1);
	text[n < 0 ? 0 : n] = '\0';
}

// The path that a call names, whole; "" if it names none.
static void path_read(pid_t pid, uint64_t number, const uint64_t args[6], char path[2 * PATH_MAX])
{
	const struct call *call = calls, *end = calls + sizeof(calls) / sizeof(calls[0]);
	char name[PATH_MAX] = "", directory[PATH_MAX] = "";

	path[0] = '\0';
	while (call < end && (uint64_t)call->number != number)
		call++;
	if (call == end)
		return;
	if (call->kind == PATH_SOCKET) {
		struct sockaddr_un address = { 0 };
		memory_read(pid, args[1], &address,
			    args[2] < sizeof(address) ? args[2] : sizeof(address));
		if (address.sun_family == AF_UNIX)
			snprintf(path, PATH_MAX, "%.107s", address.sun_path);
		return;
	}
	string_read(pid, args[call->path], name);
	if (name[0] != '/' && call->directory >= 0)
		descriptor_path(pid, (int)args[call->directory], directory);
	snprintf(path, 2 * PATH_MAX, "%s%s%s", directory,
		 directory[0] != '\0' && name[0] != '\0' && strcmp(directory, "/") != 0 ? "/" : "",
		 name);
}

// Writes the line unless this process has already.
static void line_write(const char *line)
{
	static char *seen[1024];
	static size_t count;

	for (size_t i = 0; i < count; i++)
		if (strcmp(seen[i], line) == 0)
			return;
	if (count < sizeof(seen) / sizeof(seen[0]))
		seen[count++] = strdup(line);
	if (write(log_fd, line, strlen(line)) < 0)
		_exit(1);
}

static void call_write(struct tracee *tracee, uint64_t number, const uint64_t args[6])
{
	char path[2 * PATH_MAX], line[3 * PATH_MAX], capabilities[512] = "";
	const char *how = "";

	if (tracee->phase == PHASE_STARTING)
		return;
	path_read(tracee->pid, number, args, path);
	if (number == SYS_openat) {
		static const char *const modes[] = { "read", "write", "read and write", "" };
		how = args[2] & O_PATH	  ? "find"
		      : args[2] & O_CREAT ? "make"
					  : modes[args[2] & O_ACCMODE];
	}
	// In effect at the start are all: only what is after that says something.
	for (cap_value_t value = 0; value < 64 && tracee->phase != PHASE_START; value++) {
		if (!(tracee->effective >> value & 1))
			continue;
		char *name = cap_to_name(value);
		size_t at = strlen(capabilities);
		snprintf(capabilities + at, sizeof(capabilities) - at, "%s%s", at ? " " : "", name);
		cap_free(name);
	}
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)number);
	snprintf(line, sizeof(line), "%s\t%s\t%s\t%s\t%s\n", phase_names[tracee->phase], name,
		 capabilities, path, how);
	free(name);
	line_write(line);
}

// What changes the phase or the capabilities of a process.
static void call_follow(struct tracee *tracee, uint64_t number, const uint64_t args[6])
{
	struct __user_cap_data_struct data[2];

	if (number == SYS_capset && memory_read(tracee->pid, args[1], data, sizeof(data))) {
		tracee->effective = data[0].effective | (uint64_t)data[1].effective << 32;
		// All that went before the first had every capability in effect.
		if (tracee->phase == PHASE_START)
			tracee->phase = PHASE_WORK;
	}
	if (number == SYS_prctl && args[0] == PR_SET_SECCOMP && tracee->phase == PHASE_WORK)
		tracee->phase = PHASE_LAST;
}

static void call_stopped(struct tracee *tracee)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tracee->pid, sizeof(info), &info) <= 0)
		return;
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return;
	call_write(tracee, info.entry.nr, (const uint64_t *)info.entry.args);
	call_follow(tracee, info.entry.nr, (const uint64_t *)info.entry.args);
}

// The parser child is made by fork(2), the leader by a clone(2) with new namespaces.
static void child_made(const struct tracee *parent)
{
	unsigned long child = 0;
	bool leader = false;

	ptrace(PTRACE_GETEVENTMSG, parent->pid, 0, &child);
	// During the event, the registers are still those of the call: rdi, or x0.
	uint64_t values[64] = { 0 };
	struct iovec registers = { values, sizeof(values) };
	ptrace(PTRACE_GETREGSET, parent->pid, NT_PRSTATUS, &registers);
#if defined(__x86_64__)
	leader = values[14] & CLONE_NEWPID;
#else
	leader = values[0] & CLONE_NEWPID;
#endif
	struct tracee *tracee = tracee_find((pid_t)child);
	const bool stopped_first = tracee != NULL;
	if (!stopped_first)
		tracee = tracee_add((pid_t)child, PHASE_STARTING, 0);
	if (tracee == NULL)
		return;
	tracee->phase = leader ? PHASE_LEADER : PHASE_PARSER;
	tracee->effective = parent->effective;
	if (stopped_first)
		ptrace(PTRACE_SYSCALL, child, 0, 0);
}

// Returns the signal with which to let it go on, or -1 when it is not followed any more.
static int stopped(struct tracee *tracee, int status)
{
	const int signal_number = WSTOPSIG(status), event = status >> 16;

	switch (event) {
	case PTRACE_EVENT_EXEC:
		if (tracee->phase == PHASE_LEADER) {
			ptrace(PTRACE_DETACH, tracee->pid, 0, 0);
			tracee->pid = 0;
			return -1;
		}
		tracee->phase = PHASE_START;
		return 0;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		child_made(tracee);
		return 0;
	case PTRACE_EVENT_STOP:
		if (signal_number == SIGTRAP)
			return 0;
		// A stop of the whole group, which must stay one.
		ptrace(PTRACE_LISTEN, tracee->pid, 0, 0);
		return -1;
	default:
		if (signal_number != (SIGTRAP | 0x80))
			return signal_number;
		call_stopped(tracee);
		return 0;
	}
}

static _Noreturn void trace(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		struct tracee *tracee = tracee_find(pid);
		if (!WIFSTOPPED(status)) {
			if (tracee != NULL)
				tracee->pid = 0;
			continue;
		}
		// A child may stop before its parent's event tells what it is: it waits for that.
		if (tracee == NULL) {
			tracee_add(pid, PHASE_STARTING, 0);
			continue;
		}
		const int number = stopped(tracee, status);
		if (number >= 0)
			ptrace(PTRACE_SYSCALL, pid, 0, number);
	}
	_exit(0);
}

// Runs in a process beside the helper, of which the caller's descriptors know nothing.
static _Noreturn void tracer_run(pid_t helper)
{
	int ready[2];

	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	signal(SIGCHLD, SIG_DFL);
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0 || pipe(ready) < 0)
		_exit(1);
	if (fork() != 0) {
		// Gone when the tracer has its hands on it.
		close(ready[1]);
		char byte;
		_exit(read(ready[0], &byte, 1) == 1 ? 0 : 1);
	}
	setsid();
	log_fd = open(LOG, O_WRONLY | O_APPEND | O_CLOEXEC);
	tracee_add(helper, PHASE_STARTING, 0);
	if (log_fd < 0 || ptrace(PTRACE_SEIZE, helper, 0, OPTIONS) < 0 ||
	    ptrace(PTRACE_INTERRUPT, helper, 0, 0) < 0 || write(ready[1], "", 1) != 1)
		_exit(1);
	trace();
}

int main(int argc, char *argv[])
{
	const pid_t helper = getpid(), child = fork();

	(void)argc;
	if (child == 0)
		tracer_run(helper);
	// Where nothing can be traced, the helper runs alone.
	if (child > 0)
		waitpid(child, NULL, 0);
	execve(REAL, argv, (char *[]){ NULL });
	_exit(127);
}
