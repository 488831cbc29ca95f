// Waiting for, reading from and writing to sockets (wire.h). Runs in workers. Nothing here blocks
// once the client is gone: whoever waits for the daemon watches the client's socket, too.
#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

// How long somebody who has had the last answer may take to end the connection, and how much it may
// still have to send.
#define FAREWELL_MS 2000
#define FAREWELL_READS 16384U

// Waits until `events` can be had. Whoever has only stopped to write still waits for answers; it
// is the loss of both directions that POLLHUP tells, asked for or not (unix(7), poll(2)).
static bool wait_for(struct wire *wire, short events)
{
	struct pollfd wait[] = {
		{ .fd = wire->fd, .events = events },
		{ .fd = wire->watched },
	};

	if (poll(wait, 2, -1) < 0 && errno != EINTR)
		return wire_fail(wire, "cannot be waited for");
	if ((wait[1].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) {
		wire->deserted = true;
		return wire_fail(wire, "is not waited for by anybody any more");
	}
	return true;
}

size_t socket_receive(struct wire *wire, void *to, size_t size)
{
	while (wire->trouble == NULL) {
		const ssize_t got = read(wire->fd, to, size);

		if (got > 0)
			return (size_t)got;
		if (got == 0)
			wire_fail(wire, "has ended the connection");
		else if (errno == EAGAIN)
			wait_for(wire, POLLIN);
		else if (errno != EINTR)
			wire_fail(wire, "has broken the connection");
	}
	return 0;
}

bool socket_send(struct wire *wire, const void *from, size_t size)
{
	const char *at = from;

	while (size > 0 && wire->trouble == NULL) {
		const ssize_t done = write(wire->fd, at, size);

		if (done >= 0) {
			at += done;
			size -= (size_t)done;
		} else if (errno == EAGAIN) {
			wait_for(wire, POLLOUT);
		} else if (errno != EINTR) {
			wire_fail(wire, "has broken the connection");
		}
	}
	return wire->trouble == NULL;
}

void socket_farewell(struct wire *wire)
{
	struct pollfd wait = { .fd = wire->fd, .events = POLLIN };
	uint8_t scrap[4096];
	ssize_t got = 1;

	shutdown(wire->fd, SHUT_WR);
	for (unsigned int reads = 0; reads < FAREWELL_READS && got > 0; reads++) {
		if (poll(&wait, 1, FAREWELL_MS) <= 0)
			return;
		got = read(wire->fd, scrap, sizeof(scrap));
	}
}
