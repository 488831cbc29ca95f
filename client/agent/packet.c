// Packets in and replies out (packet.h). Runs in keepers, and in the agent itself for the few
// replies that are sent when there is no keeper. May not block on a client's account, nor leave
// descriptors behind that nobody expects.
#include "packet.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Room for one descriptor more than is ever right, so that one too many is seen as such.
#define CONTROL_DESCRIPTORS (ORDER_DESCRIPTORS + 1)

// Most packets that are thrown away: a client could send them as fast as they are read.
#define DRAIN_MAX 64

// The longest reply: a refusal and some framing.
#define REPLY_MAX 512

union control {
	char room[CMSG_SPACE(CONTROL_DESCRIPTORS * sizeof(int))];
	struct cmsghdr header;
};

// Collects what descriptors came along. Returns how many.
static size_t descriptors_of(struct msghdr *header, int descriptors[CONTROL_DESCRIPTORS])
{
	size_t count = 0;

	for (struct cmsghdr *control = CMSG_FIRSTHDR(header); control != NULL;
	     control = CMSG_NXTHDR(header, control)) {
		// No other kind is asked for with setsockopt(2).
		if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
			continue;

		size_t here = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		if (here > CONTROL_DESCRIPTORS - count)
			here = CONTROL_DESCRIPTORS - count; // cannot be: all came into that room
		memcpy(descriptors + count, CMSG_DATA(control), here * sizeof(int));
		count += here;
	}
	return count;
}

enum packet_result packet_receive(int connection, struct packet *packet, struct refusal *refusal)
{
	static uint8_t buffer[AGENT_PACKET_MAX];
	int descriptors[CONTROL_DESCRIPTORS];
	union control control;
	struct iovec part = { .iov_base = buffer, .iov_len = sizeof(buffer) };
	struct msghdr header = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t size;

	do
		size = recvmsg(connection, &header, MSG_CMSG_CLOEXEC);
	while (size < 0 && errno == EINTR);
	if (size < 0)
		return PACKET_CLOSED;

	const size_t count = descriptors_of(&header, descriptors);
	enum packet_result result = PACKET_WHOLE;

	if (size == 0) {
		result = PACKET_CLOSED;
	} else if ((header.msg_flags & MSG_TRUNC) != 0) {
		refuse(refusal, CODE(REQUEST), "the packet is longer than %u bytes",
		       AGENT_PACKET_MAX);
		result = PACKET_REFUSED;
	} else if (count > ORDER_DESCRIPTORS) {
		refuse(refusal, CODE(REQUEST), "more than %d descriptors came with a packet",
		       ORDER_DESCRIPTORS);
		result = PACKET_REFUSED;
	} else if ((header.msg_flags & MSG_CTRUNC) != 0) {
		// The kernel found no room for them: not in the message (then there are too many),
		// or not in this process.
		refuse(refusal, CODE(REQUEST), "descriptors got lost on the way");
		result = PACKET_REFUSED;
	}
	if (result != PACKET_WHOLE) {
		for (size_t i = 0; i < count; i++)
			close(descriptors[i]);
		return result;
	}

	packet->data = buffer;
	packet->size = (size_t)size;
	packet->descriptor_count = count;
	memcpy(packet->descriptors, descriptors, sizeof(packet->descriptors));
	return PACKET_WHOLE;
}

void packet_drain(int connection)
{
	char byte;

	// Without room for them, descriptors are dropped by the kernel and never opened here.
	for (int i = 0; i < DRAIN_MAX; i++) {
		if (recv(connection, &byte, sizeof(byte), MSG_DONTWAIT) <= 0)
			return;
	}
}

static bool reply_send(int connection, Lodger__Agent__Reply *reply, int descriptor)
{
	uint8_t packed[REPLY_MAX];
	union control control = { .room = { 0 } };
	struct iovec part = { .iov_base = packed };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t sent;

	reply->version = AGENT_PROTOCOL_VERSION;
	if (lodger__agent__reply__get_packed_size(reply) > sizeof(packed))
		return false;
	part.iov_len = lodger__agent__reply__pack(reply, packed);

	if (descriptor >= 0) {
		header.msg_control = &control;
		header.msg_controllen = CMSG_SPACE(sizeof(descriptor));
		control.header = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(descriptor)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
		};
		memcpy(CMSG_DATA(&control.header), &descriptor, sizeof(descriptor));
	}
	do
		sent = sendmsg(connection, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent >= 0;
}

bool reply_started(int connection, pid_t pid, int master)
{
	Lodger__Agent__Started started = LODGER__AGENT__STARTED__INIT;
	Lodger__Agent__Reply reply = LODGER__AGENT__REPLY__INIT;

	started.pid = (uint32_t)pid;
	reply.result_case = LODGER__AGENT__REPLY__RESULT_STARTED;
	reply.started = &started;
	return reply_send(connection, &reply, master);
}

bool reply_exited(int connection, int status, int signal, bool timed_out)
{
	Lodger__Agent__Exited exited = LODGER__AGENT__EXITED__INIT;
	Lodger__Agent__Reply reply = LODGER__AGENT__REPLY__INIT;

	exited.status = (uint32_t)status;
	exited.signal = (uint32_t)signal;
	exited.timed_out = timed_out;
	reply.result_case = LODGER__AGENT__REPLY__RESULT_EXITED;
	reply.exited = &exited;
	return reply_send(connection, &reply, -1);
}

bool reply_refusal(int connection, const struct refusal *refusal)
{
	Lodger__Agent__Error error = LODGER__AGENT__ERROR__INIT;
	Lodger__Agent__Reply reply = LODGER__AGENT__REPLY__INIT;

	error.code = refusal->code;
	error.message = (char *)refusal->message;
	reply.result_case = LODGER__AGENT__REPLY__RESULT_ERROR;
	reply.error = &error;
	return reply_send(connection, &reply, -1);
}

bool reply_done(int connection)
{
	Lodger__Agent__Done done = LODGER__AGENT__DONE__INIT;
	Lodger__Agent__Reply reply = LODGER__AGENT__REPLY__INIT;

	reply.result_case = LODGER__AGENT__REPLY__RESULT_DONE;
	reply.done = &done;
	return reply_send(connection, &reply, -1);
}

bool reply_state(int connection, uint32_t jobs, bool tied, uint64_t remaining_ms)
{
	Lodger__Agent__State state = LODGER__AGENT__STATE__INIT;
	Lodger__Agent__Reply reply = LODGER__AGENT__REPLY__INIT;

	state.jobs = jobs;
	state.tied = tied;
	state.remaining_ms = remaining_ms;
	reply.result_case = LODGER__AGENT__REPLY__RESULT_STATE;
	reply.state = &state;
	return reply_send(connection, &reply, -1);
}
