// Jobs (job.h). Runs as the caller. No terminal, directory, socket or device of the caller's gets
// into a session from here.
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "relay.h"
#include "terminal.h"

// A session at its CPU limit may take its time.
#define START_MS 60000

bool job_start(int connection, const struct job *job, const int descriptors[3],
	       struct agent_reply *started, struct failure *failure)
{
	if (!agent_exec(connection, job, descriptors, failure) ||
	    !agent_receive_first(connection, START_MS, job, started, failure))
		return false;
	return started->kind == AGENT_STARTED
		       ? true
		       : fail(failure, "starting '%s': it ended at once, with status %d",
			      job->argv[0], started->exit_code);
}

// Waits until the agent has answered. Whether the caller wants an end before that: then that is how
// the job ended.
static bool interrupted(struct relay *relay, struct job_end *end)
{
	const int number = relay_await(relay, START_MS);

	if (number > 0)
		*end = (struct job_end){ .exit_code = EXIT_SIGNAL + number, .signal = number };
	return number > 0;
}

bool job_wait(int connection, int timeout_ms, struct job_end *end, struct failure *failure)
{
	struct agent_reply reply;

	if (!agent_receive(connection, timeout_ms, &reply, failure))
		return false;
	if (reply.kind != AGENT_EXITED)
		return fail(failure, "waiting for the command: the session has ended");
	*end = (struct job_end){ .exit_code = reply.exit_code, .signal = reply.signal };
	return true;
}

// Whether two descriptors lead to the same thing: then one pipe for both keeps the order of what is
// written to them.
static bool same_file(int a, int b)
{
	struct stat left, right;

	return fstat(a, &left) == 0 && fstat(b, &right) == 0 && left.st_dev == right.st_dev &&
	       left.st_ino == right.st_ino && left.st_rdev == right.st_rdev;
}

// Puts a pipe in the place of the caller's descriptor `fd`. Returns the session's end, or -1.
static int relay_insert(struct relay *relay, int fd, struct failure *failure)
{
	const bool input = fd == STDIN_FILENO;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0) {
		fail(failure, "making a pipe: %s", strerror(errno));
		return -1;
	}

	struct endpoint ours = endpoint_own(ends[input ? 1 : 0]);
	struct endpoint callers = endpoint_open(fd, input ? O_RDONLY : O_WRONLY);
	const int theirs = ends[input ? 0 : 1];

	if (relay_add(relay, input, input ? callers : ours, input ? ours : callers, failure))
		return theirs;
	close(theirs);
	return -1;
}

// Decides for each of the three descriptors what the session gets. What is made for the session is
// to be closed once it is sent; `made` says what that is.
static bool descriptors_make(struct relay *relay, int descriptors[3], bool made[3],
			     struct failure *failure)
{
	enum endpoint_verdict verdicts[3];

	for (int fd = 0; fd < 3; fd++) {
		verdicts[fd] = endpoint_judge(fd, failure);
		if (verdicts[fd] == ENDPOINT_REFUSE)
			return false;
		descriptors[fd] = fd;
		if (verdicts[fd] == ENDPOINT_PASS)
			continue;
		if (fd == STDERR_FILENO && verdicts[STDOUT_FILENO] == ENDPOINT_RELAY &&
		    same_file(STDOUT_FILENO, STDERR_FILENO)) {
			descriptors[fd] = descriptors[STDOUT_FILENO];
			continue;
		}
		descriptors[fd] = relay_insert(relay, fd, failure);
		if (descriptors[fd] < 0)
			return false;
		made[fd] = true;
	}
	return true;
}

static bool run_plain(struct relay *relay, const struct job *job, struct job_end *end,
		      struct failure *failure)
{
	struct agent_reply first;
	int descriptors[3];
	bool made[3] = { false };
	const bool good = descriptors_make(relay, descriptors, made, failure) &&
			  agent_exec(relay->connection, job, descriptors, failure);

	for (int fd = 0; fd < 3; fd++)
		if (made[fd])
			close(descriptors[fd]);
	if (!good)
		return false;
	return interrupted(relay, end) ||
	       (agent_receive_first(relay->connection, 0, job, &first, failure) &&
		relay_run(relay, &first, &end->exit_code, &end->signal, failure));
}

static bool run_terminal(struct relay *relay, struct job *job, struct job_end *end,
			 struct failure *failure)
{
	struct agent_reply first;

	terminal_size(relay->terminal, &job->rows, &job->columns);
	if (!agent_exec(relay->connection, job, NULL, failure))
		return false;
	if (interrupted(relay, end))
		return true;
	if (!agent_receive_first(relay->connection, 0, job, &first, failure))
		return false;
	if (first.kind == AGENT_EXITED) {
		*end = (struct job_end){ .exit_code = first.exit_code, .signal = first.signal };
		return true;
	}
	relay->master = first.descriptor;

	// One open file description, two descriptors: each channel closes its own.
	const int writer = fcntl(relay->master, F_DUPFD_CLOEXEC, 0);
	if (writer < 0) {
		close(relay->master);
		return fail(failure, "duplicating the session's terminal: %s", strerror(errno));
	}
	if (!relay_add(relay, false, endpoint_own(relay->master),
		       endpoint_open(STDOUT_FILENO, O_WRONLY), failure)) {
		close(writer);
		return false;
	}
	relay->master = writer;
	if (!relay_add(relay, true, endpoint_open(STDIN_FILENO, O_RDONLY), endpoint_own(writer),
		       failure))
		return false;

	const bool good = relay_run(relay, &first, &end->exit_code, &end->signal, failure);
	terminal_restore();
	return good;
}

bool job_run(int connection, struct job *job, struct job_end *end, struct failure *failure)
{
	struct relay relay = {
		.connection = connection,
		.signals = -1,
		.terminal = terminal_find(),
		.master = -1,
	};
	sigset_t old;

	if (!relay_signals_open(&relay, &old, failure))
		return false;
	const bool good = job->terminal ? run_terminal(&relay, job, end, failure)
					: run_plain(&relay, job, end, failure);
	relay_close(&relay);
	relay_signals_close(&relay, &old);
	return good;
}
