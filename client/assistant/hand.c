// The client's end of its hand in a session (hand.h). Runs as the caller. The hand is the session's: it
// may be stopped, ended, or somebody else's program.
#include "hand.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "agent_call.h"
#include "cleanup.h"
#include "job.h"

#define HAND_PROGRAM LODGER_LIBEXEC "/lodger-talk"
#define PATIENCE_MS 10000

bool hand_open(struct hand *hand, uint32_t session, const char *nonce, struct failure *failure)
{
	static char program[] = HAND_PROGRAM, word[] = "hand";
	char *argv[] = { program, word, (char *)nonce, NULL };
	const struct job job = { .argv = argv };
	struct agent_reply started;
	int to[2], from[2];

	hand->connection = hand->to = hand->from = -1;
	hand->used = 0;
	if (pipe2(to, O_CLOEXEC) < 0)
		return fail(failure, "making a pipe: %s", strerror(errno));
	autoclose int its_input = to[0];
	hand->to = to[1];
	if (pipe2(from, O_CLOEXEC) < 0)
		return fail(failure, "making a pipe: %s", strerror(errno));
	autoclose int its_output = from[1];
	hand->from = from[0];
	autoclose int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);

	// Our ends alone: the open file descriptions are not shared.
	(void)fcntl(hand->to, F_SETFL, O_NONBLOCK);
	(void)fcntl(hand->from, F_SETFL, O_NONBLOCK);
	hand->connection = agent_connect(session, failure);
	return hand->connection >= 0 &&
	       job_start(hand->connection, &job, (int[]){ its_input, its_output, nothing },
			 &started, failure);
}

void hand_close(struct hand *hand)
{
	cleanup_close(&hand->to);
	cleanup_close(&hand->from);
	cleanup_close(&hand->connection);
	hand->connection = hand->to = hand->from = -1;
}

bool write_patiently(int fd, const char *data, size_t size, int patience_ms)
{
	while (size > 0) {
		struct pollfd wait = { .fd = fd, .events = POLLOUT };
		const ssize_t count = write(fd, data, size);

		if (count > 0) {
			data += count;
			size -= (size_t)count;
		} else if (count < 0 && errno == EAGAIN) {
			if (poll(&wait, 1, patience_ms) == 0)
				return false;
		} else if (errno != EINTR) {
			return false;
		}
	}
	return true;
}

bool hand_send(struct hand *hand, uint32_t type, uint32_t id, const void *data, size_t size)
{
	const struct hand_header header = { type, id, (uint32_t)size };

	return hand->to >= 0 &&
	       write_patiently(hand->to, (const char *)&header, sizeof(header), PATIENCE_MS) &&
	       write_patiently(hand->to, data, size, PATIENCE_MS);
}

bool hand_read(struct hand *hand)
{
	const size_t room = sizeof(hand->buffer) - hand->used;
	const ssize_t count = read(hand->from, hand->buffer + hand->used, room);

	if (count > 0)
		hand->used += (size_t)count;
	return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

bool hand_next(struct hand *hand, struct hand_frame *frame)
{
	// The frame before stays in a place of its own while it is looked at.
	static char taken[HAND_MESSAGE_MAX];
	struct hand_header header;

	if (hand->used < sizeof(header))
		return false;
	memcpy(&header, hand->buffer, sizeof(header));
	if (header.length > HAND_MESSAGE_MAX) {
		// No hand of ours says so much: nothing more of it is believed.
		hand_close(hand);
		hand->used = 0;
		return false;
	}
	const size_t whole = sizeof(header) + header.length;
	if (hand->used < whole)
		return false;
	memcpy(taken, hand->buffer + sizeof(header), header.length);
	memmove(hand->buffer, hand->buffer + whole, hand->used - whole);
	hand->used -= whole;
	*frame = (struct hand_frame){ header.type, header.id, taken, header.length };
	return true;
}
