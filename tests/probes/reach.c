// Tries to reach into process argv[1] by every road that there is: signals, tracing, its memory,
// its files in /proc, its descriptors, its limits and its scheduling. Prints "NAME ERRNO" for each,
// 0 where it worked; each try in a child. Ends with SIGKILL, so as to try the rest first; with a second
// argument it sends no signal. Control: on another process of the same user, they work.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t victim;

static long try_attach(void)
{
	return ptrace(PTRACE_ATTACH, victim, NULL, NULL);
}

static long try_seize(void)
{
	return ptrace(PTRACE_SEIZE, victim, NULL, NULL);
}

static long vm(long call)
{
	char byte = 0;
	struct iovec local = { &byte, 1 }, remote = { (void *)0x400000, 1 };
	long result = syscall(call, victim, &local, 1, &remote, 1, 0);

	// Nothing at that address: the call itself was allowed.
	return result < 0 && errno == EFAULT ? 0 : result;
}

static long try_vm_readv(void)
{
	return vm(SYS_process_vm_readv);
}

static long try_vm_writev(void)
{
	return vm(SYS_process_vm_writev);
}

static long try_pidfd_getfd(void)
{
	return syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, victim, 0), 1, 0);
}

static long try_kcmp(void)
{
	return syscall(SYS_kcmp, getpid(), victim, 0, 1, 1);
}

static long limit(int resource)
{
	struct rlimit limit;

	if (syscall(SYS_prlimit64, victim, resource, NULL, &limit) < 0)
		return -1;
	// To what it is: a success is proof enough.
	return syscall(SYS_prlimit64, victim, resource, &limit, NULL);
}

static long try_limit_cpu(void)
{
	return limit(RLIMIT_CPU);
}

static long try_limit_files(void)
{
	return limit(RLIMIT_NOFILE);
}

static long try_affinity(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return -1;
	return sched_setaffinity(victim, sizeof(set), &set);
}

static long try_priority(void)
{
	return setpriority(PRIO_PROCESS, (id_t)victim, 19);
}

static long try_scheduler(void)
{
	const struct sched_param normal = { 0 };

	return sched_setscheduler(victim, SCHED_OTHER, &normal);
}

static const struct {
	const char *name;
	long (*try)(void);
} calls[] = {
	{ "ptrace-attach", try_attach },      { "ptrace-seize", try_seize },
	{ "process_vm_readv", try_vm_readv }, { "process_vm_writev", try_vm_writev },
	{ "pidfd_getfd", try_pidfd_getfd },   { "kcmp", try_kcmp },
	{ "limit-cpu", try_limit_cpu },	      { "limit-files", try_limit_files },
	{ "affinity", try_affinity },	      { "priority", try_priority },
	{ "scheduler", try_scheduler },
};

static const struct {
	const char *name;
	int mode;
} files[] = {
	{ "mem", O_RDONLY },	       { "mem", O_RDWR },
	{ "environ", O_RDONLY },       { "maps", O_RDONLY },
	{ "cmdline", O_RDONLY },       { "fd", O_RDONLY },
	{ "fd/0", O_RDONLY },	       { "fd/3", O_RDONLY },
	{ "exe", O_RDONLY },	       { "exe", O_WRONLY },
	{ "root/etc", O_RDONLY },      { "cwd/etc", O_RDONLY },
	{ "ns/mnt", O_RDONLY },	       { "ns/pid", O_RDONLY },
	{ "syscall", O_RDONLY },       { "auxv", O_RDONLY },
	{ "oom_score_adj", O_WRONLY }, { "attr/current", O_WRONLY },
	{ "clear_refs", O_WRONLY },    { "map_files", O_RDONLY },
	{ "task", O_RDONLY },	       { "stack", O_RDONLY },
};

static long errno_of_signal(int signal)
{
	return kill(victim, signal);
}

static void print(const char *name, const char *detail, long result)
{
	printf("%s%s %s\n", name, detail, result < 0 ? strerrorname_np(errno) : "0");
	fflush(stdout);
}

int main(int argc, char *argv[])
{
	static const int signals[] = { SIGHUP,	SIGINT,	 SIGTERM, SIGSTOP,
				       SIGCHLD, SIGUSR1, SIGCONT, SIGKILL };
	char path[64];

	victim = argc == 2 || argc == 3 ? atoi(argv[1]) : 0;
	if (victim <= 0) {
		fprintf(stderr, "usage: reach PID [no-signals]\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", victim, files[i].name);
		print(files[i].name, files[i].mode == O_RDONLY ? "-read" : "-write",
		      open(path, files[i].mode | O_CLOEXEC));
	}
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		pid_t child = fork();

		if (child == 0) {
			print(calls[i].name, "", calls[i].try());
			// What it has attached to is let go of with it.
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	for (size_t i = 0; argc == 2 && i < sizeof(signals) / sizeof(signals[0]); i++)
		print("signal-", sigabbrev_np(signals[i]), errno_of_signal(signals[i]));
	return 0;
}
