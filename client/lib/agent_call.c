// Calls of the agent (agent_call.h). Runs as the caller. Never waits for an agent without a bound,
// never believes a size, a number or a descriptor that it sends.
#include "agent_call.h"

#include <bsd/string.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <termios.h>

#include "agent.pb-c.h"
#include "cleanup.h"
#include "protocol.h"
#include "session.h"

#define CODE(name) LODGER__AGENT__CODE__CODE_##name

// Replies are short: the longest is a message of a few hundred bytes.
#define REPLY_SIZE 4096
#define ANSWER_MS 10000

typedef Lodger__Agent__Reply Reply;

static int refuse_connect(uint32_t number, int error, struct failure *failure)
{
	char name[SESSION_NAME_SIZE];

	session_name(number, name);
	if (error == ENOENT)
		fail(failure, "connecting to %s: there is no such session; lodger list shows yours",
		     name);
	else if (error == ECONNREFUSED)
		fail(failure,
		     "connecting to %s: the session has ended (destroyed, over its time to "
		     "live, or out of memory)",
		     name);
	else if (error == EACCES || error == EPERM)
		fail(failure, "connecting to %s: it is not your session", name);
	else if (error == EAGAIN)
		fail(failure,
		     "connecting to %s: it does not answer; it may be at its CPU or memory "
		     "limit. lodger destroy %s ends it",
		     name, name);
	else
		fail(failure, "connecting to %s: %s", name, strerror(error));
	return -1;
}

int agent_connect(uint32_t number, struct failure *failure)
{
	// Holds for connect(2) too, where the queue of an agent that accepts nothing is full.
	const struct timeval limit = { .tv_sec = ANSWER_MS / 1000 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%" PRIu32 "/socket",
		 LODGER_SESSIONS, number);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0 ||
	    connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return refuse_connect(number, errno, failure);

	const int connected = fd;
	fd = -1;
	return connected;
}

// Returns -1 when nothing was sent, with errno; that the agent has gone is for agent_receive to find.
static ssize_t packet_send(int connection, void *data, size_t size, const int *descriptors,
			   size_t count)
{
	union {
		char room[CMSG_SPACE(3 * sizeof(int))];
		struct cmsghdr header;
	} control = { .room = { 0 } };
	struct iovec part = { .iov_base = data, .iov_len = size };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t sent;

	if (count > 0) {
		control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(&control.header), descriptors, count * sizeof(int));
		header.msg_control = &control;
		header.msg_controllen = CMSG_SPACE(count * sizeof(int));
	}
	do
		sent = sendmsg(connection, &header, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	// An agent that takes no more connections answers, and closes, before it is asked: the answer
	// says why.
	return sent < 0 && (errno == EPIPE || errno == ECONNRESET) ? 0 : sent;
}

// Sends a request that comes without descriptors and is short.
static ssize_t request_send(int connection, Lodger__Agent__Request *request)
{
	uint8_t packed[64];

	request->version = AGENT_PROTOCOL_VERSION;
	return packet_send(connection, packed, lodger__agent__request__pack(request, packed), NULL,
			   0);
}

static ProtobufCBinaryData bytes_of(const char *text)
{
	return (ProtobufCBinaryData){ .len = strlen(text), .data = (uint8_t *)text };
}

bool agent_exec(int connection, const struct job *job, const int descriptors[3],
		struct failure *failure)
{
	Lodger__Agent__Request request = LODGER__AGENT__REQUEST__INIT;
	Lodger__Agent__Exec exec = LODGER__AGENT__EXEC__INIT;

	while (job->argv[exec.n_argv])
		exec.n_argv++;
	exec.n_env = job->environment_count;
	autofree ProtobufCBinaryData *words = calloc(exec.n_argv + exec.n_env, sizeof(*words));
	if (!words)
		return fail(failure, "starting '%s': out of memory", job->argv[0]);
	exec.argv = words;
	exec.env = words + exec.n_argv;
	for (size_t i = 0; i < exec.n_argv; i++)
		exec.argv[i] = bytes_of(job->argv[i]);
	for (size_t i = 0; i < exec.n_env; i++)
		exec.env[i] = bytes_of(job->environment[i]);
	if (job->directory)
		exec.directory = bytes_of(job->directory);
	exec.terminal = job->terminal;
	exec.rows = job->rows;
	exec.columns = job->columns;
	exec.timeout_ms = job->timeout_ms;
	request.version = AGENT_PROTOCOL_VERSION;
	request.operation_case = LODGER__AGENT__REQUEST__OPERATION_EXEC;
	request.exec = &exec;

	const size_t size = lodger__agent__request__get_packed_size(&request);
	if (size > AGENT_PACKET_MAX)
		return fail(failure,
			    "starting '%s': command and environment take %zu bytes, %u are "
			    "the most; pass long input through standard input or lodger put",
			    job->argv[0], size, AGENT_PACKET_MAX);
	autofree uint8_t *packed = malloc(size);
	if (!packed)
		return fail(failure, "starting '%s': out of memory", job->argv[0]);
	lodger__agent__request__pack(&request, packed);
	if (packet_send(connection, packed, size, descriptors, descriptors ? 3 : 0) < 0)
		return fail(failure, "starting '%s': asking the session's agent: %s", job->argv[0],
			    strerror(errno));
	return true;
}

void agent_signal(int connection, int number)
{
	Lodger__Agent__Request request = LODGER__AGENT__REQUEST__INIT;
	Lodger__Agent__Signal sent = LODGER__AGENT__SIGNAL__INIT;

	sent.number = (uint32_t)number;
	request.operation_case = LODGER__AGENT__REQUEST__OPERATION_SIGNAL;
	request.signal = &sent;
	(void)request_send(connection, &request);
}

// Waits until something can be read. Returns false when nothing came in time.
static bool await(int connection, int timeout_ms)
{
	const uint64_t deadline = clock_boot_usec() + (uint64_t)timeout_ms * 1000U;
	struct pollfd ready = { .fd = connection, .events = POLLIN };

	for (;;) {
		const uint64_t now = clock_boot_usec();
		const int count =
			poll(&ready, 1, now < deadline ? (int)((deadline - now) / 1000) : 0);

		if (count > 0)
			return true;
		if (count == 0 || errno != EINTR)
			return false;
	}
}

// Takes the one descriptor that may come along; all others are closed.
static int descriptor_take(struct msghdr *header)
{
	int taken = -1;

	for (struct cmsghdr *control = CMSG_FIRSTHDR(header); control;
	     control = CMSG_NXTHDR(header, control)) {
		if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < (control->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(control) + i * sizeof(int), sizeof(int));
			if (taken < 0)
				taken = fd;
			else
				close(fd);
		}
	}
	return taken;
}

static bool refuse_error(const Lodger__Agent__Error *error, struct failure *failure)
{
	const int exit_code = error->code == CODE(NOT_FOUND)	    ? EXIT_NOT_FOUND
			      : error->code == CODE(NOT_EXECUTABLE) ? EXIT_NOT_EXECUTABLE
								    : EXIT_LODGER;

	return fail_with(failure, exit_code, "starting the command: %s", error->message);
}

static bool reply_check(const Reply *message, struct agent_reply *reply, struct failure *failure)
{
	if (message->version != AGENT_PROTOCOL_VERSION)
		return fail(
			failure,
			"this lodger speaks version %u of the agent's protocol, the "
			"session version %u: Lodger was upgraded since it was created; destroy it "
			"and create a new one",
			AGENT_PROTOCOL_VERSION, message->version);
	switch (message->result_case) {
	case LODGER__AGENT__REPLY__RESULT_STARTED:
		reply->kind = AGENT_STARTED;
		reply->pid = message->started->pid;
		return true;
	case LODGER__AGENT__REPLY__RESULT_EXITED:
		if (message->exited->status > UINT8_MAX || message->exited->signal >= NSIG)
			break;
		reply->kind = AGENT_EXITED;
		reply->signal = (int)message->exited->signal;
		reply->exit_code = message->exited->timed_out ? EXIT_TIMEOUT
				   : reply->signal	      ? EXIT_SIGNAL + reply->signal
							      : (int)message->exited->status;
		return true;
	case LODGER__AGENT__REPLY__RESULT_ERROR:
		return refuse_error(message->error, failure);
	case LODGER__AGENT__REPLY__RESULT_DONE:
		reply->kind = AGENT_DONE;
		return true;
	case LODGER__AGENT__REPLY__RESULT_STATE:
		reply->kind = AGENT_STATE;
		reply->jobs = message->state->jobs;
		reply->tied = message->state->tied;
		reply->remaining_ms = message->state->remaining_ms;
		return true;
	default:
		break;
	}
	return fail(failure, "the session's agent sent a reply that makes no sense");
}

static ssize_t packet_receive(int connection, struct msghdr *header)
{
	int resets = 0;
	ssize_t size;

	// ECONNRESET comes once, when the agent closed without reading all, and before what it sent.
	do
		size = recvmsg(connection, header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (size < 0 && (errno == EINTR || (errno == ECONNRESET && resets++ == 0)));
	return size;
}

bool agent_receive(int connection, int timeout_ms, struct agent_reply *reply,
		   struct failure *failure)
{
	uint8_t packet[REPLY_SIZE];
	union {
		char room[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr header;
	} control;
	struct iovec part = { .iov_base = packet, .iov_len = sizeof(packet) };
	struct msghdr header = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	*reply = (struct agent_reply){ .kind = AGENT_CLOSED, .descriptor = -1 };
	if (!await(connection, timeout_ms))
		return fail(failure,
			    "the session's agent does not answer; the session may be at its "
			    "CPU or memory limit");
	const ssize_t size = packet_receive(connection, &header);
	if (size < 0 && errno != ECONNRESET && errno != EPIPE)
		return fail(failure, "reading the agent's reply: %s", strerror(errno));
	if (size < 0)
		return true;

	reply->descriptor = descriptor_take(&header);
	// An empty packet looks like the end, but for the descriptors that may come with it.
	if (size == 0) {
		cleanup_close(&reply->descriptor);
		reply->descriptor = -1;
		return true;
	}
	Reply *message = (header.msg_flags & MSG_TRUNC)
				 ? NULL
				 : lodger__agent__reply__unpack(NULL, (size_t)size, packet);
	const bool good =
		message ? reply_check(message, reply, failure)
			: fail(failure,
			       "the session's agent sent a reply that cannot be understood");
	if (message)
		lodger__agent__reply__free_unpacked(message, NULL);
	if (reply->descriptor >= 0 && (!good || reply->kind != AGENT_STARTED)) {
		close(reply->descriptor);
		reply->descriptor = -1;
	}
	return good;
}

bool agent_receive_first(int connection, int timeout_ms, const struct job *job,
			 struct agent_reply *reply, struct failure *failure)
{
	if (!agent_receive(connection, timeout_ms, reply, failure))
		return false;

	const bool terminal = reply->descriptor >= 0 && isatty(reply->descriptor);
	if (reply->kind == AGENT_EXITED ||
	    (reply->kind == AGENT_STARTED && job->terminal && terminal))
		return true;
	if (reply->descriptor >= 0)
		close(reply->descriptor);
	reply->descriptor = -1;
	if (reply->kind == AGENT_STARTED && !job->terminal)
		return true;
	return fail(failure, "starting '%s': %s", job->argv[0],
		    reply->kind == AGENT_CLOSED ? "the session has ended"
		    : reply->kind == AGENT_STARTED
			    ? "the session's agent gave no terminal"
			    : "the session's agent sent a reply that makes no sense");
}

static bool ask(int connection, Lodger__Agent__Request *request, enum agent_reply_kind expected,
		struct agent_reply *reply, struct failure *failure)
{
	if (request_send(connection, request) < 0)
		return fail(failure, "asking the session's agent: %s", strerror(errno));
	if (!agent_receive(connection, ANSWER_MS, reply, failure))
		return false;
	if (reply->descriptor >= 0)
		close(reply->descriptor);
	if (reply->kind == AGENT_CLOSED)
		return fail(failure, "the session has ended");
	return reply->kind == expected
		       ? true
		       : fail(failure, "the session's agent sent a reply that makes no sense");
}

bool agent_keep(int connection, bool auto_off, struct failure *failure)
{
	Lodger__Agent__Request request = LODGER__AGENT__REQUEST__INIT;
	Lodger__Agent__Keep keep = LODGER__AGENT__KEEP__INIT;
	struct agent_reply reply;

	request.operation_case = LODGER__AGENT__REQUEST__OPERATION_KEEP;
	keep.auto_off = auto_off;
	request.keep = &keep;
	return ask(connection, &request, AGENT_DONE, &reply, failure);
}

bool agent_status(int connection, struct agent_reply *reply, struct failure *failure)
{
	Lodger__Agent__Request request = LODGER__AGENT__REQUEST__INIT;
	Lodger__Agent__Status status = LODGER__AGENT__STATUS__INIT;

	request.operation_case = LODGER__AGENT__REQUEST__OPERATION_STATUS;
	request.status = &status;
	return ask(connection, &request, AGENT_STATE, reply, failure);
}
