// What put and get share (transfer.h): the tar inside the session and the pipes to it. Runs as the
// caller; waits for a session no longer than the transfer's deadline.
#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "job.h"
#include "session.h"

#define SKIP_NOTICES 20U
// Of headers and padding, beside what is counted entry by entry.
#define RAW_SLACK (16U << 20)

static int remaining_ms(const struct transfer *transfer)
{
	const uint64_t now = clock_boot_usec();
	const uint64_t left = now < transfer->deadline ? (transfer->deadline - now) / 1000 : 0;

	return left < INT_MAX ? (int)left : INT_MAX;
}

bool tar_start(struct tar *tar, struct transfer *transfer, char *argv[], bool input,
	       struct failure *failure)
{
	const struct job job = { .argv = argv };
	struct agent_reply started;
	int data[2], messages[2];

	*tar = (struct tar){ .transfer = transfer,
			     .connection = -1,
			     .data = -1,
			     .messages = -1,
			     .input = input,
			     .raw = transfer->max + RAW_SLACK };
	autoclose int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || pipe2(data, O_CLOEXEC) < 0)
		return fail(failure, "making a pipe: %s", strerror(errno));
	autoclose int theirs = data[input ? 0 : 1];
	tar->data = data[input ? 1 : 0];
	if (pipe2(messages, O_CLOEXEC) < 0)
		return fail(failure, "making a pipe: %s", strerror(errno));
	autoclose int their_messages = messages[1];
	tar->messages = messages[0];
	(void)fcntl(tar->data, F_SETFL, O_NONBLOCK);
	(void)fcntl(tar->messages, F_SETFL, O_NONBLOCK);

	const int descriptors[3] = { input ? theirs : null, input ? null : theirs, their_messages };
	tar->connection = agent_connect(transfer->number, failure);
	return tar->connection >= 0 &&
	       job_start(tar->connection, &job, descriptors, &started, failure);
}

// Takes what it says, so that it never waits to be heard, and keeps the beginning.
static void messages_take(struct tar *tar)
{
	char text[4096];
	ssize_t n;

	while ((n = read(tar->messages, text, sizeof(text))) > 0) {
		const size_t room = sizeof(tar->said) - 1 - tar->said_length;
		const size_t kept = (size_t)n < room ? (size_t)n : room;

		memcpy(tar->said + tar->said_length, text, kept);
		tar->said_length += kept;
		if ((size_t)n < sizeof(text))
			return;
	}
	if (n == 0) {
		close(tar->messages);
		tar->messages = -1;
	}
}

// Waits until `data` is ready, where `data` is wanted, or the agent has something to say, where that
// is. Returns false when it is too late.
static bool await(struct tar *tar, struct pollfd *data, struct pollfd *agent)
{
	struct pollfd ready[3] = { *data, *agent, { .events = POLLIN } };

	do {
		ready[2].fd = tar->messages;
		const int count = poll(ready, 3, remaining_ms(tar->transfer));

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0) {
			tar->late = true;
			return false;
		}
		if (ready[2].revents)
			messages_take(tar);
	} while (!ready[0].revents && !ready[1].revents);
	*data = ready[0];
	*agent = ready[1];
	return true;
}

bool tar_await(struct tar *tar)
{
	struct pollfd data = { .fd = tar->data, .events = tar->input ? POLLOUT : POLLIN };
	// While it is written to, its end means that nobody reads.
	struct pollfd agent = { .fd = tar->input ? tar->connection : -1, .events = POLLIN };

	if (!await(tar, &data, &agent))
		return false;
	tar->ended = agent.revents != 0;
	return !tar->ended;
}

bool tar_finish(struct tar *tar, const char *doing, struct failure *failure)
{
	struct pollfd none = { .fd = -1 }, agent = { .fd = tar->connection, .events = POLLIN };
	struct job_end end;

	cleanup_close(&tar->data);
	tar->data = -1;
	if (tar->late || !await(tar, &none, &agent))
		return fail(failure, "%s: not done in time; --timeout gives it more", doing);
	if (!job_wait(tar->connection, 0, &end, failure))
		return false;
	if (end.exit_code == 0)
		return true;

	if (tar->messages >= 0)
		messages_take(tar);
	tar->said[strcspn(tar->said, "\n")] = '\0';
	return fail(failure, "%s: tar in the session ended with status %d%s%s", doing,
		    end.exit_code, *tar->said ? ": " : "", tar->said);
}

void tar_close(struct tar *tar)
{
	cleanup_close(&tar->connection);
	cleanup_close(&tar->data);
	cleanup_close(&tar->messages);
}

bool transfer_charge(struct transfer *transfer, uint64_t size)
{
	if (transfer->budget < TRANSFER_ENTRY || size > transfer->budget - TRANSFER_ENTRY)
		return false;
	transfer->budget -= size + TRANSFER_ENTRY;
	return true;
}

void transfer_skip(struct transfer *transfer, const char *name, const char *why)
{
	if (transfer->skipped++ < SKIP_NOTICES)
		notice("skipped '%s': %s", name, why);
}

bool path_split(const char *path, char **directory, char **name)
{
	size_t end = strlen(path), start;

	*directory = *name = NULL;
	while (end > 1 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	*name = strndup(path + start, end - start);
	*directory = start == 0 ? strdup(".") : strndup(path, start);
	return *name && *directory && **name && strcmp(*name, "/") != 0 &&
	       strcmp(*name, ".") != 0 && strcmp(*name, "..") != 0;
}
