// Start-up. Runs as root on behalf of anybody in group lodger, who chose every bit of state that
// survives execve(2): this file is the list of that state and of what becomes of it.
// Opens nothing but /proc/self/uid_map, writes nothing.
#include "helper.h"

#include <grp.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/time.h>

// The whole helper may take this many seconds; then SIGALRM ends it, and COLLECT removes the rest.
#define HELPER_SECONDS 30

// What helper and session start with, and the least that they can do with where a caller lowered
// the hard limit and this machine's root may not raise it (setrlimit(2), CAP_SYS_RESOURCE).
static const struct {
	int resource;
	const char *name;
	rlim_t wanted, least;
} limits[] = {
	{ RLIMIT_AS, "RLIMIT_AS", RLIM_INFINITY, 1UL << 30 },
	{ RLIMIT_DATA, "RLIMIT_DATA", RLIM_INFINITY, 1UL << 30 },
	{ RLIMIT_STACK, "RLIMIT_STACK", 8UL << 20, 1UL << 20 },
	{ RLIMIT_FSIZE, "RLIMIT_FSIZE", RLIM_INFINITY, 1UL << 30 },
	{ RLIMIT_NOFILE, "RLIMIT_NOFILE", 65536, 256 },
	{ RLIMIT_NPROC, "RLIMIT_NPROC", RLIM_INFINITY, 1024 },
	{ RLIMIT_CPU, "RLIMIT_CPU", RLIM_INFINITY, 3600 },
	{ RLIMIT_NICE, "RLIMIT_NICE", 0, 0 },
	{ RLIMIT_RTPRIO, "RLIMIT_RTPRIO", 0, 0 },
	{ RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK", 8UL << 20, 0 },
	{ RLIMIT_MSGQUEUE, "RLIMIT_MSGQUEUE", 819200, 0 },
	{ RLIMIT_SIGPENDING, "RLIMIT_SIGPENDING", 4096, 64 },
	// At 1 the kernel writes no core and never starts a core_pattern program; at 0 it may (core(5)).
	{ RLIMIT_CORE, "RLIMIT_CORE", 1, 1 },
};

static void limits_set(void)
{
	for (size_t i = 0; i < COUNT(limits); i++) {
		struct rlimit limit = { limits[i].wanted, limits[i].wanted };

		if (setrlimit(limits[i].resource, &limit) == 0)
			continue;
		if (getrlimit(limits[i].resource, &limit) < 0)
			die("reading the resource limit", limits[i].name);
		if (limit.rlim_max < limits[i].least)
			refuse(CODE(CALLER), limits[i].name,
			       "the hard limit %s is %lu, at least %lu "
			       "is needed: call from a shell without that limit",
			       limits[i].name, limit.rlim_max, limits[i].least);
		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(limits[i].resource, &limit) < 0)
			die("setting the resource limit", limits[i].name);
	}
}

// No reply may go into a terminal, a file or a kernel file that the caller could open but not
// write to as itself (CVE-2012-0056 and its kin), so nothing is said here but the exit status.
static void descriptors_check(void)
{
	struct stat in, out;

	if (fstat(STDIN_FILENO, &in) < 0 || !S_ISFIFO(in.st_mode) ||
	    fstat(STDOUT_FILENO, &out) < 0 || !S_ISFIFO(out.st_mode) ||
	    fcntl(STDERR_FILENO, F_GETFD) < 0)
		_exit(HELPER_EXIT_DESCRIPTORS);
	closefrom(STDERR_FILENO + 1);
}

// Ignoring a signal first throws away one that is pending (signal(7)); an inherited SIG_IGN of
// SIGCHLD would make waitpid(2) fail. SIGPIPE stays ignored: a reader that went away is an error.
static void signals_reset(void)
{
	const struct itimerval none = { 0 };
	// The kernel's own struct, since the C library keeps two signals to itself: handler, flags, mask.
	const unsigned long ignore[4] = { (unsigned long)SIG_IGN },
			    fallback[4] = { (unsigned long)SIG_DFL };
	sigset_t empty;

	for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++)
		setitimer(which, &none, NULL);
	// SIGKILL and SIGSTOP cannot be set: that is no failure.
	for (int number = 1; number < _NSIG; number++) {
		syscall(SYS_rt_sigaction, number, ignore, NULL, sizeof(uint64_t));
		syscall(SYS_rt_sigaction, number, fallback, NULL, sizeof(uint64_t));
	}
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&empty);
	if (sigprocmask(SIG_SETMASK, &empty, NULL) < 0)
		die("resetting", "the signal mask");
	alarm(HELPER_SECONDS);
}

// In a user namespace, "root" is whom the caller likes and /etc what the caller likes. The
// machine's own maps every uid to itself (user_namespaces(7)).
static void user_namespace_check(void)
{
	static const char own[] = "         0          0 4294967295\n";
	char map[sizeof(own)];
	autoclose int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);

	if (frame_read_full(fd, map, sizeof(map)) != sizeof(own) - 1 ||
	    memcmp(map, own, sizeof(own) - 1) != 0)
		refuse(CODE(CALLER), "", "called from a user namespace that is not the machine's");
}

static void caller_check(struct caller *caller)
{
	report_caller = caller->uid = getuid();
	caller->gid = getgid();
	if (geteuid() != 0)
		refuse(CODE(CALLER), "",
		       "not running as root: the helper must be owned by root and "
		       "set-user-ID, on a file system without nosuid, and its caller untraced and "
		       "without no_new_privs; see lodger doctor");
	if (prctl(PR_GET_SECUREBITS) != 0)
		refuse(CODE(CALLER), "",
		       "called with securebits set; they change what setuid means");
	if (caller->uid >= PARSER_UID && caller->uid <= SESSION_UID_BASE + SESSION_NUMBER_MAX)
		refuse(CODE(CALLER), "", "a lodger cannot create or destroy sessions");
	caller->group_count = getgroups(COUNT(caller->groups), caller->groups);
	if (caller->group_count < 0)
		refuse(CODE(CALLER), "", "called with more than %zu groups", COUNT(caller->groups));
}

void guard_start(int argc, char *const argv[], struct caller *caller)
{
	if (argc != 1 || !argv[0] || strcmp(argv[0], "lodger-helper") != 0 || argv[1])
		_exit(HELPER_EXIT_ARGUMENTS);
	descriptors_check();
	signals_reset();
	caller_check(caller);
	umask(077);
	clearenv();
	personality(PER_LINUX);
	if (chdir("/") < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		die("leaving", "the caller's directory");
	limits_set();
	// With room for a descriptor by now.
	user_namespace_check();
}

void guard_detach(void)
{
	const struct sched_param normal = { 0 };
	cpu_set_t all;

	// With the caller's uid as real uid, the caller could stop this process while it holds a
	// lock.
	if (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		die("becoming", "root");
	identity_check(0);
	if (setsid() < 0)
		refuse(CODE(CALLER), "", "called as the leader of a process group; fork first");
	memset(&all, 0xff, sizeof(all));
	// 50 µs of timer slack are what init starts with. With its caller's, any pause or timeout could
	// take for ever (prctl(2)).
	if (prctl(PR_SET_TIMERSLACK, 50000) < 0 ||
	    sched_setscheduler(0, SCHED_OTHER, &normal) < 0 ||
	    setpriority(PRIO_PROCESS, 0, 0) < 0 || sched_setaffinity(0, sizeof(all), &all) < 0)
		die("resetting", "the scheduling class");
}
