// Starting, signalling, ending and reaping the command of a job (job.h). Runs in the job's keeper,
// which is the subreaper of all that the command starts, and in the command's child up to its exec.
// Neither has privilege. No signal from here may reach a process that is not the job's: numbers are
// used only while the process behind them is an unreaped child.
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "clock.h"
#include "environment.h"
#include "terminal.h"

// Between asking and killing.
#define GRACE_USEC 1000000U
// Children reaped at one go: a job that forks without end must not keep its keeper from its clock.
#define REAP_MAX 256
// In the child, the descriptor that `struct failure` goes to.
#define FAILURE_FD 3

enum stage {
	STAGE_PREPARE,
	STAGE_HOME,
	STAGE_DIRECTORY,
	STAGE_EXECUTE,
};

struct failure {
	enum stage stage;
	int error;
};

static void child_fail(enum stage stage)
{
	const struct failure failure = { stage, errno };

	// If it cannot be written, the keeper sees a command that exits with 127: near enough.
	(void)!write(FAILURE_FD, &failure, sizeof(failure));
	_exit(127);
}

// Makes the child a likelier victim of the out-of-memory killer than the agent, which would take
// the whole session with it. The file is root's while the process is not dumpable (proc(5)), so it
// is made dumpable first, a few calls before exec would do that anyway. Its failing is no reason to
// refuse the job.
static void child_volunteer(void)
{
	if (prctl(PR_SET_DUMPABLE, 1) < 0)
		return;

	autoclose int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0)
		(void)!write(fd, "300", 3);
}

static void __attribute__((noreturn)) child_run(uint32_t number, const struct exec_order *exec,
						const int standard[3], int failure, bool terminal)
{
	sigset_t none;

	// All that was inherited is close-on-exec and numbered above 4, bar the keeper's own.
	if (dup3(failure, FAILURE_FD, O_CLOEXEC) < 0)
		_exit(127);
	if (setsid() < 0 || (terminal && terminal_control(standard[0]) < 0))
		child_fail(STAGE_PREPARE);
	for (int i = 0; i < 3; i++) {
		if (dup2(standard[i], i) < 0)
			child_fail(STAGE_PREPARE);
	}
	closefrom(FAILURE_FD + 1);

	umask(022);
	if (chdir(environment_home(number)) < 0)
		child_fail(STAGE_HOME);
	if (exec->directory[0] != '\0' && chdir(exec->directory) < 0)
		child_fail(STAGE_DIRECTORY);

	environ = environment_make(number, exec);
	child_volunteer();
	// Handlers are at their defaults since the agent's start.
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		child_fail(STAGE_PREPARE);
	execvp(exec->argv[0], exec->argv);
	child_fail(STAGE_EXECUTE);
	_exit(127);
}

static bool refuse_resource(struct refusal *refusal, const char *what)
{
	return refuse(refusal, CODE(RESOURCE),
		      "%s: %s; the session has reached a limit, end some of its processes", what,
		      strerror(errno));
}

bool job_fork(uint32_t number, const struct exec_order *exec, const int *descriptors,
	      struct job *job, struct refusal *refusal)
{
	int standard[3] = { -1, -1, -1 };
	int report[2];
	autoclose int master = -1;
	autoclose int slave = -1;

	if (exec->terminal) {
		master = terminal_open(exec->rows, exec->columns, &slave);
		if (master < 0)
			return refuse_resource(refusal, "cannot open a terminal");
		standard[0] = standard[1] = standard[2] = slave;
	} else {
		memcpy(standard, descriptors, sizeof(standard));
	}
	if (pipe2(report, O_CLOEXEC) < 0)
		return refuse_resource(refusal, "cannot make a pipe");
	autoclose int failure = report[1];

	job->command = fork();
	if (job->command == 0)
		child_run(number, exec, standard, failure, exec->terminal);
	if (job->command < 0) {
		close(report[0]);
		return refuse_resource(refusal, "cannot start a process");
	}

	// From here on only the job itself holds them: its readers must see end of file when it
	// closes them. (Closing a file of a hung file server may block; that is why this is a
	// process of its own.)
	if (!exec->terminal) {
		for (int i = 0; i < 3; i++)
			close(descriptors[i]);
	}
	job->failure = report[0];
	job->master = master;
	master = -1;
	return true;
}

// How shells sort what execve(2) says.
static code code_of(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return CODE(NOT_FOUND);
	case EAGAIN:
	case ENOMEM:
	case EMFILE:
	case ENFILE:
		return CODE(RESOURCE);
	default:
		return CODE(NOT_EXECUTABLE);
	}
}

static bool refuse_failure(const struct failure *failure, const struct exec_order *exec,
			   struct refusal *refusal)
{
	const char *reason = strerror(failure->error);

	switch (failure->stage) {
	case STAGE_HOME:
		return refuse(refusal, CODE(DIRECTORY), "cannot enter the session's home: %s",
			      reason);
	case STAGE_DIRECTORY:
		return refuse(refusal, CODE(DIRECTORY), "cannot enter the directory \"%.100s\": %s",
			      exec->directory, reason);
	case STAGE_EXECUTE:
		return refuse(refusal, code_of(failure->error), "cannot execute \"%.100s\": %s",
			      exec->argv[0], reason);
	default:
		errno = failure->error;
		return refuse_resource(refusal, "cannot prepare the command's process");
	}
}

bool job_confirm(struct job *job, const struct exec_order *exec, struct refusal *refusal)
{
	struct failure failure;
	ssize_t size;

	// End of file: exec has closed the other end, or a signal the child.
	do
		size = read(job->failure, &failure, sizeof(failure));
	while (size < 0 && errno == EINTR);
	close(job->failure);
	job->failure = -1;
	if (size != sizeof(failure))
		return true;

	(void)waitpid(job->command, NULL, 0);
	return refuse_failure(&failure, exec, refusal);
}

static void status_of(const siginfo_t *info, int *status, int *signal)
{
	*status = info->si_code == CLD_EXITED ? info->si_status : 0;
	*signal = info->si_code == CLD_EXITED ? 0 : info->si_status;
}

enum job_reaped job_reap(const struct job *job, int *status, int *signal)
{
	for (int i = 0; i < REAP_MAX; i++) {
		siginfo_t info = { .si_pid = 0 };

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
			return JOB_RUNNING;
		if (info.si_pid == job->command) {
			status_of(&info, status, signal);
			return JOB_ENDED;
		}
		(void)waitpid(info.si_pid, NULL, 0);
	}
	return JOB_MORE;
}

void job_signal(const struct job *job, int signal)
{
	pid_t group = job->master >= 0 ? terminal_foreground(job->master) : 0;

	// 1 would be everybody. A group that is gone needs no signal.
	if (group <= 1)
		group = job->command;
	(void)kill(-group, signal);
}

void job_hang_up(struct job *job)
{
	const struct timespec grace = { .tv_nsec = 0, .tv_sec = GRACE_USEC / 1000000U };

	if (job->master >= 0) {
		close(job->master);
		job->master = -1;
	}
	(void)kill(-job->command, SIGHUP);
	(void)kill(-job->command, SIGCONT);
	// The command is not reaped meanwhile, so the group keeps its number. All signals are
	// blocked: nothing cuts the sleep short.
	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &grace, NULL);
	(void)kill(-job->command, SIGKILL);
}

// Reaps all that has ended, the command too. Returns false when no child is left.
static bool reap_all(const struct job *job, int *status, int *signal)
{
	for (int i = 0; i < REAP_MAX; i++) {
		siginfo_t info = { .si_pid = 0 };

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) < 0)
			return false;
		if (info.si_pid == 0)
			return true;
		if (info.si_pid == job->command)
			status_of(&info, status, signal);
	}
	return true;
}

// Kills the direct children. Theirs become direct ones by that, and are next. The kernel's list
// shows them all, hidden by hidepid or not; where a kernel lacks it (CONFIG_PROC_CHILDREN) nothing
// happens here, and the agent kills the whole session's processes in the end.
static void kill_children(void)
{
	FILE *list = fopen("/proc/thread-self/children", "re");
	int child;

	if (list == NULL)
		return;
	while (fscanf(list, "%d", &child) == 1) {
		if (child > 1)
			(void)kill(child, SIGKILL);
	}
	(void)fclose(list);
}

static void wait_for_child(int child_signals, int milliseconds)
{
	struct pollfd wait = { .fd = child_signals, .events = POLLIN };
	char drained[1024];

	if (poll(&wait, 1, milliseconds) > 0)
		(void)!read(child_signals, drained, sizeof(drained));
}

void job_end(const struct job *job, int child_signals, int *status, int *signal)
{
	const uint64_t kill_at = clock_usec() + GRACE_USEC;
	uint64_t now;

	*status = 0;
	*signal = SIGKILL;
	const pid_t foreground = job->master >= 0 ? terminal_foreground(job->master) : 0;
	if (foreground > 1 && foreground != job->command)
		(void)kill(-foreground, SIGTERM);
	(void)kill(-job->command, SIGTERM);
	(void)kill(-job->command, SIGCONT);

	while (reap_all(job, status, signal)) {
		now = clock_usec();
		if (now >= kill_at) {
			kill_children();
			wait_for_child(child_signals, 5);
		} else {
			wait_for_child(child_signals, (int)((kill_at - now) / 1000U) + 1);
		}
	}
}
