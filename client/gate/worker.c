// A worker (worker.h). Has the gate's uid and no privilege. What happens to it happens to one
// connection: it holds no lock and shares nothing but the table of accounts.
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "filter.h"
#include "log.h"

// Memory beside the buffer of a request: the program, the table of accounts, the channels' lists.
#define MEMORY_REST (UINT64_C(64) * 1024 * 1024 + (uint64_t)CLOSURE_LISTS * CLOSURE_SIZE)
#define MEMORY_DATA (UINT64_C(16) * 1024 * 1024)
// A daemon with many connections waiting answers late (it has a queue of five); one that takes longer
// is as good as gone.
#define CONNECT_SECONDS 60
// Whoever is turned away has that long to hear of it.
#define TURN_AWAY_SECONDS 10

static void __attribute__((noreturn)) fail(const char *what)
{
	log_line(LOG_PROBLEM, "a worker cannot start: %s: %s", what, strerror(errno));
	_exit(EXIT_FAILURE);
}

static void limit(int resource, uint64_t value)
{
	const struct rlimit limits = { value, value };

	// Fails where the hard limit is lower already.
	(void)setrlimit((__rlimit_resource_t)resource, &limits);
}

static void worker_confine(const struct gate *gate)
{
	const uint64_t buffer = REQUEST_ROOM + gate->limits.item;

	// Ends with the gate, however that ends.
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != gate->pid ||
	    prctl(PR_SET_DUMPABLE, 0) < 0)
		fail("preparing");
	limit(RLIMIT_AS, buffer + MEMORY_REST);
	limit(RLIMIT_DATA, buffer + MEMORY_DATA);
	limit(RLIMIT_NOFILE, 16);
	limit(RLIMIT_NPROC, 0);
	// Where core_pattern is a pipe, 1 keeps its handler from being run, and 0 does not (core(5)).
	limit(RLIMIT_CORE, 1);
}

static bool client_gone(int client)
{
	struct pollfd gone = { .fd = client };

	return poll(&gone, 1, 0) > 0 && (gone.revents & POLLHUP) != 0;
}

// Connects the daemon's wire, or has it say what the trouble is.
static void daemon_connect(struct wire *wire, const char *path, int client)
{
	const struct timeval second = { .tv_sec = 1 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int result = -1;

	wire_open(wire, fd, client);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	// The time to send is also the time to connect (unix_stream_connect of the kernel).
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second)) < 0)
		fail("the daemon's socket");
	for (int tries = 0; result < 0 && tries < CONNECT_SECONDS; tries++) {
		if (client_gone(client))
			_exit(EXIT_SUCCESS);
		result = connect(fd, (const struct sockaddr *)&address, sizeof(address));
		if (result < 0 && errno != EAGAIN)
			break;
	}
	if (result < 0)
		wire_fail(wire, errno == EAGAIN ? "does not answer" : "is not running");
	else if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		fail("the daemon's socket");
}

static void connection_open(struct connection *connection, const struct gate *gate,
			    const struct caller *caller)
{
	const size_t room = (size_t)(REQUEST_ROOM + gate->limits.item);
	void *buffer = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buffer == MAP_FAILED || fcntl(caller->fd, F_SETFL, O_NONBLOCK) < 0)
		fail("memory for requests");
	request_open(&connection->request, buffer, room, (size_t)gate->limits.item);
	connection->limits = &gate->limits;
	connection->uid = caller->uid;
	if (caller->session != 0)
		session_name(caller->session, connection->name);
	connection->account = &gate->accounts[caller->session];
	connection->turned_away = caller->turned_away;
	connection->store = -1;
	wire_open(&connection->client, caller->fd, -1);
	if (caller->turned_away == NULL) {
		daemon_connect(&connection->daemon, gate->daemon, caller->fd);
		connection->store =
			open(PATHS_STORE, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		closure_open(&connection->closure, gate->roots, connection->store);
	} else {
		// At its default, that signal ends the process.
		alarm(TURN_AWAY_SECONDS);
	}
}

void worker_run(const struct gate *gate, const struct caller *caller)
{
	static struct connection connection;

	worker_confine(gate);
	connection_open(&connection, gate, caller);
	if (filter_load() < 0)
		fail("the system call filter");
	connection_serve(&connection);
	_exit(EXIT_SUCCESS);
}
