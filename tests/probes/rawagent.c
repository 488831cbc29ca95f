// Talks to a session's agent by hand: rawagent SOCKET WHAT…, as its owner or as somebody else. What it
// gets is printed one line a reply: "started", "exited STATUS SIGNAL", "error CODE", "done", "state",
// "closed" (the end), "silent" (nothing within five seconds).
//   hex BYTES            a packet of these bytes; then all replies
//   hold COUNT           as many connections, none of which says anything; prints how many came to be
//                        and how many were answered, and holds them until its input ends
//   kind NAME            true, with three descriptors of that kind
//   count NUMBER         true, with so many descriptors
//   argv COUNT SIZE      true, with so many arguments of that size
//   pile                 packets of 250 descriptors until no more go; prints how many went
//   signals COUNT        sleep, and so many signals of no effect, without reading; then its end
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "varint.h"

#define PILE 250

static const char *path;
static uint8_t packet[512 * 1024];

static int connected(int flags)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

// Request { version: 1, exec: { argv: … } }. Returns its size.
static size_t exec_make(const char *program, size_t count, size_t argument)
{
	static uint8_t inner[sizeof(packet)];
	size_t size = 0, at;

	for (size_t i = 0; i < count + 1; i++) {
		const size_t length = i == 0 ? strlen(program) : argument;

		if (size + length + 8 > sizeof(inner) - 16)
			break;
		inner[size++] = 1 << 3 | 2;
		size += put_varint(inner + size, length);
		// For sleep, three seconds.
		memset(inner + size, '3', length);
		if (i == 0)
			memcpy(inner + size, program, length);
		size += length;
	}
	packet[0] = 1 << 3;
	packet[1] = 1;
	packet[2] = 2 << 3 | 2;
	at = 3 + put_varint(packet + 3, size);
	memcpy(packet + at, inner, size);
	return at + size;
}

static ssize_t packet_send(int fd, size_t size, const int *descriptors, size_t count, int flags)
{
	union {
		char room[CMSG_SPACE(PILE * sizeof(int))];
		struct cmsghdr header;
	} control;
	struct iovec part = { packet, size };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };

	if (count > 0) {
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(count * sizeof(int)),
						   .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), descriptors, count * sizeof(int));
		header.msg_control = &control;
		header.msg_controllen = CMSG_SPACE(count * sizeof(int));
	}
	return sendmsg(fd, &header, flags | MSG_NOSIGNAL);
}

static uint64_t varint_at(const uint8_t **at, const uint8_t *end)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; *at < end && shift < 64; shift += 7) {
		const uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			break;
	}
	return value;
}

// Prints one Reply { version, one of started 2, exited 3, error 4, done 5, state 6 }: of the inner
// message the numbers of fields 1 and 2.
static void reply_print(const uint8_t *at, size_t size)
{
	static const char *const names[] = { "",      "version", "started", "exited",
					     "error", "done",	 "state" };
	const uint8_t *end = at + size;

	while (at < end) {
		const uint64_t tag = varint_at(&at, end);
		uint64_t value = varint_at(&at, end), numbers[3] = { 0 };

		if ((tag & 7) != 2 || value > (uint64_t)(end - at) || tag >> 3 > 6)
			continue;
		for (const uint8_t *inner = at; inner < at + value;) {
			const uint64_t field = varint_at(&inner, at + value);

			if ((field & 7) != 0)
				break;
			const uint64_t number = varint_at(&inner, at + value);
			if (field >> 3 < 3)
				numbers[field >> 3] = number;
		}
		if (tag >> 3 == 3)
			printf("exited %lu %lu\n", numbers[1], numbers[2]);
		else if (tag >> 3 == 4)
			printf("error %lu\n", numbers[1]);
		else
			printf("%s\n", names[tag >> 3]);
		at += value;
	}
}

static void replies(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	uint8_t reply[4096];
	int resets = 0;

	for (;;) {
		if (poll(&ready, 1, 5000) <= 0) {
			printf("silent\n");
			return;
		}
		ssize_t size = recv(fd, reply, sizeof(reply), MSG_DONTWAIT);
		if (size < 0 && errno == ECONNRESET && resets++ == 0)
			continue;
		if (size <= 0) {
			printf("closed\n");
			return;
		}
		reply_print(reply, (size_t)size);
	}
}

static int descriptor_of(const char *kind, int connection)
{
	int pair[2];
	sigset_t none;

	sigemptyset(&none);
	if (strcmp(kind, "directory") == 0)
		return open("/", O_RDONLY | O_DIRECTORY);
	if (strcmp(kind, "path") == 0)
		return open("/etc/passwd", O_PATH);
	if (strcmp(kind, "epoll") == 0)
		return epoll_create1(0);
	if (strcmp(kind, "eventfd") == 0)
		return eventfd(0, 0);
	if (strcmp(kind, "inotify") == 0)
		return inotify_init();
	if (strcmp(kind, "timer") == 0)
		return timerfd_create(CLOCK_MONOTONIC, 0);
	if (strcmp(kind, "signals") == 0)
		return signalfd(-1, &none, 0);
	if (strcmp(kind, "memfd") == 0)
		return memfd_create("odd", 0);
	if (strcmp(kind, "pidfd") == 0)
		return (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (strcmp(kind, "mem") == 0)
		return open("/proc/self/mem", O_RDWR);
	if (strcmp(kind, "namespace") == 0)
		return open("/proc/self/ns/mnt", O_RDONLY);
	// The connection itself, which so is in flight on itself, and another one.
	if (strcmp(kind, "self") == 0)
		return dup(connection);
	if (strcmp(kind, "agent") == 0)
		return connected(0);
	if (strcmp(kind, "socket") == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
		return pair[0];
	if (strcmp(kind, "terminal") == 0)
		return open("/dev/ptmx", O_RDWR | O_NOCTTY);
	return open("/dev/null", O_RDWR);
}

static void hold(int count)
{
	struct pollfd ready = { .events = POLLIN };
	int held = 0, answered = 0;
	int *fds = calloc((size_t)count, sizeof(*fds));

	for (int i = 0; fds && i < count; i++) {
		// A queue that is full: a moment later it is not.
		for (int tries = 0; tries < 200; tries++) {
			fds[i] = connected(SOCK_NONBLOCK);
			if (fds[i] >= 0 || errno != EAGAIN)
				break;
			usleep(5000);
		}
		held += fds[i] >= 0;
	}
	usleep(500000);
	for (int i = 0; fds && i < count; i++) {
		ready.fd = fds[i];
		answered += fds[i] >= 0 && poll(&ready, 1, 0) > 0;
	}
	printf("held %d answered %d\n", held, answered);
	fflush(stdout);
	while (getchar() != EOF)
		;
}

static void pile(int connection)
{
	int descriptors[PILE], packets = 0;

	for (int i = 0; i < PILE; i++)
		descriptors[i] = open("/dev/null", O_RDONLY);
	while (packets < 5000 && packet_send(connection, 1, descriptors, PILE, MSG_DONTWAIT) >= 0)
		packets++;
	printf("packets %d %s\n", packets, strerrorname_np(errno));
	replies(connection);
}

static void signals(int connection, long count)
{
	const uint8_t signal[] = { 1 << 3, 1, 3 << 3 | 2, 2, 1 << 3, 17 /* SIGCHLD */ };
	const int null[3] = { open("/dev/null", O_RDWR), 0, 1 };
	long sent = 0;

	packet_send(connection, exec_make("sleep", 1, 1), null, 3, 0);
	memcpy(packet, signal, sizeof(signal));
	while (sent < count && packet_send(connection, sizeof(signal), NULL, 0, 0) >= 0)
		sent++;
	printf("sent %ld\n", sent);
	replies(connection);
}

int main(int argc, char *argv[])
{
	int descriptors[PILE];

	if (argc < 4 && !(argc == 3 && strcmp(argv[2], "pile") == 0))
		return 2;
	path = argv[1];
	int connection = connected(0);
	if (connection < 0) {
		printf("connect %s\n", strerrorname_np(errno));
		return 1;
	}
	if (strcmp(argv[2], "hold") == 0) {
		close(connection);
		hold(atoi(argv[3]));
	} else if (strcmp(argv[2], "pile") == 0) {
		pile(connection);
	} else if (strcmp(argv[2], "signals") == 0) {
		signals(connection, atol(argv[3]));
	} else if (strcmp(argv[2], "hex") == 0) {
		size_t size = 0;
		unsigned int byte;

		for (const char *at = argv[3]; sscanf(at, "%2x", &byte) == 1; at += 2)
			packet[size++] = (uint8_t)byte;
		packet_send(connection, size, NULL, 0, 0);
		shutdown(connection, SHUT_WR);
		replies(connection);
	} else {
		const size_t count = strcmp(argv[2], "count") == 0 ? (size_t)atoi(argv[3]) : 3;
		const size_t size =
			strcmp(argv[2], "argv") == 0 && argc == 5
				? exec_make("true", (size_t)atoi(argv[3]), (size_t)atoi(argv[4]))
				: exec_make("true", 0, 0);

		for (size_t i = 0; i < count && i < PILE; i++)
			descriptors[i] = descriptor_of(
				strcmp(argv[2], "kind") == 0 ? argv[3] : "null", connection);
		if (packet_send(connection, size, descriptors, count, 0) < 0)
			printf("send %s\n", strerrorname_np(errno));
		replies(connection);
	}
	return 0;
}
