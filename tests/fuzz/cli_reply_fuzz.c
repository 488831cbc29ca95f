// What an agent, which is as hostile as what runs in its session, answers to the client
// (client/lib/agent_call.h): packets with descriptors over a socket.
// Holds: whatever comes, the client has a reply whose numbers are in range, or a failure that can be
// said; it keeps no descriptor but the one of a terminal, close-on-exec; and it never waits.
#include <signal.h>

#include "agent_call.h"
#include "printable.h"
#include "sockets.h"

enum call { CALL_RECEIVE, CALL_KEEP, CALL_STATUS, CALL_COUNT };

static void failure_holds(const struct failure *failure)
{
	char text[PRINTABLE_GROWTH * sizeof(failure->text)];

	assert(failure->text[0] != '\0');
	assert(failure->exit_code == EXIT_LODGER || failure->exit_code == EXIT_NOT_EXECUTABLE ||
	       failure->exit_code == EXIT_NOT_FOUND);
	for (const char *c = printable(text, sizeof(text), failure->text); *c; c++)
		assert(*c >= ' ' && *c <= '~');
}

static void reply_holds(const struct agent_reply *reply)
{
	assert(reply->kind <= AGENT_CLOSED);
	if (reply->kind == AGENT_EXITED) {
		assert(reply->exit_code >= 0 && reply->exit_code <= 255);
		assert(reply->signal >= 0 && reply->signal < NSIG);
	} else {
		assert(reply->exit_code == 0 && reply->signal == 0);
	}
	if (reply->descriptor >= 0) {
		assert(reply->kind == AGENT_STARTED);
		assert(fcntl(reply->descriptor, F_GETFD) == FD_CLOEXEC);
		close(reply->descriptor);
	}
}

// An input: which call, and packets, each behind its length (two bytes) and its descriptors' number.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	const uint64_t before = descriptors_open();
	const enum call call = input_byte(&input) % CALL_COUNT;
	unsigned int packets = 0;
	int ends[2];

	assert(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
	while (input.size > 0) {
		size_t length = (size_t)input_byte(&input) | (size_t)input_byte(&input) << 8;
		const size_t descriptors = input_byte(&input) % (SOCKETS_DESCRIPTORS + 1);
		uint8_t *packet = input_take(&input, &length);

		// No more fit into the queue: enough.
		if (!socket_send(ends[1], packet, length, descriptors))
			input.size = 0;
		else
			packets++;
		free(packet);
	}
	// The agent ends, but not before what the client asks can be sent.
	if (call == CALL_RECEIVE) {
		close(ends[1]);
		ends[1] = -1;
	} else {
		shutdown(ends[1], SHUT_WR);
	}

	// The end behind the last packet is a reply too.
	for (unsigned int i = 0; i <= packets; i++) {
		struct agent_reply reply = { .kind = AGENT_CLOSED, .descriptor = -1 };
		struct failure failure = { 0 };

		if (call == CALL_RECEIVE ? agent_receive(ends[0], 0, &reply, &failure)
		    : call == CALL_KEEP	 ? agent_keep(ends[0], size & 1, &failure)
					 : agent_status(ends[0], &reply, &failure)) {
			if (call == CALL_STATUS) {
				assert(reply.kind == AGENT_STATE);
				reply.descriptor = -1;
			}
			reply_holds(&reply);
			if (i == packets)
				assert(call == CALL_RECEIVE && reply.kind == AGENT_CLOSED);
		} else {
			failure_holds(&failure);
		}
	}
	close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
	assert(descriptors_open() == before);
	return 0;
}
