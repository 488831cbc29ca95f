// Accepting connections (listen.h): accepts, forks, counts. Reads not one byte of a client, and waits
// for nobody, so that no session can hold up another here.
#include "listen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"

// Processes that only tell a client why it gets no service: in all, and for one session. Beyond that
// the connection is closed without a word.
#define TURN_AWAY_ALL 128U
#define TURN_AWAY_EACH 4U
// Connections taken in one go, before processes that have ended are seen to.
#define ACCEPT_BURST 64U
// When there is no memory or descriptor for another, others may have ended by then.
#define ACCEPT_PAUSE_MS 100

struct worker {
	pid_t pid; // 0: a free place
	uint32_t session;
	bool turns_away;
};

struct count {
	uint16_t served, turned_away;
};

static struct {
	struct worker workers[LISTEN_WORKERS + TURN_AWAY_ALL];
	struct count sessions[SESSION_NUMBER_MAX + 1];
	unsigned int served, turned_away;
	int fd, signals;
	bool pause;
} listener;

static bool stale(const struct sockaddr_un *address)
{
	struct stat status;
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return lstat(address->sun_path, &status) == 0 && S_ISSOCK(status.st_mode) &&
	       status.st_uid == geteuid() && fd >= 0 &&
	       connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
	       errno == ECONNREFUSED;
}

int listen_make(const char *path, const char **what)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*what = "its path";
	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address.sun_path, path);
	*what = "making a socket";
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	*what = "binding the socket";
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 &&
	    (errno != EADDRINUSE || !stale(&address) || unlink(path) < 0 ||
	     bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)) {
		// Whatever the look at what is there has made of it.
		if (errno == 0 || errno == EAGAIN)
			errno = EADDRINUSE;
		close(fd);
		return -1;
	}
	*what = "listening";
	if (chmod(path, 0666) < 0 || listen(fd, SOMAXCONN) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static struct worker *place_free(void)
{
	for (size_t i = 0; i < sizeof(listener.workers) / sizeof(listener.workers[0]); i++) {
		if (listener.workers[i].pid == 0)
			return &listener.workers[i];
	}
	return NULL;
}

static void place_count(const struct worker *worker, int change)
{
	struct count *count = &listener.sessions[worker->session];

	if (worker->turns_away) {
		listener.turned_away += (unsigned int)change;
		count->turned_away = (uint16_t)(count->turned_away + change);
	} else {
		listener.served += (unsigned int)change;
		count->served = (uint16_t)(count->served + change);
	}
}

static void reap(void)
{
	struct worker *const end = listener.workers + LISTEN_WORKERS + TURN_AWAY_ALL;
	int status;

	for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0;
	     pid = waitpid(-1, &status, WNOHANG)) {
		struct worker *worker = listener.workers;

		while (worker < end && worker->pid != pid)
			worker++;
		if (worker == end)
			continue;
		if (WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM)
			log_line(LOG_PROBLEM, "a worker of uid %u has been ended by signal %d",
				 SESSION_UID_BASE + worker->session, WTERMSIG(status));
		place_count(worker, -1);
		worker->pid = 0;
	}
}

// Sets who it is and whether there is service.
static void caller_look(const struct gate *gate, struct caller *caller)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t size = sizeof(peer);

	if (getsockopt(caller->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		peer.uid = (uid_t)-1;
	caller->uid = peer.uid;
	caller->session = 0;
	caller->turned_away = NULL;
	if (peer.uid > SESSION_UID_BASE && peer.uid <= SESSION_UID_BASE + SESSION_NUMBER_MAX)
		caller->session = peer.uid - SESSION_UID_BASE;

	if (caller->session == 0)
		caller->turned_away = "only sessions are served here (lodger run); outside, use "
				      "the machine's own nix";
	else if (listener.sessions[caller->session].served >= gate->limits.connections)
		caller->turned_away = "this session has as many connections to the package daemon "
				      "as it may have; end something that uses nix, and try again";
	else if (listener.served >= LISTEN_WORKERS)
		caller->turned_away = "the package daemon has as many connections as it takes; "
				      "try again later";
}

static void worker_start(const struct gate *gate, struct caller *caller)
{
	struct worker *worker = place_free();
	const struct count *count = &listener.sessions[caller->session];
	struct pollfd gone = { .fd = caller->fd };

	// Not worth a process.
	if (poll(&gone, 1, 0) > 0 && (gone.revents & POLLHUP) != 0)
		return;
	if (caller->turned_away != NULL &&
	    (listener.turned_away >= TURN_AWAY_ALL || count->turned_away >= TURN_AWAY_EACH))
		return;
	if (worker == NULL)
		return;

	const pid_t pid = fork();
	if (pid == 0) {
		sigset_t none;

		close(listener.fd);
		close(listener.signals);
		sigemptyset(&none);
		if (sigprocmask(SIG_SETMASK, &none, NULL) < 0)
			_exit(EXIT_FAILURE);
		worker_run(gate, caller);
	}
	if (pid < 0) {
		log_line(LOG_PROBLEM, "cannot start a worker: %s", strerror(errno));
		listener.pause = true;
		return;
	}
	*worker = (struct worker){ pid, caller->session, caller->turned_away != NULL };
	place_count(worker, 1);
}

static void accept_some(const struct gate *gate)
{
	for (unsigned int i = 0; i < ACCEPT_BURST; i++) {
		autoclose int fd = accept4(listener.fd, NULL, NULL, SOCK_CLOEXEC);
		struct caller caller = { .fd = fd };

		if (fd < 0) {
			listener.pause = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
			return;
		}
		caller_look(gate, &caller);
		if (caller.session != 0)
			budget_renew(gate->accounts, LODGER_SESSIONS, caller.session);
		worker_start(gate, &caller);
	}
}

// Returns false when it is to end.
static bool signals_read(void)
{
	struct signalfd_siginfo info;

	while (read(listener.signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			return false;
	}
	reap();
	return true;
}

static void end(void)
{
	for (size_t i = 0; i < sizeof(listener.workers) / sizeof(listener.workers[0]); i++) {
		if (listener.workers[i].pid != 0)
			(void)kill(listener.workers[i].pid, SIGKILL);
	}
	while (waitpid(-1, NULL, 0) > 0)
		continue;
}

void listen_run(const struct gate *gate, int fd)
{
	sigset_t signals;
	bool on = true;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	listener.fd = fd;
	listener.signals = -1;
	if (sigprocmask(SIG_SETMASK, &signals, NULL) == 0)
		listener.signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (listener.signals < 0) {
		log_line(LOG_PROBLEM, "cannot watch signals: %s", strerror(errno));
		return;
	}
	while (on) {
		struct pollfd wait[] = {
			{ .fd = listener.signals, .events = POLLIN },
			{ .fd = listener.pause ? -1 : fd, .events = POLLIN },
		};
		const int timeout = listener.pause ? ACCEPT_PAUSE_MS : -1;

		listener.pause = false;
		if (poll(wait, 2, timeout) < 0)
			continue;
		if (wait[0].revents != 0)
			on = signals_read();
		if (on && wait[1].revents != 0)
			accept_some(gate);
	}
	end();
}
