// Makes the helper fail at every single system call of an operation, one run for each: it is killed
// there, or the call answers with an error of the wish, whatever it would have done. After each run
// the session's tie is let go, COLLECT runs undisturbed, and nothing may be left. Traces the helper
// and the session leader with ptrace(2); so it runs as root, and the helper as an ordinary user's.
//
//   fault create|destroy|collect kill|EIO|ENOSPC|ENOMEM|EINTR|EPERM helper|leader USER
//
// Prints one TAP line: how many points there were, and how the runs ended. Points in the C library's
// own start, before main, count too.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../probes/rawhelper.h"
#include "protocol.h"

#define HELPER "/usr/local/libexec/lodger/lodger-helper"
#define KILL 0
// A run that takes longer hangs: the helper's own alarm is 30 s.
#define RUN_SECONDS 40
#define POINTS_MAX 5000

// Who is made to fail. The leader is the helper's second child, the parser child the first.
enum subject { SUBJECT_HELPER, SUBJECT_LEADER, SUBJECT_NOBODY };

struct run {
	enum subject subject;
	int fault;  // KILL or an errno
	long point; // the call to fail at, from 1
	// What came of it:
	long calls; // of the subject
	bool hit;
	bool replied;
	int code; // of the reply
	uint32_t session;
};

static const struct passwd *caller;
static char base[128] = "lodger"; // the policy's cgroup, below which sessions have theirs
static long ends[16];		  // runs by code of the reply; 0: no reply

static void __attribute__((noreturn, format(printf, 1, 2))) give_up(const char *format, ...)
{
	va_list arguments;

	printf("not ok - ");
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	exit(1);
}

static uint64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void base_read(void)
{
	char line[4096];
	FILE *file = fopen(LODGER_POLICY, "re");

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "cgroup %127s", base);
	if (file)
		fclose(file);
}

// What sessions leave their mark on, as text; the caller compares it with what it was. `%s` is the
// policy's cgroup, in each hierarchy that it may be in.
static void marks(char *text, size_t size)
{
	static const char *const directories[] = {
		LODGER_SESSIONS,
		"/run/userdb",
		"/sys/fs/cgroup/%s",
		"/sys/fs/cgroup/memory/%s",
		"/sys/fs/cgroup/pids/%s",
		"/sys/fs/cgroup/cpu/%s",
		"/sys/fs/cgroup/cpu,cpuacct/%s",
	};
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		char directory[256];

		snprintf(directory, sizeof(directory), directories[i], base);
		DIR *stream = opendir(directory);
		const struct dirent *entry;

		while (stream && (entry = readdir(stream))) {
			if (entry->d_name[0] == '.' ||
			    (strncmp(directory, "/sys", 4) == 0 && entry->d_type != DT_DIR))
				continue;
			used += (size_t)snprintf(text + used, size - used, "%s/%s ", directory,
						 entry->d_name);
			if (used >= size)
				give_up("too much is left to tell");
		}
		if (stream)
			closedir(stream);
	}
}

// A caller's process that stops before it becomes the helper.
static pid_t helper_start(const int request[2], const int reply[2])
{
	const pid_t child = fork();

	if (child != 0)
		return child;
	if (dup2(request[0], 0) < 0 || dup2(reply[1], 1) < 0 || close_range(3, UINT32_MAX, 0) < 0 ||
	    initgroups(caller->pw_name, caller->pw_gid) < 0 || setgid(caller->pw_gid) < 0 ||
	    setuid(caller->pw_uid) < 0)
		_exit(97);
	raise(SIGSTOP);
	execl(HELPER, "lodger-helper", NULL);
	_exit(97);
}

static long ptrace_must(enum __ptrace_request request, pid_t pid, void *data)
{
	const long answer = ptrace(request, pid, NULL, data);

	// ESRCH: it was killed meanwhile.
	if (answer < 0 && errno != ESRCH)
		give_up("ptrace request %d: %s", (int)request, strerror(errno));
	return answer;
}

static bool call_enters(pid_t pid)
{
	struct __ptrace_syscall_info info = { 0 };

	return ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) > 0 &&
	       info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

// A subject at the entry of a call. Returns whether the call is to be answered at its exit.
static bool call_enter(struct run *run, pid_t pid)
{
	struct user_regs_struct registers;

	if (ptrace_must(PTRACE_GETREGS, pid, &registers) < 0)
		return false;
	// These do not return, so they cannot fail.
	if (run->fault != KILL &&
	    (registers.orig_rax == SYS_exit_group || registers.orig_rax == SYS_exit ||
	     registers.orig_rax == SYS_rt_sigreturn))
		return false;
	if (++run->calls != run->point)
		return false;
	run->hit = true;
	if (run->fault == KILL) {
		kill(pid, SIGKILL);
		return false;
	}
	// No call has this number: nothing happens.
	registers.orig_rax = (unsigned long long)-1;
	ptrace_must(PTRACE_SETREGS, pid, &registers);
	return true;
}

static void call_answer(const struct run *run, pid_t pid)
{
	struct user_regs_struct registers;

	if (ptrace_must(PTRACE_GETREGS, pid, &registers) < 0)
		return;
	registers.rax = (unsigned long long)-run->fault;
	ptrace_must(PTRACE_SETREGS, pid, &registers);
}

// Follows the helper until it has ended, and the leader until it has become the agent.
static void trace(struct run *run, pid_t helper)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE |
			     PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL;
	// Seized by us: who lets itself be traced has no set-user-ID.
	const uint64_t end = milliseconds() + RUN_SECONDS * 1000;
	bool begun = false, answer = false;
	pid_t leader = 0, parser = 0, pid;
	int status;

	if (waitpid(helper, &status, WUNTRACED) != helper || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SEIZE, helper, NULL, (void *)options) < 0)
		give_up("tracing the helper: %s", strerror(errno));
	kill(helper, SIGCONT);
	while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		int signal = 0;
		bool calls;

		if (milliseconds() > end)
			give_up("point %ld: hangs", run->point);
		if (pid < 0)
			continue;
		if (!WIFSTOPPED(status)) {
			if (pid == helper)
				return;
			continue;
		}
		const int event = status >> 16;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			if (call_enters(pid))
				answer = call_enter(run, pid);
			else if (answer)
				call_answer(run, pid), answer = false;
		} else if (event == PTRACE_EVENT_EXEC && pid == helper) {
			begun = true;
		} else if (event == PTRACE_EVENT_EXEC) {
			// The leader is the agent now, and its own.
			ptrace_must(PTRACE_DETACH, pid, NULL);
			continue;
		} else if (event != 0 && event != PTRACE_EVENT_STOP) {
			unsigned long made;

			ptrace_must(PTRACE_GETEVENTMSG, pid, &made);
			if (parser == 0)
				parser = (pid_t)made;
			else if (leader == 0)
				leader = (pid_t)made;
		} else if (event == 0) {
			signal = WSTOPSIG(status);
		}
		calls = (run->subject == SUBJECT_HELPER && pid == helper && begun) ||
			(run->subject == SUBJECT_LEADER && pid == leader);
		ptrace_must(calls ? PTRACE_SYSCALL : PTRACE_CONT, pid, (void *)(long)signal);
	}
}

static void reply_read(struct run *run, int fd)
{
	uint8_t frame[8192];
	ssize_t size;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	size = read(fd, frame, sizeof(frame));
	run->replied = size > 4;
	run->code = 0;
	run->session = 0;
	const uint8_t *at = frame + 4, *stop = frame + (size > 4 ? size : 4);
	while (at < stop) {
		const uint64_t key = get_varint(&at, stop), value = get_varint(&at, stop);

		if ((key & 7) == 2)
			at += value;
		else if (key >> 3 == 2)
			run->code = (int)value;
		else if (key >> 3 == 5)
			run->session = (uint32_t)value;
	}
}

// Calls the helper. Returns our end of the request's pipe, to which a new session is tied.
static int call(struct run *run, int option, uint32_t number)
{
	struct message message = { .version = 1 };
	char text[16];
	uint8_t frame[256];
	int request[2], reply[2];

	snprintf(text, sizeof(text), "%u", number);
	message_option(&message, option, option == 'd' ? text : NULL);
	const size_t size = message_frame(&message, frame, sizeof(frame));
	if (pipe2(request, O_CLOEXEC) < 0 || pipe2(reply, O_CLOEXEC) < 0)
		give_up("pipe: %s", strerror(errno));
	const pid_t helper = helper_start(request, reply);
	close(request[0]);
	close(reply[1]);
	if (write(request[1], frame, size) != (ssize_t)size)
		give_up("writing the request: %s", strerror(errno));
	trace(run, helper);
	reply_read(run, reply[0]);
	close(reply[0]);
	return request[1];
}

static bool is_agent(const char *pid)
{
	char path[64], file[4096] = "";

	snprintf(path, sizeof(path), "/proc/%s/exe", pid);
	return readlink(path, file, sizeof(file) - 1) > 0 && strstr(file, "lodger-agent");
}

// Reads the uid of a process and its cgroups. False: it is gone.
static bool process_read(const char *pid, unsigned int *uid, char *cgroups, size_t size)
{
	char path[64], line[256];

	*uid = 0;
	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file) && sscanf(line, "Uid: %u", uid) != 1)
		;
	if (file)
		fclose(file);
	snprintf(path, sizeof(path), "/proc/%s/cgroup", pid);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t length = read(fd, cgroups, size - 1);
	close(fd);
	cgroups[length > 0 ? length : 0] = '\0';
	return length > 0;
}

// Fails unless process `pid`, if it is an agent, is what it may be when its helper is gone: under
// the uid of a session, in that session's cgroup, with a record. What dies is given time to: the
// kernel shows it in cgroup v1's root.
static void check_agent(const struct run *run, const char *pid)
{
	char own[160], record[64], cgroups[4096];
	const uint64_t end = milliseconds() + 2000;
	unsigned int uid;

	while (is_agent(pid) && process_read(pid, &uid, cgroups, sizeof(cgroups))) {
		const unsigned int number = uid - SESSION_UID_BASE;

		snprintf(own, sizeof(own), "/%s/%u\n", base, number);
		snprintf(record, sizeof(record), LODGER_SESSIONS "/%u/record", number);
		if (number >= 1 && number <= SESSION_NUMBER_MAX && strstr(cgroups, own) &&
		    access(record, F_OK) == 0)
			return;
		if (milliseconds() > end)
			give_up("point %ld: an agent runs as uid %u in %s", run->point, uid,
				cgroups);
		usleep(1000);
	}
}

// Waits until all that a helper has left to us is gone; looks at it before.
static void orphans_end(const struct run *run)
{
	const uint64_t end = milliseconds() + RUN_SECONDS * 1000;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) >= 0) {
		char path[64], word[32];

		// Still traced: what its helper's end left it at.
		if (pid > 0 && WIFSTOPPED(status))
			ptrace_must(PTRACE_DETACH, pid, NULL);
		snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
		FILE *children = pid == 0 ? fopen(path, "re") : NULL;
		while (children && fscanf(children, "%31s", word) == 1)
			check_agent(run, word);
		if (children)
			fclose(children);
		if (pid == 0)
			usleep(500);
		if (milliseconds() > end)
			give_up("point %ld: a process does not end with its session", run->point);
	}
}

// They go up, and begin anew after the last one.
static void number_check(uint32_t number, uint32_t last)
{
	const uint32_t ahead = (number + SESSION_NUMBER_MAX - last) % SESSION_NUMBER_MAX;

	if (last > 0 && (ahead == 0 || ahead > SESSION_NUMBER_MAX / 2))
		give_up("number %u was given again after %u", number, last);
}

static uint32_t session_make(int *tie, uint32_t last)
{
	struct run make = { .subject = SUBJECT_NOBODY };

	*tie = call(&make, 'c', 0);
	if (make.code != 2 && make.code != 1)
		give_up("an undisturbed create was refused with code %d", make.code);
	number_check(make.session, last);
	return make.session;
}

// One run. Returns whether the subject got as far as the point.
static bool point_try(struct run *run, int option)
{
	static uint32_t last;
	struct run collect = { .subject = SUBJECT_NOBODY, .point = run->point };
	static char before[65536], after[65536];
	int tie = -1;

	marks(before, sizeof(before));
	if (option != 'c')
		last = session_make(&tie, last);
	if (option == 'o') {
		close(tie);
		tie = -1;
		orphans_end(run);
	}
	const int request = call(run, option, last);
	if (option == 'c' && run->session > 0) {
		number_check(run->session, last);
		last = run->session;
	}
	close(request);
	if (tie >= 0)
		close(tie);
	orphans_end(run);
	close(call(&collect, 'o', 0));
	orphans_end(run);
	if (collect.code != 1)
		give_up("point %ld: collect answered with code %d", run->point, collect.code);
	marks(after, sizeof(after));
	if (strcmp(before, after) != 0)
		give_up("point %ld: left behind: before: %s, after: %s", run->point, before, after);
	if (run->hit)
		ends[run->replied ? run->code & 15 : 0]++;
	return run->hit;
}

int main(int argc, char *argv[])
{
	static const struct {
		const char *name;
		int number;
	} faults[] = { { "kill", KILL },     { "EIO", EIO },	 { "ENOSPC", ENOSPC },
		       { "ENOMEM", ENOMEM }, { "EINTR", EINTR }, { "EPERM", EPERM } };
	const int option = argc != 5			     ? 0
			   : strcmp(argv[1], "create") == 0  ? 'c'
			   : strcmp(argv[1], "destroy") == 0 ? 'd'
			   : strcmp(argv[1], "collect") == 0 ? 'o'
							     : 0;
	struct run run = { .fault = -1 };
	long point = 0;

	for (size_t i = 0; option && i < sizeof(faults) / sizeof(faults[0]); i++)
		if (strcmp(argv[2], faults[i].name) == 0)
			run.fault = faults[i].number;
	if (run.fault < 0 || !(caller = getpwnam(argv[4]))) {
		fprintf(stderr, "usage: fault create|destroy|collect "
				"kill|EIO|ENOSPC|ENOMEM|EINTR|EPERM helper|leader USER\n");
		return 2;
	}
	run.subject = strcmp(argv[3], "leader") == 0 ? SUBJECT_LEADER : SUBJECT_HELPER;
	// What a dead helper leaves becomes ours.
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	base_read();
	do {
		run = (struct run){ .subject = run.subject, .fault = run.fault, .point = ++point };
		if (point > POINTS_MAX)
			give_up("no end of system calls");
	} while (point_try(&run, option));
	if (run.calls < 10 || run.code != 1)
		give_up("the undisturbed run had %ld calls and code %d", run.calls, run.code);
	printf("ok - %s, the %s fails by %s at each of %ld calls: %ld without a reply", argv[1],
	       argv[3], argv[2], point - 1, ends[0]);
	for (int i = 1; i < 16; i++)
		if (ends[i] > 0)
			printf(", %ld with code %d", ends[i], i);
	printf("\n");
	return 0;
}
