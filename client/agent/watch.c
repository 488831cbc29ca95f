// PID 1 of a session: accepts connections and gives each to a keeper, reaps orphans, and ends the
// session: when its time is over, when what it is tied to goes away, when root says so (watch.h).
// Runs under the lodger's uid. It may not block, nor read anything that a client or the session
// wrote: it sees peers' uids, its keepers' notices and exit statuses, and hang-ups, no more.
#include "watch.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "environment.h"
#include "keeper.h"
#include "packet.h"
#include "protocol.h"
#include "proxy.h"
#include "session.h"

#define CONNECTIONS_MAX 64
// What a keeper may take to end a job after its time or its client is gone: a second of grace, two
// of killing. After that it has been stopped, or cannot keep pace.
#define BACKSTOP_USEC 3500000U
#define NEVER UINT64_MAX
// Zombies reaped at one go, so that a session that forks without end does not keep the agent busy
// past its deadline.
#define REAP_MAX 256
// How long to leave connections waiting when there is no memory or descriptor for one.
#define ACCEPT_PAUSE_MS 100
// The session's processes can kill the proxy's; it is started again after this time.
#define PROXY_PAUSE_USEC 1000000U
// Replies are short. More than these bytes unread, and the client counts as not reading.
#define SEND_BUFFER 8192

struct keeper {
	pid_t pid;	  // 0: this slot is free
	int connection;	  // a copy, to report a keeper's violent death and to notice the client's
	int control;	  // notices come, answers go
	pid_t command;	  // 0: no job yet
	bool orphaned;	  // the command has been reaped here: its number may be another's
	bool hung_up;	  // the client is gone
	uint64_t timeout; // clock_usec() at which the job's time is over
	uint64_t due;	  // when the agent steps in
};

static struct {
	struct session session;
	struct keeper keepers[CONNECTIONS_MAX];
	bool tied;
	bool reap_again;
	bool pause_accept;
	int signals;
	int timer;
	int proxy_listener; // -1: the host has no proxy for sessions
	pid_t proxy;
	uint64_t proxy_due; // when to start it, if it does not run
} watch;

static void __attribute__((noreturn)) session_end(void)
{
	_exit(EXIT_SUCCESS);
}

static void keeper_forget(struct keeper *keeper)
{
	close(keeper->connection);
	close(keeper->control);
	*keeper = (struct keeper){ .pid = 0, .connection = -1, .control = -1 };
}

// A connection that gets no keeper is told why.
static void connection_turn_away(int connection, code code, const char *reason)
{
	struct refusal refusal;

	refuse(&refusal, code, "%s", reason);
	(void)reply_refusal(connection, &refusal);
	packet_drain(connection);
}

static bool peer_is_owner(int connection)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == watch.session.owner || peer.uid == 0);
}

static struct keeper *keeper_slot(void)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		if (watch.keepers[i].pid == 0)
			return &watch.keepers[i];
	}
	return NULL;
}

static void keeper_start(struct keeper *keeper, int connection)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		connection_turn_away(connection, CODE(RESOURCE), "the session has no memory left");
		close(connection);
		return;
	}

	pid_t pid = fork();
	if (pid == 0)
		keeper_run(watch.session.number, connection, pair[1]);
	close(pair[1]);
	if (pid < 0) {
		connection_turn_away(connection, CODE(RESOURCE),
				     "cannot start a process: the session has as many as it may "
				     "have, or no memory left; end some");
		close(connection);
		close(pair[0]);
		return;
	}
	*keeper = (struct keeper){
		.pid = pid,
		.connection = connection,
		.control = pair[0],
		.timeout = NEVER,
		.due = NEVER,
	};
}

static void connection_accept(void)
{
	const int size = SEND_BUFFER;
	int connection = accept4(AGENT_FD_LISTEN, NULL, NULL, SOCK_CLOEXEC);

	if (connection < 0) {
		// Gone again, or nothing to hold it with.
		watch.pause_accept = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
		return;
	}
	if (!peer_is_owner(connection)) {
		close(connection);
		return;
	}
	// A failure leaves a larger buffer, to the harm of none but the owner.
	(void)setsockopt(connection, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));

	struct keeper *keeper = keeper_slot();
	if (keeper != NULL) {
		keeper_start(keeper, connection);
		return;
	}
	connection_turn_away(connection, CODE(BUSY),
			     "the session has as many connections as it takes at once; try again "
			     "when one has ended");
	close(connection);
}

static uint32_t job_count(void)
{
	uint32_t count = 0;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		count += watch.keepers[i].command != 0;
	return count;
}

static void session_untie(void)
{
	// Held by /dev/null from now on, so that nothing else gets this number.
	watch.tied = dup2(STDOUT_FILENO, AGENT_FD_TIE) != AGENT_FD_TIE;
}

static void keeper_notice(struct keeper *keeper)
{
	struct notice notice;
	const uint64_t now = clock_usec();
	const uint64_t boot_now = clock_boot_usec();

	if (recv(keeper->control, &notice, sizeof(notice), MSG_DONTWAIT) != sizeof(notice))
		return;
	if (notice.kind == NOTICE_JOB) {
		keeper->command = notice.command;
		if (notice.timeout_ms > 0) {
			keeper->timeout = now + notice.timeout_ms * 1000U;
			keeper->due = keeper->timeout + BACKSTOP_USEC;
		}
		return;
	}
	if (notice.kind == NOTICE_KEEP)
		session_untie();
	// Keepers are forked from here.
	if (notice.auto_off)
		environment_auto_off();

	const struct answer answer = {
		.jobs = job_count(),
		.tied = watch.tied,
		.remaining_ms = watch.session.deadline > boot_now
					? (watch.session.deadline - boot_now) / 1000U
					: 0,
	};
	// A keeper that cannot take it is dead or stopped, and has its own troubles.
	(void)send(keeper->control, &answer, sizeof(answer), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void keeper_hung_up(struct keeper *keeper)
{
	const uint64_t due = clock_usec() + BACKSTOP_USEC;

	keeper->hung_up = true;
	if (due < keeper->due)
		keeper->due = due;
}

// Kills the process group of a job. The keeper keeps its command as a zombie, so the number is good
// as long as the command has not become an orphan and been reaped as such.
static void job_kill(const struct keeper *keeper)
{
	if (keeper->command > 1 && !keeper->orphaned)
		(void)kill(-keeper->command, SIGKILL);
}

// A keeper has not ended what it had to end.
static void keeper_step_in(struct keeper *keeper, uint64_t now)
{
	if (now >= keeper->timeout) {
		// The job's descendants cannot be told from others without the keeper. That a job
		// is over when its time is, is what was promised; it is a job that stops keepers or
		// forks faster than they kill that brings this on its session.
		(void)kill(-1, SIGKILL);
	} else {
		job_kill(keeper);
		(void)kill(keeper->pid, SIGKILL);
	}
	// Should it not die now (it waits for a file server, say), say it again later.
	keeper->due = now + BACKSTOP_USEC;
}

static void keeper_ended(struct keeper *keeper, int status)
{
	// A keeper that exits has told the client all. This one was killed, and its job ends with
	// it.
	if (WIFSIGNALED(status) && keeper->command != 0) {
		job_kill(keeper);
		(void)reply_exited(keeper->connection, 0, WTERMSIG(status),
				   clock_usec() >= keeper->timeout);
	} else if (WIFSIGNALED(status)) {
		connection_turn_away(keeper->connection, CODE(RESOURCE),
				     "the process that served this connection has been killed");
	}
	keeper_forget(keeper);
}

static void proxy_keep(void)
{
	if (watch.proxy_listener < 0 || watch.proxy > 0 || clock_usec() < watch.proxy_due)
		return;
	watch.proxy = proxy_start(watch.proxy_listener);
	watch.proxy_due = clock_usec() + PROXY_PAUSE_USEC;
}

static void reap(void)
{
	int status;

	watch.reap_again = false;
	for (int i = 0; i < REAP_MAX; i++) {
		pid_t pid = waitpid(-1, &status, WNOHANG);

		if (pid <= 0)
			return;
		if (pid == watch.proxy)
			watch.proxy = 0;
		for (size_t slot = 0; slot < CONNECTIONS_MAX; slot++) {
			if (watch.keepers[slot].pid == pid)
				keeper_ended(&watch.keepers[slot], status);
			else if (watch.keepers[slot].command == pid)
				watch.keepers[slot].orphaned = true;
		}
	}
	watch.reap_again = true;
}

// SIGTERM ends the session when it comes from outside, where root alone may send it. Processes
// inside can send it too, for a blocked signal is queued even to PID 1; but not without their pid,
// which from outside is 0 (pid_namespaces(7)).
static void signals_read(void)
{
	struct signalfd_siginfo info[8];
	ssize_t size = read(watch.signals, info, sizeof(info));

	for (size_t i = 0; size > 0 && i < (size_t)size / sizeof(info[0]); i++) {
		if (info[i].ssi_signo == SIGTERM && info[i].ssi_code == SI_USER &&
		    info[i].ssi_pid == 0 && info[i].ssi_uid == 0)
			session_end();
	}
}

static int poll_timeout(void)
{
	const uint64_t now = clock_usec();
	uint64_t due = NEVER;

	if (watch.reap_again)
		return 0;
	if (watch.pause_accept)
		due = now + ACCEPT_PAUSE_MS * 1000U;
	if (watch.proxy_listener >= 0 && watch.proxy <= 0 && watch.proxy_due < due)
		due = watch.proxy_due;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		if (watch.keepers[i].pid != 0 && watch.keepers[i].due < due)
			due = watch.keepers[i].due;
	}
	if (due == NEVER)
		return -1;
	if (due <= now)
		return 0;
	// Longer waits come round again.
	return due - now >= 3600 * UINT64_C(1000000) ? 3600 * 1000 : (int)((due - now) / 1000U) + 1;
}

static void keepers_serve(const struct pollfd *connections, const struct pollfd *controls)
{
	const uint64_t now = clock_usec();

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct keeper *keeper = &watch.keepers[i];

		if (keeper->pid == 0)
			continue;
		if ((controls[i].revents & POLLIN) != 0)
			keeper_notice(keeper);
		if (connections[i].revents != 0)
			keeper_hung_up(keeper);
		if (now >= keeper->due)
			keeper_step_in(keeper, now);
	}
}

static void watch_prepare(const struct session *session)
{
	const struct itimerspec deadline = {
		.it_value = {
			.tv_sec = (time_t)(session->deadline / 1000000U),
			// Not zero, which would disarm the timer.
			.tv_nsec = (long)(session->deadline % 1000000U) * 1000 + 1,
		},
	};
	sigset_t signals;

	watch.session = *session;
	watch.tied = true;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		watch.keepers[i].connection = watch.keepers[i].control = -1;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	if (sigprocmask(SIG_SETMASK, &signals, NULL) < 0)
		err(EXIT_FAILURE, "cannot block signals");
	watch.signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (watch.signals < 0)
		err(EXIT_FAILURE, "cannot watch signals");
	watch.timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (watch.timer < 0 || timerfd_settime(watch.timer, TFD_TIMER_ABSTIME, &deadline, NULL) < 0)
		err(EXIT_FAILURE, "cannot set the session's deadline");
	if (fcntl(AGENT_FD_LISTEN, F_SETFL, O_NONBLOCK) < 0)
		err(EXIT_FAILURE, "cannot prepare the session's socket");

	watch.proxy_listener = proxy_listen();
	if (watch.proxy_listener >= 0)
		environment_proxy_on();
}

void watch_run(const struct session *session)
{
	enum { TIE, LISTEN, SIGNALS, TIMER, CONNECTIONS, CONTROLS = CONNECTIONS + CONNECTIONS_MAX };
	struct pollfd wait[CONTROLS + CONNECTIONS_MAX];

	watch_prepare(session);
	for (;;) {
		proxy_keep();
		const int timeout = poll_timeout();

		// A negative descriptor is passed over. No events: hang-ups are always told.
		wait[TIE] = (struct pollfd){ .fd = watch.tied ? AGENT_FD_TIE : -1 };
		wait[LISTEN] = (struct pollfd){ .fd = watch.pause_accept ? -1 : AGENT_FD_LISTEN,
						.events = POLLIN };
		wait[SIGNALS] = (struct pollfd){ .fd = watch.signals, .events = POLLIN };
		wait[TIMER] = (struct pollfd){ .fd = watch.timer, .events = POLLIN };
		for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
			const struct keeper *keeper = &watch.keepers[i];

			wait[CONNECTIONS + i] = (struct pollfd){
				.fd = keeper->hung_up ? -1 : keeper->connection,
			};
			wait[CONTROLS + i] =
				(struct pollfd){ .fd = keeper->control, .events = POLLIN };
		}
		watch.pause_accept = false;

		// Cannot fail but for want of memory, without which it is not worth going on.
		if (poll(wait, sizeof(wait) / sizeof(wait[0]), timeout) < 0 && errno != EINTR)
			session_end();
		if (wait[TIE].revents != 0 || wait[TIMER].revents != 0)
			session_end();
		if (wait[SIGNALS].revents != 0)
			signals_read();
		keepers_serve(wait + CONNECTIONS, wait + CONTROLS);
		reap();
		if (wait[LISTEN].revents != 0)
			connection_accept();
	}
}
