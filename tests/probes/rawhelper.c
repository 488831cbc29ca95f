// Starts lodger-helper as a hostile caller would, with what the options say, and prints how it
// ended ("exit N", "signal N", "signal N, core dumped", "hangs") and what it answered ("code NAME field F session N" and the
// message on a line of its own).
//
// The request, one of: --create[=KEY=N,KEY=N…] --destroy=N --collect --hex=PAYLOAD; and about it:
//   --version=N       the version field (1)
//   --suffix=HEX      bytes behind the message, inside the frame
//   --after=HEX       bytes behind the frame
//   --length=N        the length that is announced
//   --cut=N           only the first N bytes of the frame are written
//   --twice           the frame is sent twice
//   --silent          and then the pipe stays open
//   --drip            a byte every 700 ms
//   --deaf            nobody reads the reply
//   --full            the reply's pipe is full
//   --seconds=N       how long to wait (20)
// The caller's state: --fd=N:WHAT (closed, null, terminal, directory, mem, uid_map, swapped, PATH)
//   --program=PATH --arg=WORD… --no-args --limit=NAME:N --umask=N --ignore --block --timer=USEC
//   --no-new-privs --leader --traced --many-descriptors --directory=PATH --slack=NSEC
//   --pending         every signal blocked and one of each pending
// What it does to the helper meanwhile:
//   --signal=N:USEC   sends it a signal so long after its start; with "hangs" SIGKILL follows
//   --storm           once it has become root, sends it every signal until it ends, and prints
//                     "storm DELIVERED of SENT"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rawhelper.h"

static const struct option options[] = {
	{ "create", optional_argument, NULL, 'c' },
	{ "destroy", required_argument, NULL, 'd' },
	{ "collect", no_argument, NULL, 'o' },
	{ "hex", required_argument, NULL, 'x' },
	{ "version", required_argument, NULL, 'v' },
	{ "suffix", required_argument, NULL, 's' },
	{ "length", required_argument, NULL, 'l' },
	{ "after", required_argument, NULL, 'a' },
	{ "cut", required_argument, NULL, 'k' },
	{ "twice", no_argument, NULL, '2' },
	{ "silent", no_argument, NULL, 'q' },
	{ "drip", no_argument, NULL, 'r' },
	{ "deaf", no_argument, NULL, 'D' },
	{ "full", no_argument, NULL, 'F' },
	{ "seconds", required_argument, NULL, 'S' },
	{ "fd", required_argument, NULL, 'f' },
	{ "program", required_argument, NULL, 'p' },
	{ "arg", required_argument, NULL, 'A' },
	{ "no-args", no_argument, NULL, 'N' },
	{ "limit", required_argument, NULL, 'L' },
	{ "umask", required_argument, NULL, 'u' },
	{ "ignore", no_argument, NULL, 'I' },
	{ "block", no_argument, NULL, 'B' },
	{ "timer", required_argument, NULL, 'T' },
	{ "no-new-privs", no_argument, NULL, 'P' },
	{ "leader", no_argument, NULL, 'G' },
	{ "traced", no_argument, NULL, 't' },
	{ "many-descriptors", no_argument, NULL, 'm' },
	{ "directory", required_argument, NULL, 'C' },
	{ "signal", required_argument, NULL, 'g' },
	{ "storm", no_argument, NULL, 'W' },
	{ "slack", required_argument, NULL, 'K' },
	{ "pending", no_argument, NULL, 'R' },
	{ 0 },
};

static const struct {
	const char *name;
	int resource;
} limits[] = {
	{ "AS", RLIMIT_AS },	       { "DATA", RLIMIT_DATA },
	{ "STACK", RLIMIT_STACK },     { "FSIZE", RLIMIT_FSIZE },
	{ "NOFILE", RLIMIT_NOFILE },   { "NPROC", RLIMIT_NPROC },
	{ "CPU", RLIMIT_CPU },	       { "CORE", RLIMIT_CORE },
	{ "MEMLOCK", RLIMIT_MEMLOCK }, { "SIGPENDING", RLIMIT_SIGPENDING },
};

static uint8_t frame[70000];
static size_t frame_size;
static bool twice, silent, drip, deaf, full, traced, no_args, storm;
static int seconds = 20, signal_number, signal_usec;
static unsigned long storm_sent, storm_delivered;
static const char *program = "/usr/local/libexec/lodger/lodger-helper";
static char *arguments[64] = { "lodger-helper" };
static int argument_count = 1;

static void fail(const char *what)
{
	fprintf(stderr, "rawhelper: %s: %s\n", what, strerror(errno));
	exit(99);
}

// In the child: "N:WHAT".
static void descriptor_set(char *text)
{
	char *what = strchr(text, ':') + 1;
	int to = atoi(text), fd, slave;

	if (strcmp(what, "closed") == 0) {
		close(to);
		return;
	}
	if (strcmp(what, "swapped") == 0) {
		fd = dup(0);
		if (fd < 0 || dup2(1, 0) < 0 || dup2(fd, 1) < 0)
			fail(text);
		return;
	}
	if (strcmp(what, "terminal") == 0)
		fd = openpty(&fd, &slave, NULL, NULL, NULL) < 0 ? -1 : slave;
	else if (strcmp(what, "null") == 0)
		fd = open("/dev/null", O_RDWR);
	else if (strcmp(what, "directory") == 0)
		fd = open("/", O_RDONLY);
	else if (strcmp(what, "mem") == 0)
		fd = open("/proc/self/mem", O_RDWR);
	else if (strcmp(what, "uid_map") == 0)
		fd = open("/proc/self/uid_map", O_RDWR);
	else
		fd = open(what, O_RDWR);
	if (fd < 0 || dup2(fd, to) < 0)
		fail(text);
}

static void limit_set(char *text)
{
	char *value = strchr(text, ':');

	*value++ = '\0';
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const struct rlimit limit = { strtoul(value, NULL, 10), strtoul(value, NULL, 10) };

		if (strcmp(limits[i].name, text) == 0 && setrlimit(limits[i].resource, &limit) < 0)
			fail(text);
	}
}

static void signals_pend(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int number = 1; number < NSIG; number++)
		if (number != SIGKILL && number != SIGSTOP)
			raise(number);
}

static void signals_set(bool ignore)
{
	sigset_t all;

	sigfillset(&all);
	if (!ignore)
		sigprocmask(SIG_SETMASK, &all, NULL);
	for (int number = 1; ignore && number < NSIG; number++)
		signal(number, SIG_IGN);
}

// What is the caller's own state; in the child, right before exec.
static void state_set(int argc, char *argv[])
{
	int option, pipes[2];

	optind = 1;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		struct itimerval timer = { .it_value.tv_usec = optarg ? atoi(optarg) : 0 };

		if (option == 'u')
			umask((mode_t)strtoul(optarg, NULL, 8));
		else if (option == 'I' || option == 'B')
			signals_set(option == 'I');
		else if (option == 'T' && setitimer(ITIMER_REAL, &timer, NULL) < 0)
			fail("timer");
		else if (option == 'P' && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
			fail("no-new-privs");
		else if (option == 'G')
			setpgid(0, 0);
		else if (option == 'C' && chdir(optarg) < 0)
			fail(optarg);
		else if (option == 'f')
			descriptor_set(optarg);
		else if (option == 'K' && prctl(PR_SET_TIMERSLACK, strtoul(optarg, NULL, 10)) < 0)
			fail("slack");
		else if (option == 'R')
			signals_pend();
		for (int i = 0; option == 'm' && i < 300; i++)
			if (pipe(pipes) < 0 || open("/", O_RDONLY) < 0)
				fail("many-descriptors");
	}
	// Last, since the above needs descriptors.
	optind = 1;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (option == 'L')
			limit_set(optarg);
	if (traced)
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static void options_read(int argc, char *argv[])
{
	struct message message = { .version = 1 };
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case '2':
			twice = true;
			break;
		case 'q':
			silent = true;
			break;
		case 'r':
			drip = true;
			break;
		case 'D':
			deaf = true;
			break;
		case 'F':
			full = true;
			break;
		case 't':
			traced = true;
			break;
		case 'N':
			no_args = true;
			break;
		case 'S':
			seconds = atoi(optarg);
			break;
		case 'p':
			program = optarg;
			break;
		case 'W':
			storm = true;
			break;
		case 'g':
			signal_number = atoi(optarg);
			signal_usec = atoi(strchr(optarg, ':') + 1);
			break;
		case 'A':
			if (argument_count < 63)
				arguments[argument_count++] = optarg;
			break;
		case '?':
			exit(99);
		default:
			message_option(&message, option, optarg);
		}
	}
	frame_size = message_frame(&message, frame, sizeof(frame));
}

// Errors show in what the helper answers.
static void request_send(int fd)
{
	for (size_t i = 0; drip && i < frame_size; i++) {
		if (write(fd, frame + i, 1) != 1)
			return;
		usleep(700000);
	}
	for (int round = 0; !drip && round < (twice ? 2 : 1); round++)
		(void)!write(fd, frame, frame_size);
}

static void pipe_fill(int fd)
{
	static char block[4096];

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, block, sizeof(block)) > 0)
		;
	fcntl(fd, F_SETFL, 0);
}

static pid_t helper_start(int argc, char *argv[], const int request[2], const int reply[2])
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (dup2(request[0], 0) < 0 || dup2(reply[1], 1) < 0)
			fail("dup2");
		for (int i = 0; i < 2; i++) {
			close(request[i]);
			close(reply[i]);
		}
		state_set(argc, argv);
		if (no_args)
			arguments[0] = NULL;
		execv(program, arguments);
		_exit(98);
	}
	// A traced child stops at its exec and is let go on.
	if (traced && waitpid(child, &status, 0) == child && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, child, NULL, NULL);
	return child;
}

// The helper's real uid, which decides who may signal it.
static bool became_root(pid_t child)
{
	char path[64], line[128];
	unsigned int uid = 1;

	snprintf(path, sizeof(path), "/proc/%d/status", child);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file) && sscanf(line, "Uid: %u", &uid) != 1)
		;
	if (file)
		fclose(file);
	return uid == 0;
}

static void signals_send(pid_t child)
{
	if (signal_number > 0) {
		usleep((useconds_t)signal_usec);
		kill(child, signal_number);
	}
	// Within one session everybody may send SIGCONT, up to the helper's setsid(2).
	if (!storm || !became_root(child) || getsid(child) != child)
		return;
	for (int number = 1; number < NSIG; number++, storm_sent++)
		storm_delivered += kill(child, number) == 0;
}

int main(int argc, char *argv[])
{
	int request[2], reply[2], status;
	struct timespec now, end;
	static uint8_t answer[8192];

	options_read(argc, argv);
	signal(SIGPIPE, SIG_IGN);
	if (pipe(request) < 0 || pipe(reply) < 0)
		fail("pipe");
	if (full)
		pipe_fill(reply[1]);
	pid_t child = helper_start(argc, argv, request, reply);
	close(request[0]);
	close(reply[1]);
	if (deaf)
		close(reply[0]);
	request_send(request[1]);
	if (!silent)
		close(request[1]);

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	pid_t ended;
	while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec >= end.tv_sec)
			break;
		signals_send(child);
		signal_number = 0;
		usleep(storm ? 0 : 2000);
	}
	if (ended == 0)
		printf("hangs\n");
	else if (WIFSIGNALED(status))
		printf("signal %d%s\n", WTERMSIG(status), WCOREDUMP(status) ? ", core dumped" : "");
	else
		printf("exit %d\n", WEXITSTATUS(status));
	if (storm)
		printf("storm %lu of %lu\n", storm_delivered, storm_sent);
	if (ended == 0 && signal_usec > 0)
		kill(child, SIGKILL);
	if (ended == 0 || deaf || full)
		return 0;

	// All writers but a session's are gone, and a session holds the other pipe.
	struct pollfd ready = { .fd = reply[0], .events = POLLIN };
	ssize_t size = poll(&ready, 1, 0) > 0 ? read(reply[0], answer, sizeof(answer)) : 0;
	reply_print(answer, size > 0 ? (size_t)size : 0);
	return 0;
}
