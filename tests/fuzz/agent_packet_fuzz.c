// What a client sends to an agent (client/agent/packet.h, order.h): a packet with descriptors over
// a socket, received and decoded.
// Holds: descriptors are the receiver's only with a packet that is taken whole, close-on-exec, and
// none is left over else; an order that is accepted is in all its parts what order.h says, and,
// packed again, decodes to the same; a refusal is a printable sentence that reaches the client.
#include <signal.h>
#include <sys/resource.h>

#include "agent.pb-c.h"
#include "order.h"
#include "packet.h"
#include "protocol.h"
#include "sockets.h"

static void strings_hold(char *const strings[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert(strings[i]);
	assert(!strings[count]);
}

static void order_holds(const struct order *order, size_t descriptors)
{
	const struct exec_order *exec = &order->exec;
	size_t words = 0;

	assert(order->kind <= ORDER_STATUS);
	if (order->kind == ORDER_SIGNAL)
		assert(order->signal >= 1 && order->signal < NSIG);
	if (order->kind != ORDER_EXEC) {
		assert(descriptors == 0);
		return;
	}
	assert(descriptors == (exec->terminal ? 0 : ORDER_DESCRIPTORS));
	while (exec->argv[words])
		words++;
	assert(words > 0 && exec->argv[0][0] != '\0');
	assert(exec->environment_count <= ORDER_ENVIRONMENT);
	strings_hold(exec->environment, exec->environment_count);
	for (size_t i = 0; i < exec->environment_count; i++)
		assert(strchr(exec->environment[i] + (exec->environment[i][0] != '\0'), '='));
	assert(exec->directory && exec->timeout_ms <= ORDER_TIMEOUT_MAX);
}

static ProtobufCBinaryData bytes_of(const char *text)
{
	return (ProtobufCBinaryData){ .len = strlen(text), .data = (uint8_t *)text };
}

// Packs `order` as a client would. Returns memory to be freed.
static uint8_t *order_pack(const struct order *order, size_t *size)
{
	Lodger__Agent__Request request = LODGER__AGENT__REQUEST__INIT;
	Lodger__Agent__Exec exec = LODGER__AGENT__EXEC__INIT;
	Lodger__Agent__Signal number = LODGER__AGENT__SIGNAL__INIT;
	Lodger__Agent__Keep keep = LODGER__AGENT__KEEP__INIT;
	Lodger__Agent__Status status = LODGER__AGENT__STATUS__INIT;
	ProtobufCBinaryData *words = NULL;

	request.version = AGENT_PROTOCOL_VERSION;
	if (order->kind == ORDER_EXEC) {
		while (order->exec.argv[exec.n_argv])
			exec.n_argv++;
		exec.n_env = order->exec.environment_count;
		words = calloc(exec.n_argv + exec.n_env, sizeof(*words));
		assert(words);
		exec.argv = words;
		exec.env = words + exec.n_argv;
		for (size_t i = 0; i < exec.n_argv; i++)
			exec.argv[i] = bytes_of(order->exec.argv[i]);
		for (size_t i = 0; i < exec.n_env; i++)
			exec.env[i] = bytes_of(order->exec.environment[i]);
		exec.directory = bytes_of(order->exec.directory);
		exec.terminal = order->exec.terminal;
		exec.rows = order->exec.rows;
		exec.columns = order->exec.columns;
		exec.timeout_ms = order->exec.timeout_ms;
		request.operation_case = LODGER__AGENT__REQUEST__OPERATION_EXEC;
		request.exec = &exec;
	} else if (order->kind == ORDER_SIGNAL) {
		number.number = (uint32_t)order->signal;
		request.operation_case = LODGER__AGENT__REQUEST__OPERATION_SIGNAL;
		request.signal = &number;
	} else if (order->kind == ORDER_KEEP) {
		request.operation_case = LODGER__AGENT__REQUEST__OPERATION_KEEP;
		request.keep = &keep;
	} else {
		request.operation_case = LODGER__AGENT__REQUEST__OPERATION_STATUS;
		request.status = &status;
	}
	*size = lodger__agent__request__get_packed_size(&request);
	uint8_t *packed = malloc(*size);
	assert(packed);
	lodger__agent__request__pack(&request, packed);
	free(words);
	return packed;
}

// One way to write an order down: what is decoded from it must be written so again.
static void again(const struct order *order, size_t descriptors)
{
	struct order second;
	struct refusal refusal;
	size_t size, second_size;
	uint8_t *packed = order_pack(order, &size);

	assert(order_decode(packed, size, descriptors, &second, &refusal));
	uint8_t *second_packed = order_pack(&second, &second_size);
	assert(size == second_size && memcmp(packed, second_packed, size) == 0);
	free(second_packed);
	free(packed);
}

static void refusal_holds(const struct refusal *refusal, int connection, int client)
{
	uint8_t packet[1024];

	assert(refusal->code == CODE(REQUEST) || refusal->code == CODE(VERSION));
	assert(refusal->message[0] != '\0');
	for (const char *c = refusal->message; *c; c++)
		assert(*c >= ' ' && *c <= '~');
	assert(reply_refusal(connection, refusal));
	const ssize_t size = recv(client, packet, sizeof(packet), MSG_DONTWAIT);
	assert(size > 0);
	Lodger__Agent__Reply *reply = lodger__agent__reply__unpack(NULL, (size_t)size, packet);
	assert(reply && reply->result_case == LODGER__AGENT__REPLY__RESULT_ERROR);
	assert(reply->error->code == refusal->code);
	assert(strcmp(reply->error->message, refusal->message) == 0);
	lodger__agent__reply__free_unpacked(reply, NULL);
}

// So that no more than `count` further descriptors can be opened; any number for -1.
static void descriptors_limit(int count)
{
	struct rlimit limit;
	int fd = 0;

	assert(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	limit.rlim_cur = limit.rlim_max < 1024 ? limit.rlim_max : 1024;
	if (count >= 0) {
		for (limit.rlim_cur = 0;; limit.rlim_cur++) {
			if (fcntl(fd++, F_GETFD) >= 0)
				continue;
			if (count-- == 0)
				break;
		}
	}
	assert(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static void packet_holds(int connection, int client, size_t sent, size_t descriptors, int room)
{
	struct packet packet = { 0 };
	struct refusal refusal = { .code = CODE(NONE) };
	struct order order;
	const uint64_t before = descriptors_open();

	descriptors_limit(room);
	const enum packet_result result = packet_receive(connection, &packet, &refusal);
	descriptors_limit(-1);
	if (result == PACKET_CLOSED) {
		assert(sent == 0);
	} else if (result == PACKET_REFUSED) {
		assert(sent > AGENT_PACKET_MAX || descriptors > ORDER_DESCRIPTORS ||
		       (room >= 0 && (size_t)room < descriptors));
		refusal_holds(&refusal, connection, client);
	} else {
		assert(sent > 0 && sent <= AGENT_PACKET_MAX && packet.size == sent);
		assert(packet.descriptor_count == descriptors && descriptors <= ORDER_DESCRIPTORS);
		for (size_t i = 0; i < descriptors; i++)
			assert(fcntl(packet.descriptors[i], F_GETFD) == FD_CLOEXEC);
		if (order_decode(packet.data, packet.size, descriptors, &order, &refusal)) {
			order_holds(&order, descriptors);
			again(&order, descriptors);
		} else {
			refusal_holds(&refusal, connection, client);
		}
		for (size_t i = 0; i < descriptors; i++)
			close(packet.descriptors[i]);
	}
	assert(descriptors_open() == before);
}

// An input: how many descriptors, how many there is room for, how the rest is repeated, the rest.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t packet[AGENT_PACKET_MAX + 1];
	static const size_t lengths[] = { 0, 512, AGENT_PACKET_MAX, AGENT_PACKET_MAX + 1 };
	struct input input = { data, size };
	const size_t descriptors = input_byte(&input) % (SOCKETS_DESCRIPTORS + 1);
	const uint8_t room = input_byte(&input), repeat = input_byte(&input);
	int ends[2];

	// Rarely: such a packet takes a thousand times as long.
	size_t length = repeat >= 0xfc ? lengths[repeat & 3] : 0;
	if (input.size == 0 || input.size > sizeof(packet) || length < input.size)
		length = input.size < sizeof(packet) ? input.size : sizeof(packet);
	for (size_t done = 0; done < length; done += input.size)
		memcpy(packet + done, input.data,
		       length - done < input.size ? length - done : input.size);

	assert(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
	assert(socket_send(ends[0], packet, length, descriptors));
	packet_holds(ends[1], ends[0], length, descriptors, room < 0x20 ? room & 3 : -1);
	close(ends[0]);
	close(ends[1]);
	return 0;
}
