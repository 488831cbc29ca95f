// Pairs of sockets (pump.h). Runs in the session's relay under the lodger's uid, and on the host under
// a system user's; looks at no byte of what it copies, and never waits for one side alone.
#include "pump.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

// How long to leave connections waiting when there is no memory or descriptor for one.
#define ACCEPT_PAUSE_MS 100
// Connections accepted at one go, before those that are there are seen to.
#define ACCEPT_BURST 16

void pump_prepare(struct pump *pump)
{
	pump->count = 0;
	pump->pause = false;
	for (size_t i = 0; i < pump->most; i++)
		pump->order[i] = &pump->pairs[i];
}

// The last one takes its place in the order.
static void pair_end(struct pump *pump, size_t at)
{
	struct pump_pair *pair = pump->order[at];

	if (pump->close != NULL)
		pump->close(pair);
	close(pair->fds[0]);
	close(pair->fds[1]);
	pump->count--;
	pump->order[at] = pump->order[pump->count];
	pump->order[pump->count] = pair;
}

static void pump_accept(struct pump *pump)
{
	for (int i = 0; i < ACCEPT_BURST && pump->count < pump->most; i++) {
		struct pump_pair *pair = pump->order[pump->count];
		const int fd = accept4(pump->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0) {
			pump->pause = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
			return;
		}
		// Not the buffers, which would be touched by that.
		pair->fds[0] = fd;
		pair->fds[1] = -1;
		pair->owner = 0;
		for (int side = 0; side < 2; side++) {
			pair->flows[side].start = pair->flows[side].end = 0;
			pair->flows[side].ended = pair->flows[side].told = false;
		}
		if (pump->open(pair))
			pump->count++;
		else
			close(fd);
	}
}

static bool empty(const struct pump_flow *flow)
{
	return flow->start == flow->end;
}

// What is wanted of fds[side]. A descriptor of which nothing is wanted is not waited for at all: its
// hang-up would be told for ever.
static struct pollfd wanted(const struct pump_pair *pair, int side)
{
	const struct pump_flow *from = &pair->flows[side], *to = &pair->flows[1 - side];
	const short in = empty(from) && !from->ended ? POLLIN : 0;
	const short out = empty(to) ? 0 : POLLOUT;

	return (struct pollfd){
		.fd = in != 0 || out != 0 ? pair->fds[side] : -1,
		.events = (short)(in | out),
	};
}

static bool again(void)
{
	return errno == EAGAIN || errno == EINTR;
}

// Reads once and writes once. Returns false when the pair is broken.
static bool flow_move(struct pump_flow *flow, int from, int to, bool readable)
{
	if (readable && empty(flow) && !flow->ended) {
		const ssize_t got = recv(from, flow->data, sizeof(flow->data), 0);

		if (got < 0 && !again())
			return false;
		flow->ended = got == 0;
		flow->start = 0;
		flow->end = got > 0 ? (size_t)got : 0;
	}
	if (!empty(flow)) {
		const ssize_t sent =
			send(to, flow->data + flow->start, flow->end - flow->start, MSG_NOSIGNAL);

		if (sent < 0 && !again())
			return false;
		flow->start += sent > 0 ? (size_t)sent : 0;
	}
	if (empty(flow) && flow->ended && !flow->told) {
		// Its failing shows when the other direction is used.
		(void)shutdown(to, SHUT_WR);
		flow->told = true;
	}
	return true;
}

// Returns false when the pair is over.
static bool pair_serve(struct pump_pair *pair, const struct pollfd wait[2])
{
	for (int side = 0; side < 2; side++) {
		// A hang-up shows as end of file, or as an error, when it is read.
		const bool readable = (wait[side].revents & (POLLIN | POLLHUP | POLLERR)) != 0;

		if ((wait[side].revents | wait[1 - side].revents) != 0 &&
		    !flow_move(&pair->flows[side], pair->fds[side], pair->fds[1 - side], readable))
			return false;
	}
	return !pair->flows[0].told || !pair->flows[1].told;
}

bool pump_turn(struct pump *pump, int timeout_ms)
{
	const bool full = pump->count == pump->most;
	struct pollfd *listener = &pump->wait[2 * pump->count];

	for (size_t i = 0; i < pump->count; i++) {
		pump->wait[2 * i] = wanted(pump->order[i], 0);
		pump->wait[2 * i + 1] = wanted(pump->order[i], 1);
	}
	*listener = (struct pollfd){
		.fd = full || pump->pause ? -1 : pump->listener,
		.events = POLLIN,
	};
	if (pump->pause && (timeout_ms < 0 || timeout_ms > ACCEPT_PAUSE_MS))
		timeout_ms = ACCEPT_PAUSE_MS;
	pump->pause = false;
	if (poll(pump->wait, 2 * pump->count + 1, timeout_ms) < 0)
		return errno == EINTR;

	const bool knocked = listener->revents != 0;
	// Backwards, since the last one moves to the place of one that is over.
	for (size_t i = pump->count; i-- > 0;) {
		if (!pair_serve(pump->order[i], &pump->wait[2 * i]))
			pair_end(pump, i);
	}
	if (knocked)
		pump_accept(pump);
	return true;
}
