// client/gate/operations.c: walks the table, and has a connection served in which every operation that
// is refused is asked for (client/gate/serve.c, client_request.c, answer.c, handshake.c).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs those above.
#include <cmocka.h>

#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"
#include "log.h"
#include "operations.h"
#include "protocol_numbers.h"

#define LAST_OPERATION 47U

static const struct limits limits = { .item = 4096, .session = 65536, .connections = 1 };

static const char *policy_words(enum policy policy)
{
	static const char *const words[] = {
		"pass", "add", "build", "settings", "pretend", "refuse"
	};

	return words[policy];
}

// What is let through is written down here once more: who adds to it has to do so twice.
static void what_is_let_through(void **state)
{
	static const struct {
		uint32_t number;
		const char *policy;
	} rows[] = {
		{ 1, "pass" },	 { 7, "add" },	    { 9, "build" },    { 10, "pass" },
		{ 11, "pass" },	 { 12, "pretend" }, { 13, "pretend" }, { 19, "settings" },
		{ 26, "pass" },	 { 29, "pass" },    { 30, "pass" },    { 31, "pass" },
		{ 32, "pass" },	 { 40, "pass" },    { 41, "pass" },    { 43, "pass" },
		{ 46, "build" },
	};

	(void)state;
	for (uint32_t number = 0; number <= LAST_OPERATION + 1; number++) {
		const struct operation *operation = operation_find(number);
		const char *expected = "refuse";

		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			if (rows[i].number == number)
				expected = rows[i].policy;
		}
		if (operation != NULL)
			assert_string_equal(policy_words(operation->policy), expected);
		else
			assert_string_equal(expected, "refuse");
	}
	// The numbers that have never been, or are no more (worker-protocol.hh).
	for (uint32_t number = 0; number <= LAST_OPERATION + 1; number++) {
		const bool none = number == 0 || number == 2 || number == 15 || number == 17 ||
				  number > LAST_OPERATION;

		assert_int_equal(operation_find(number) == NULL, none);
	}
	assert_null(operation_find(UINT64_C(1) << 32 | 1));
	assert_null(operation_find(UINT64_MAX));
}

static void shape_holds(const char *shape, const char *letters, unsigned int most)
{
	unsigned int depth = 0;

	for (; *shape != '\0'; shape++) {
		if (*shape == '[') {
			assert_true(++depth <= most && shape[1] != ']');
		} else if (*shape == ']') {
			assert_true(depth-- > 0);
		} else {
			assert_non_null(strchr(letters, *shape));
			// Framed content is the last of a request.
			assert_true(*shape != 'F' || (shape[1] == '\0' && depth == 0));
		}
	}
	assert_int_equal(depth, 0);
}

static void rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < operation_count; i++) {
		const struct operation *row = &operations[i];
		const bool refused = row->policy == POLICY_REFUSE;

		for (size_t j = 0; j < i; j++) {
			assert_int_not_equal(operations[j].number, row->number);
			assert_string_not_equal(operations[j].name, row->name);
		}
		shape_holds(row->request, "nslbpPNMCHODF", 1);
		assert_true(strlen(row->request) <= REQUEST_PARTS + 4);
		assert_int_equal(row->reply == NULL, refused);
		assert_int_equal(row->asked != NULL && row->why != NULL, refused);
		if (refused)
			assert_true(strlen(row->why) > 20 && row->why[strlen(row->why) - 1] != '.');
		else
			shape_holds(row->reply, "nsl?r", 2);
		// What is passed on is checked: no string of any bytes, and no content but in its place.
		if (row->policy == POLICY_PASS || row->policy == POLICY_BUILD)
			assert_null(strpbrk(row->request, "slF"));
	}
}

// Two ends of what a worker has two of.
struct ends {
	int client, daemon;
};

static void number_send(int fd, uint64_t number)
{
	const uint64_t raw = htole64(number);

	assert_int_equal(write(fd, &raw, sizeof(raw)), sizeof(raw));
}

static void string_send(int fd, const char *text)
{
	static const char zeros[8];
	const size_t size = strlen(text);

	number_send(fd, size);
	assert_int_equal(write(fd, text, size), (ssize_t)size);
	assert_true(write(fd, zeros, (size_t)(wire_padded(size) - size)) >= 0);
}

static uint64_t number_receive(int fd)
{
	uint64_t raw = 0;

	if (recv(fd, &raw, sizeof(raw), MSG_WAITALL) != sizeof(raw))
		return UINT64_MAX;
	return le64toh(raw);
}

static const char *string_receive(int fd)
{
	static char text[4096];
	const uint64_t size = number_receive(fd);

	assert_true(size < sizeof(text) - 8);
	if (size > 0)
		assert_int_equal(recv(fd, text, wire_padded(size), MSG_WAITALL),
				 (ssize_t)wire_padded(size));
	text[size] = '\0';
	return text;
}

static struct connection connection;
static uint8_t buffer[REQUEST_ROOM + 4096];
static struct account account;

static struct ends start(void)
{
	const int large = 1 << 20;
	int client[2], daemon[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, client), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, daemon), 0);
	assert_int_equal(
		fcntl(client[0], F_SETFL, O_NONBLOCK) + fcntl(daemon[0], F_SETFL, O_NONBLOCK), 0);
	for (int i = 0; i < 2; i++)
		(void)setsockopt(client[i], SOL_SOCKET, SO_SNDBUF, &large, sizeof(large));
	memset(&connection, 0, sizeof(connection));
	memset(&account, 0, sizeof(account));
	wire_open(&connection.client, client[0], -1);
	wire_open(&connection.daemon, daemon[0], client[0]);
	request_open(&connection.request, buffer, sizeof(buffer), 4096);
	connection.limits = &limits;
	connection.account = &account;
	connection.store = -1;
	// A client of this version, and a daemon's greeting.
	number_send(client[1], GREETING_CLIENT);
	number_send(client[1], VERSION_SPOKEN);
	number_send(client[1], 0);
	number_send(client[1], 0);
	number_send(daemon[1], GREETING_DAEMON);
	number_send(daemon[1], VERSION(38U));
	string_send(daemon[1], "2.26");
	number_send(daemon[1], SAYING_LAST);
	return (struct ends){ client[1], daemon[1] };
}

static void greeting_receive(int client)
{
	assert_int_equal(number_receive(client), GREETING_DAEMON);
	assert_int_equal(number_receive(client), VERSION_SPOKEN);
	(void)string_receive(client);
	assert_int_equal(number_receive(client), SAYING_LAST);
}

static const char *error_receive(int client)
{
	static char text[4096];

	assert_int_equal(number_receive(client), SAYING_ERROR);
	assert_string_equal(string_receive(client), "Error");
	assert_int_equal(number_receive(client), 0);
	assert_string_equal(string_receive(client), "Error");
	snprintf(text, sizeof(text), "%s", string_receive(client));
	assert_int_equal(number_receive(client), 0);
	assert_int_equal(number_receive(client), 0);
	return text;
}

static void stop(struct ends ends)
{
	close(ends.client);
	close(ends.daemon);
	close(connection.client.fd);
	close(connection.daemon.fd);
}

// The smallest request of a shape: nothing in each list.
static void request_send(int fd, const struct operation *operation)
{
	number_send(fd, operation->number);
	for (const char *kind = operation->request; *kind != '\0'; kind++) {
		if (*kind == '[')
			kind = strchr(kind, ']');
		number_send(fd, 0);
	}
}

static void every_refusal_is_heard(void **state)
{
	const struct ends ends = start();
	unsigned int refused = 0;
	char expected[1024];
	uint64_t greeting[4];

	(void)state;
	for (size_t i = 0; i < operation_count; i++) {
		if (operations[i].policy == POLICY_REFUSE)
			request_send(ends.client, &operations[i]);
	}
	shutdown(ends.client, SHUT_WR);
	connection_serve(&connection);
	greeting_receive(ends.client);
	for (size_t i = 0; i < operation_count; i++) {
		if (operations[i].policy != POLICY_REFUSE)
			continue;
		snprintf(expected, sizeof(expected), "lodger: %s is refused: %s",
			 operations[i].asked, operations[i].why);
		assert_string_equal(error_receive(ends.client), expected);
		refused++;
	}
	assert_true(refused > 20 && connection.lines == CONNECTION_LINES);
	// The daemon has heard the greeting, and nothing else.
	shutdown(connection.client.fd, SHUT_RDWR);
	shutdown(connection.daemon.fd, SHUT_WR);
	assert_int_equal(recv(ends.daemon, greeting, sizeof(greeting), MSG_WAITALL),
			 sizeof(greeting));
	assert_int_equal(le64toh(greeting[1]), VERSION_SPOKEN);
	assert_int_equal(number_receive(ends.daemon), UINT64_MAX);
	stop(ends);
}

// What is passed on arrives as it was sent, and nothing of SetOptions does.
static void what_is_passed_on_arrives(void **state)
{
	const struct ends ends = start();
	static const char path[] = "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-x";
	const struct operation *options = operation_find(19);

	(void)state;
	request_send(ends.client, options);
	number_send(ends.client, 1);
	string_send(ends.client, path);
	number_send(ends.client, 1);
	string_send(ends.client, "/nix/store/../etc");
	shutdown(ends.client, SHUT_WR);
	number_send(ends.daemon, SAYING_LAST);
	number_send(ends.daemon, 1);
	connection_serve(&connection);
	greeting_receive(ends.client);
	assert_int_equal(number_receive(ends.client), SAYING_LAST);
	assert_int_equal(number_receive(ends.client), SAYING_LAST);
	assert_int_equal(number_receive(ends.client), 1);
	assert_non_null(strstr(error_receive(ends.client), "this is not a store path"));
	for (int i = 0; i < 4; i++)
		(void)number_receive(ends.daemon);
	assert_int_equal(number_receive(ends.daemon), 1);
	assert_string_equal(string_receive(ends.daemon), path);
	shutdown(connection.daemon.fd, SHUT_WR);
	assert_int_equal(number_receive(ends.daemon), UINT64_MAX);
	stop(ends);
}

// A client hears of the daemon's loss, but not in the middle of something else.
static void a_daemon_that_is_gone(void **state)
{
	struct ends ends = start();
	static const char path[] = "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-x";

	(void)state;
	number_send(ends.client, 1);
	string_send(ends.client, path);
	shutdown(ends.client, SHUT_WR);
	shutdown(ends.daemon, SHUT_WR);
	connection_serve(&connection);
	greeting_receive(ends.client);
	assert_non_null(strstr(error_receive(ends.client), "the package daemon has ended"));
	stop(ends);

	ends = start();
	number_send(ends.client, 1);
	string_send(ends.client, path);
	shutdown(ends.client, SHUT_WR);
	number_send(ends.daemon, SAYING_LINE);
	number_send(ends.daemon, 100);
	shutdown(ends.daemon, SHUT_WR);
	connection_serve(&connection);
	shutdown(connection.client.fd, SHUT_WR);
	greeting_receive(ends.client);
	uint64_t number = number_receive(ends.client);
	assert_true(number == UINT64_MAX || number == SAYING_LINE);
	assert_int_equal(number_receive(ends.client), UINT64_MAX);
	stop(ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_let_through),
		cmocka_unit_test(rows),
		cmocka_unit_test(every_refusal_is_heard),
		cmocka_unit_test(what_is_passed_on_arrives),
		cmocka_unit_test(a_daemon_that_is_gone),
	};

	return cmocka_run_group_tests_name("gate_operations", tests, NULL, NULL);
}
