// Copying between the caller's descriptors and a session's, and the wait for the job's end.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "agent_call.h"
#include "endpoint.h"
#include "failure.h"

#define RELAY_CHANNELS 3
#define RELAY_BUFFER 65536

struct channel {
	bool input; // from the caller to the session
	struct endpoint from, to;
	size_t start, end; // what is in the buffer
	char *buffer;	   // RELAY_BUFFER bytes
};

struct relay {
	int connection; // to the agent, with the job started
	int signals;	// signalfd(2) of all that the caller may send
	int terminal;	// the caller's terminal, or -1
	int master;	// the session's terminal, or -1; owned by a channel
	size_t channel_count;
	struct channel channels[RELAY_CHANNELS];
};

// Blocks the signals that the relay looks after and opens relay->signals. `old` is for
// relay_signals_close, which gives back what was before.
bool relay_signals_open(struct relay *relay, void *old, struct failure *failure);
void relay_signals_close(struct relay *relay, const void *old);

// Waits until the agent has something to say, for `timeout_ms` at most, or the caller sends a signal
// that ends a process. Returns the signal's number, or 0.
int relay_await(struct relay *relay, int timeout_ms);

// Adds a channel.
bool relay_add(struct relay *relay, bool input, struct endpoint from, struct endpoint to,
	       struct failure *failure);

// Relays until the job has ended and its output is out, as far as somebody takes it.
// Returns the job's exit code through *exit_code, and what ended it through *signal (or 0).
// `first` is what agent_receive_first gave: it may be the end already.
bool relay_run(struct relay *relay, const struct agent_reply *first, int *exit_code, int *signal,
	       struct failure *failure);

// Closes the channels and frees their buffers.
void relay_close(struct relay *relay);
