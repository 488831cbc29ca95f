// A keeper serves one connection: it reads the client's packets, decodes them, starts the job and
// sees it to its end (keeper.h). A child of the agent's, under the lodger's uid, not dumpable.
//
// It exists so that the agent never touches what a client sends: not its bytes, and not its
// descriptors, for merely closing one can block for ever (a file on a file server that hangs, or on
// a FUSE server of the owner's). What happens to a keeper happens to one connection. The session's
// processes may kill or stop it, for it has their uid; then the agent makes an end (watch.c).
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "job.h"
#include "packet.h"

// Where a keeper has its descriptors; 0, 1 and 2 are /dev/null.
enum {
	FD_CONNECTION = 3,
	FD_CONTROL = 4,
	FD_CHILD_SIGNALS = 5,
};

static void __attribute__((noreturn)) finish(void)
{
	packet_drain(FD_CONNECTION);
	_exit(EXIT_SUCCESS);
}

static void __attribute__((noreturn)) finish_refused(const struct refusal *refusal)
{
	// Gone or not reading: then nobody wants to know.
	(void)reply_refusal(FD_CONNECTION, refusal);
	finish();
}

static void __attribute__((noreturn)) fail(const char *what)
{
	struct refusal refusal;

	refuse(&refusal, CODE(RESOURCE), "%s: %s", what, strerror(errno));
	finish_refused(&refusal);
}

// Signals from inside the session must not disturb a keeper, bar SIGKILL and SIGSTOP.
static void keeper_prepare(int connection, int control)
{
	sigset_t all, child;

	sigfillset(&all);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);

	// Both come from above 4, so neither is overwritten before it is copied; 1 is /dev/null.
	if (dup2(STDOUT_FILENO, STDIN_FILENO) < 0 ||
	    dup3(connection, FD_CONNECTION, O_CLOEXEC) < 0 ||
	    dup3(control, FD_CONTROL, O_CLOEXEC) < 0)
		_exit(EXIT_FAILURE);
	closefrom(FD_CONTROL + 1);

	if (sigprocmask(SIG_SETMASK, &all, NULL) < 0 || setsid() < 0 ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		fail("cannot prepare to serve the connection");
	// The lowest free number.
	if (signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK) != FD_CHILD_SIGNALS)
		fail("cannot watch for the end of processes");
}

static void tell_agent(const struct notice *notice)
{
	// Without an agent there is no session: it must just have ended.
	if (send(FD_CONTROL, notice, sizeof(*notice), MSG_NOSIGNAL) != sizeof(*notice))
		_exit(EXIT_FAILURE);
}

static void ask_agent(const struct notice *notice, struct answer *answer)
{
	tell_agent(notice);
	if (recv(FD_CONTROL, answer, sizeof(*answer), 0) != sizeof(*answer))
		_exit(EXIT_FAILURE);
}

// Takes one packet while a job runs. Only signals are in order then. Returns false when the
// connection is to be given up.
static bool job_packet(const struct job *job)
{
	struct packet packet;
	struct order order;
	struct refusal refusal;
	enum packet_result result = packet_receive(FD_CONNECTION, &packet, &refusal);

	if (result == PACKET_CLOSED)
		return false;
	if (result == PACKET_WHOLE &&
	    order_decode(packet.data, packet.size, packet.descriptor_count, &order, &refusal)) {
		if (order.kind == ORDER_SIGNAL) {
			job_signal(job, order.signal);
			return true;
		}
		refuse(&refusal, CODE(REQUEST),
		       "a job runs on this connection; it takes signals only");
	}
	(void)reply_refusal(FD_CONNECTION, &refusal);
	return false;
}

static int until(uint64_t end, enum job_reaped reaped)
{
	const uint64_t now = clock_usec();

	if (reaped == JOB_MORE || now >= end)
		return 0;
	// Rounded up, lest it spin through the last millisecond. Longer waits come round again.
	return end - now >= 3600 * UINT64_C(1000000) ? 3600 * 1000 : (int)((end - now) / 1000U) + 1;
}

static void __attribute__((noreturn)) job_watch(struct job *job, uint64_t end)
{
	struct pollfd wait[] = {
		{ .fd = FD_CONNECTION, .events = POLLIN },
		{ .fd = FD_CHILD_SIGNALS, .events = POLLIN },
	};
	enum job_reaped reaped = JOB_RUNNING;
	char drained[1024];
	int status, signal;

	for (;;) {
		// No signal can interrupt it: without memory for it, the job has to go.
		if (poll(wait, 2, until(end, reaped)) < 0) {
			job_hang_up(job);
			fail("cannot wait for the job");
		}
		// Before its end is looked at: a group that the client hangs up has its grace, also
		// when the command dies of the hang-up at once.
		if (wait[0].revents != 0 && !job_packet(job)) {
			job_hang_up(job);
			finish();
		}
		if (wait[1].revents != 0)
			(void)!read(FD_CHILD_SIGNALS, drained, sizeof(drained));

		reaped = job_reap(job, &status, &signal);
		if (reaped == JOB_ENDED)
			break;
		if (clock_usec() >= end) {
			job_end(job, FD_CHILD_SIGNALS, &status, &signal);
			(void)reply_exited(FD_CONNECTION, status, signal, true);
			finish();
		}
	}
	(void)reply_exited(FD_CONNECTION, status, signal, false);
	finish();
}

static void __attribute__((noreturn))
job_serve(uint32_t number, const struct exec_order *exec, const int *descriptors)
{
	struct job job;
	struct refusal refusal;
	uint64_t end = UINT64_MAX;

	if (exec->timeout_ms > 0)
		end = clock_usec() + exec->timeout_ms * 1000U;
	if (!job_fork(number, exec, descriptors, &job, &refusal))
		finish_refused(&refusal);
	tell_agent(&(struct notice){
		.kind = NOTICE_JOB,
		.command = job.command,
		.timeout_ms = exec->timeout_ms,
	});
	if (!job_confirm(&job, exec, &refusal))
		finish_refused(&refusal);
	order_forget();

	if (!reply_started(FD_CONNECTION, job.command, job.master)) {
		job_hang_up(&job);
		finish();
	}
	job_watch(&job, end);
}

void keeper_run(uint32_t number, int connection, int control)
{
	struct packet packet;
	struct order order;
	struct refusal refusal;
	struct answer answer;
	bool read_on = true;

	keeper_prepare(connection, control);
	while (read_on) {
		enum packet_result result = packet_receive(FD_CONNECTION, &packet, &refusal);

		if (result == PACKET_CLOSED)
			finish();
		if (result == PACKET_REFUSED ||
		    !order_decode(packet.data, packet.size, packet.descriptor_count, &order,
				  &refusal))
			finish_refused(&refusal);

		switch (order.kind) {
		case ORDER_EXEC:
			job_serve(number, &order.exec, packet.descriptors);
		case ORDER_SIGNAL:
			refuse(&refusal, CODE(REQUEST), "no job runs on this connection");
			finish_refused(&refusal);
		case ORDER_KEEP:
			ask_agent(
				&(struct notice){ .kind = NOTICE_KEEP, .auto_off = order.auto_off },
				&answer);
			read_on = reply_done(FD_CONNECTION);
			break;
		case ORDER_STATUS:
			ask_agent(&(struct notice){ .kind = NOTICE_STATUS }, &answer);
			read_on = reply_state(FD_CONNECTION, answer.jobs, answer.tied,
					      answer.remaining_ms);
			break;
		}
	}
	finish();
}
