// lodger-relay: the host's end of the proxy of sessions, in front of squid. Runs as a system user of its
// own, with no privilege at all, started by lodger-proxy. Here is its start: arguments, key, socket,
// making sure that it has no privilege. See README.md.
#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <err.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "failure.h"
#include "frame.h"
#include "privilege.h"
#include "relay.h"

static uint16_t port_read(const char *text)
{
	const char *problem = NULL;
	const long long port = strtonum(text, 1, UINT16_MAX, &problem);

	if (problem != NULL)
		errx(EXIT_LODGER, "squid's port: '%s' is %s", text, problem);
	return (uint16_t)port;
}

// Not by an argument or the environment, which others might see.
static void key_read(struct relay_key *key)
{
	char text[64];
	const ssize_t length = frame_read_full(STDIN_FILENO, text, sizeof(text) - 1);

	text[length > 0 ? length : 0] = '\0';
	if (!relay_key_parse(text, key))
		errx(EXIT_LODGER,
		     "the key on standard input is not \"ADDRESS PORT\"; lodger-proxy writes it");
	explicit_bzero(text, sizeof(text));
}

static int socket_make(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlcpy(address.sun_path, path, sizeof(address.sun_path)) >= sizeof(address.sun_path))
		errx(EXIT_LODGER, "the socket's path is longer than %zu: %s",
		     sizeof(address.sun_path) - 1, path);
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, SOMAXCONN) < 0 || chmod(path, 0666) < 0)
		err(EXIT_LODGER, "making the socket %s", path);
	return fd;
}

// Two descriptors for each connection, as many as may be.
static void descriptors_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		err(EXIT_LODGER, "cannot read the limit of descriptors");
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		err(EXIT_LODGER, "cannot raise the limit of descriptors");
}

int main(int argc, char *argv[])
{
	struct relay_key key;

	if (argc != 3)
		errx(EXIT_LODGER,
		     "usage: lodger-relay SOCKET PORT <KEY; it is for lodger-proxy to start");
	// Its memory has the key.
	privilege_refuse("lodger-proxy");
	closefrom(STDERR_FILENO + 1);
	// Not to outlive lodger-proxy. That setpriv(1) has asked for it is forgotten where AppArmor gives
	// this program its profile.
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		err(EXIT_LODGER, "cannot ask to be ended with lodger-proxy");
	const uint16_t port = port_read(argv[2]);
	key_read(&key);
	descriptors_raise();
	relay_run(socket_make(argv[1]), port, &key);
	err(EXIT_LODGER, "cannot wait for connections");
}
