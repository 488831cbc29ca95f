// lodger-gate: stands between sessions and their nix-daemon, and lets through what does no harm. Runs
// as a system user of its own, with no privilege at all; it parses what hostile sessions write, and
// speaks to a daemon that is root. Here is its start: options, socket, making sure that it has no
// privilege. See README.md.
#include <bsd/stdlib.h>
#include <bsd/unistd.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "listen.h"
#include "log.h"
#include "privilege.h"
#include "quantity.h"

// Where systemd hands over the first socket (sd_listen_fds(3)).
#define LISTEN_FD 3

#define ITEM_MAX (UINT64_C(64) * 1024 * 1024)
#define SESSION_MAX (UINT64_C(1) << 40)

static const char usage[] =
	"usage: lodger-gate [OPTION]…\n"
	"Filters what sessions ask of their nix-daemon. Started by systemd, with a socket.\n\n"
	"  --listen PATH     make the socket itself, and log to standard error\n"
	"  --daemon PATH     the daemon's socket (/run/lodger/packages/daemon/socket)\n"
	"  --roots DIR       where the channels' links are (/nix/var/nix/gcroots/lodger)\n"
	"  --item BYTES      most that a session may add at once (2M)\n"
	"  --session BYTES   most that it may add in all (64M)\n"
	"  --connections N   most connections of one session (16)\n"
	"  --version, --help\n";

static uint64_t bytes(const char *option, const char *word, uint64_t least, uint64_t most)
{
	struct failure failure;
	uint64_t value;

	if (!size_parse(option, word, &value, &failure))
		errx(EXIT_LODGER, "%s", failure.text);
	if (value < least || value > most)
		errx(EXIT_LODGER, "%s: '%s' is not from %llu to %llu bytes", option, word,
		     (unsigned long long)least, (unsigned long long)most);
	return value;
}

static uint64_t connections(const char *word)
{
	struct failure failure;
	uint64_t value;

	if (!count_parse("--connections", word, &value, &failure))
		errx(EXIT_LODGER, "%s", failure.text);
	if (value > LISTEN_WORKERS)
		errx(EXIT_LODGER, "--connections: '%s' is more than %u", word, LISTEN_WORKERS);
	return value;
}

static const char *absolute(const char *option, const char *word)
{
	if (word[0] != '/')
		errx(EXIT_LODGER, "%s: '%s' is not an absolute path", option, word);
	return word;
}

static void print_and_end(const char *text)
{
	fputs(text, stdout);
	exit(fflush(stdout) == 0 ? 0 : EXIT_LODGER);
}

// Returns the path to listen at, or NULL where there is a socket already.
static const char *options_read(int argc, char *argv[], struct gate *gate)
{
	static const struct option options[] = {
		{ "listen", required_argument, NULL, 'l' },
		{ "daemon", required_argument, NULL, 'd' },
		{ "roots", required_argument, NULL, 'r' },
		{ "item", required_argument, NULL, 'i' },
		{ "session", required_argument, NULL, 's' },
		{ "connections", required_argument, NULL, 'c' },
		{ "version", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *path = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'l')
			path = absolute("--listen", optarg);
		else if (option == 'd')
			gate->daemon = absolute("--daemon", optarg);
		else if (option == 'r')
			gate->roots = absolute("--roots", optarg);
		else if (option == 'i')
			gate->limits.item = bytes("--item", optarg, 1024, ITEM_MAX);
		else if (option == 's')
			gate->limits.session = bytes("--session", optarg, 1024, SESSION_MAX);
		else if (option == 'c')
			gate->limits.connections = connections(optarg);
		else if (option == 'v')
			print_and_end("lodger-gate " LODGER_VERSION "\n");
		else if (option == 'h')
			print_and_end(usage);
		else
			errx(EXIT_LODGER, "see lodger-gate --help");
	}
	if (optind < argc)
		errx(EXIT_LODGER, "'%s' is not an option; see lodger-gate --help", argv[optind]);
	return path;
}

// The socket that systemd made.
static int socket_inherited(void)
{
	const char *count = getenv("LISTEN_FDS"), *pid = getenv("LISTEN_PID"), *problem = NULL;
	int listening = 0, family = 0, type = 0;
	socklen_t size = sizeof(int);

	if (count == NULL || pid == NULL)
		errx(EXIT_LODGER, "nothing to listen at: --listen PATH, or systemd's socket");
	if (strcmp(count, "1") != 0 || strtonum(pid, 1, INT32_MAX, &problem) != getpid() ||
	    problem != NULL)
		errx(EXIT_LODGER, "LISTEN_FDS and LISTEN_PID do not name one socket for it");
	if (getsockopt(LISTEN_FD, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) < 0 ||
	    getsockopt(LISTEN_FD, SOL_SOCKET, SO_DOMAIN, &family, &size) < 0 ||
	    getsockopt(LISTEN_FD, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || listening == 0 ||
	    family != AF_UNIX || type != SOCK_STREAM)
		errx(EXIT_LODGER, "descriptor %d is not a local socket that listens", LISTEN_FD);
	if (fcntl(LISTEN_FD, F_SETFD, FD_CLOEXEC) < 0 || fcntl(LISTEN_FD, F_SETFL, O_NONBLOCK) < 0)
		err(EXIT_LODGER, "cannot prepare the socket");
	return LISTEN_FD;
}

int main(int argc, char *argv[])
{
	struct gate gate = {
		.daemon = LODGER_RUN "/packages/daemon/socket",
		.roots = "/nix/var/nix/gcroots/lodger",
		.limits = { .item = 2 << 20, .session = 64 << 20, .connections = 16 },
		.pid = getpid(),
	};
	const char *path = options_read(argc, argv, &gate), *what;
	int fd;

	privilege_refuse("lodger-gate");
	closefrom(path != NULL ? LISTEN_FD : LISTEN_FD + 1);
	// A client that is gone shows when it is written to.
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		err(EXIT_LODGER, "cannot ignore a signal");
	if (path != NULL) {
		fd = listen_make(path, &what);
		if (fd < 0)
			err(EXIT_LODGER, "%s: %s", path, what);
	} else {
		fd = socket_inherited();
	}
	clearenv();
	log_open(path != NULL);
	gate.accounts = budget_open();
	if (gate.accounts == NULL)
		err(EXIT_LODGER, "no memory for the sessions' accounts");
	listen_run(&gate, fd);
	if (path != NULL)
		(void)unlink(path);
	return 0;
}
