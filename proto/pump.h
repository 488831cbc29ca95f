// Copying bytes both ways between pairs of sockets, in one process, with bounds on memory and number.
// The session's end of the proxy and the host's are this, and differ in whom they connect to.
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUMP_BUFFER 8192U

// What is on its way in one direction. Read only when all of it has been written.
struct pump_flow {
	size_t start, end; // of what is still to be written
	bool ended;	   // there will be no more
	bool told;	   // and the other side knows
	uint8_t data[PUMP_BUFFER];
};

struct pump_pair {
	int fds[2];		   // the one accepted, the one opened for it
	uint32_t owner;		   // the opener's to use
	struct pump_flow flows[2]; // flows[i] comes from fds[i]
};

// Opens the other side for pair->fds[0], non-blocking and close-on-exec, perhaps still connecting,
// into pair->fds[1]; may put bytes into flows[0] that go before all others. Returns false when the
// connection is to be closed instead.
typedef bool pump_open(struct pump_pair *pair);
// Is told of every pair that is over.
typedef void pump_close(const struct pump_pair *pair);

struct pump {
	int listener; // non-blocking
	pump_open *open;
	pump_close *close; // or NULL
	// Memory for `most` pairs, of 2 * most + 1 descriptors to wait for, of `most` pointers. While
	// there are so many pairs, others wait to be accepted.
	struct pump_pair *pairs;
	struct pollfd *wait;
	struct pump_pair **order;
	size_t most;
	size_t count;
	bool pause;
};

// Defines a pump called `name` with memory for `number` pairs; only what is used is ever touched.
#define PUMP(name, number, opener, closer)                  \
	static struct pump_pair name##_pairs[number];       \
	static struct pollfd name##_wait[2 * (number) + 1]; \
	static struct pump_pair *name##_order[number];      \
	static struct pump name = { .listener = -1,         \
				    .open = (opener),       \
				    .close = (closer),      \
				    .pairs = name##_pairs,  \
				    .wait = name##_wait,    \
				    .order = name##_order,  \
				    .most = (number) }

// Makes it ready for pump_turn: all pairs free.
void pump_prepare(struct pump *pump);

// Waits for something to do, for `timeout_ms` at most (-1: as long as it takes), and does it.
// Returns false when it cannot wait.
bool pump_turn(struct pump *pump, int timeout_ms);
