// The session's end of the host's proxy (proxy.h). Runs under the lodger's uid, as a child of the
// agent's that is as little dumpable. It decides nothing: what may be reached is decided on the host,
// where anything that a session does to this process changes nothing. It may not outlive the session,
// nor hold any of the agent's descriptors, its lock above all.
#include "proxy.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol.h"
#include "pump.h"

// npm opens up to 15 at a time, pip fewer; more wait. The host allows a session some more, so that those
// that are just over do not count (client/proxy).
#define CONNECTIONS 32
#define FD_LISTENER 3

static const char socket_path[] = PACKAGES_TARGET "/" PROXY_SOCKET;

// Whether no interface but loopback is up. In a session with the host's network (--net host) one is,
// and a listener would serve everybody on the host.
static bool network_is_own(void)
{
	struct ifaddrs *list;
	bool own = true;

	if (getifaddrs(&list) < 0)
		return false;
	for (const struct ifaddrs *one = list; one != NULL; one = one->ifa_next)
		own &= (one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0;
	freeifaddrs(list);
	return own;
}

int proxy_listen(void)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(PROXY_PORT),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	struct stat status;

	if (stat(socket_path, &status) < 0 || !S_ISSOCK(status.st_mode) || !network_is_own())
		return -1;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, CONNECTIONS) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

// By path each time, so that a host's proxy that was started anew is found again.
static bool host_connect(struct pump_pair *pair)
{
	static const struct sockaddr_un address = {
		.sun_family = AF_UNIX,
		.sun_path = PACKAGES_TARGET "/" PROXY_SOCKET,
	};

	pair->fds[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (pair->fds[1] < 0)
		return false;
	if (connect(pair->fds[1], (const struct sockaddr *)&address, sizeof(address)) == 0)
		return true;
	// Not there, or as many wait there as may.
	close(pair->fds[1]);
	return false;
}

PUMP(pump, CONNECTIONS, host_connect, NULL);

static void __attribute__((noreturn)) proxy_run(int listener)
{
	sigset_t all;

	// As in a keeper: 1 is /dev/null, and signals from inside the session disturb nothing, bar
	// SIGKILL and SIGSTOP. The lock, the tie and the session's socket are closed.
	sigfillset(&all);
	if (dup2(STDOUT_FILENO, STDIN_FILENO) < 0 || dup3(listener, FD_LISTENER, O_CLOEXEC) < 0)
		_exit(EXIT_FAILURE);
	closefrom(FD_LISTENER + 1);
	if (sigprocmask(SIG_SETMASK, &all, NULL) < 0 || setsid() < 0)
		_exit(EXIT_FAILURE);

	pump.listener = FD_LISTENER;
	pump_prepare(&pump);
	while (pump_turn(&pump, -1))
		continue;
	_exit(EXIT_FAILURE);
}

pid_t proxy_start(int listener)
{
	const pid_t pid = fork();

	if (pid == 0)
		proxy_run(listener);
	return pid;
}
