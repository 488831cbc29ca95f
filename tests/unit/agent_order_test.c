// What the agent makes of clients' packets (client/agent/order.c): every check with a request
// just inside and just outside it, and packets built to make the decoder take memory or time.
// Pure: no privilege, no descriptors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above.
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "agent.pb-c.h"
#include "cleanup.h"
#include "environment.h"
#include "order.h"
#include "protocol.h"

static uint8_t packet[2 * AGENT_PACKET_MAX];

#define BYTES(text)                                 \
	{                                           \
		sizeof(text) - 1, (uint8_t *)(text) \
	}
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static size_t pack(Lodger__Agent__Request *message)
{
	assert_true(lodger__agent__request__get_packed_size(message) <= sizeof(packet));
	return lodger__agent__request__pack(message, packet);
}

static size_t pack_exec(Lodger__Agent__Exec *exec)
{
	Lodger__Agent__Request message = LODGER__AGENT__REQUEST__INIT;

	message.version = AGENT_PROTOCOL_VERSION;
	message.operation_case = LODGER__AGENT__REQUEST__OPERATION_EXEC;
	message.exec = exec;
	return pack(&message);
}

static void assert_refused(size_t size, size_t descriptors, code code, const char *part)
{
	struct order order;
	struct refusal refusal = { 0 };

	assert_false(order_decode(packet, size, descriptors, &order, &refusal));
	assert_int_equal(refusal.code, code);
	if (strstr(refusal.message, part) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", refusal.message, part);
}

static void assert_accepted(size_t size, size_t descriptors, struct order *order)
{
	struct refusal refusal = { 0 };

	if (!order_decode(packet, size, descriptors, order, &refusal))
		fail_msg("refused: %s", refusal.message);
}

static void exec_comes_through(void **state)
{
	ProtobufCBinaryData argv[] = { BYTES("prog"), BYTES(""), BYTES("\xff\n") };
	ProtobufCBinaryData env[] = { BYTES("A=1"), BYTES("B=="), BYTES("C=") };
	Lodger__Agent__Exec exec = LODGER__AGENT__EXEC__INIT;
	struct order order;

	(void)state;
	exec.argv = argv;
	exec.n_argv = COUNT(argv);
	exec.env = env;
	exec.n_env = COUNT(env);
	exec.directory = (ProtobufCBinaryData)BYTES("/tmp");
	exec.rows = UINT16_MAX;
	exec.columns = UINT16_MAX;
	exec.timeout_ms = ORDER_TIMEOUT_MAX;
	assert_accepted(pack_exec(&exec), 3, &order);

	assert_int_equal(order.kind, ORDER_EXEC);
	assert_string_equal(order.exec.argv[0], "prog");
	assert_string_equal(order.exec.argv[1], "");
	assert_string_equal(order.exec.argv[2], "\xff\n");
	assert_null(order.exec.argv[3]);
	assert_int_equal(order.exec.environment_count, 3);
	assert_string_equal(order.exec.environment[1], "B==");
	assert_string_equal(order.exec.directory, "/tmp");
	assert_false(order.exec.terminal);
	assert_int_equal(order.exec.rows, UINT16_MAX);
	assert_true(order.exec.timeout_ms == ORDER_TIMEOUT_MAX);

	exec.terminal = true;
	assert_accepted(pack_exec(&exec), 0, &order);
	assert_true(order.exec.terminal);
}

// Each row changes one thing of a good request.
static void exec_is_checked(void **state)
{
	static const struct {
		ProtobufCBinaryData argument, variable, directory;
		uint32_t rows, columns;
		uint64_t timeout_ms;
		bool terminal;
		size_t descriptors;
		const char *refusal;
	} rows[] = {
		{ BYTES(""), BYTES("A=1"), BYTES(""), 0, 0, 0, false, 3, "argv names no command" },
		{ BYTES("a\0b"), BYTES("A=1"), BYTES(""), 0, 0, 0, false, 3,
		  "argv contains a NUL" },
		{ BYTES("\0"), BYTES("A=1"), BYTES(""), 0, 0, 0, false, 3, "argv contains a NUL" },
		{ BYTES("a"), BYTES("A=\0"), BYTES(""), 0, 0, 0, false, 3, "env contains a NUL" },
		{ BYTES("a"), BYTES("A"), BYTES(""), 0, 0, 0, false, 3,
		  "\"A\" is not of the form" },
		{ BYTES("a"), BYTES(""), BYTES(""), 0, 0, 0, false, 3, "is not of the form" },
		{ BYTES("a"), BYTES("=1"), BYTES(""), 0, 0, 0, false, 3, "is not of the form" },
		{ BYTES("a"), BYTES("\x1b[31m\n"), BYTES(""), 0, 0, 0, false, 3, "\"?[31m?\" is" },
		{ BYTES("a"), BYTES("A=1"), BYTES("/\0"), 0, 0, 0, false, 3, "directory contains" },
		{ BYTES("a"), BYTES("A=1"), BYTES(""), 65536, 0, 0, false, 3, "rows and columns" },
		{ BYTES("a"), BYTES("A=1"), BYTES(""), 0, 65536, 0, false, 3, "rows and columns" },
		{ BYTES("a"), BYTES("A=1"), BYTES(""), 0, UINT32_MAX, 0, false, 3, "rows and" },
		{ BYTES("a"), BYTES("A=1"), BYTES(""), 0, 0, ORDER_TIMEOUT_MAX + 1, false, 3,
		  "timeout_ms" },
		{ BYTES("a"), BYTES("A=1"), BYTES(""), 0, 0, UINT64_MAX, false, 3, "timeout_ms" },
		{ BYTES("a"), BYTES("A=1"), BYTES(""), 0, 0, 0, false, 0, "0 descriptors" },
		{ BYTES("a"), BYTES("A=1"), BYTES(""), 0, 0, 0, false, 2, "2 descriptors" },
		{ BYTES("a"), BYTES("A=1"), BYTES(""), 0, 0, 0, true, 3, "3 descriptors" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		ProtobufCBinaryData argument = rows[i].argument, variable = rows[i].variable;
		Lodger__Agent__Exec exec = LODGER__AGENT__EXEC__INIT;

		exec.argv = &argument;
		exec.n_argv = 1;
		exec.env = &variable;
		exec.n_env = 1;
		exec.directory = rows[i].directory;
		exec.rows = rows[i].rows;
		exec.columns = rows[i].columns;
		exec.timeout_ms = rows[i].timeout_ms;
		exec.terminal = rows[i].terminal;
		assert_refused(pack_exec(&exec), rows[i].descriptors, CODE(REQUEST),
			       rows[i].refusal);
	}
}

static void exec_needs_argv(void **state)
{
	Lodger__Agent__Exec exec = LODGER__AGENT__EXEC__INIT;

	(void)state;
	assert_refused(pack_exec(&exec), 3, CODE(REQUEST), "argv names no command");
}

static void environment_is_counted(void **state)
{
	ProtobufCBinaryData argument = BYTES("a");
	autofree ProtobufCBinaryData *env = calloc(ORDER_ENVIRONMENT + 1, sizeof(*env));
	Lodger__Agent__Exec exec = LODGER__AGENT__EXEC__INIT;
	struct order order;

	(void)state;
	assert_non_null(env);
	for (size_t i = 0; i <= ORDER_ENVIRONMENT; i++)
		env[i] = (ProtobufCBinaryData)BYTES("A=1");
	exec.argv = &argument;
	exec.n_argv = 1;
	exec.env = env;
	exec.n_env = ORDER_ENVIRONMENT;
	assert_accepted(pack_exec(&exec), 3, &order);
	exec.n_env++;
	assert_refused(pack_exec(&exec), 3, CODE(REQUEST), "env has 4097 variables");
}

static void other_requests(void **state)
{
	static const struct {
		uint32_t number;
		bool good;
	} signals[] = { { 0, false },  { 1, true },	      { 9, true },	     { 64, true },
			{ 65, false }, { UINT32_MAX, false }, { 0x80000001U, false } };
	Lodger__Agent__Keep keep = LODGER__AGENT__KEEP__INIT;
	Lodger__Agent__Status status = LODGER__AGENT__STATUS__INIT;
	Lodger__Agent__Request message = LODGER__AGENT__REQUEST__INIT;
	struct order order;

	(void)state;
	message.version = AGENT_PROTOCOL_VERSION;
	assert_refused(pack(&message), 0, CODE(REQUEST), "names no operation");

	message.operation_case = LODGER__AGENT__REQUEST__OPERATION_KEEP;
	message.keep = &keep;
	assert_accepted(pack(&message), 0, &order);
	assert_int_equal(order.kind, ORDER_KEEP);
	assert_false(order.auto_off);
	keep.auto_off = true;
	assert_accepted(pack(&message), 0, &order);
	assert_true(order.auto_off);
	assert_refused(pack(&message), 1, CODE(REQUEST), "descriptors");

	message.operation_case = LODGER__AGENT__REQUEST__OPERATION_STATUS;
	message.status = &status;
	assert_accepted(pack(&message), 0, &order);
	assert_int_equal(order.kind, ORDER_STATUS);
	assert_refused(pack(&message), 3, CODE(REQUEST), "descriptors");

	for (size_t i = 0; i < COUNT(signals); i++) {
		Lodger__Agent__Signal signal = LODGER__AGENT__SIGNAL__INIT;

		signal.number = signals[i].number;
		message.operation_case = LODGER__AGENT__REQUEST__OPERATION_SIGNAL;
		message.signal = &signal;
		if (signals[i].good) {
			assert_accepted(pack(&message), 0, &order);
			assert_int_equal(order.signal, signals[i].number);
		} else {
			assert_refused(pack(&message), 0, CODE(REQUEST), "does not exist");
		}
	}
}

static void version_comes_first(void **state)
{
	static const uint8_t newer[] = { 0x08, 0x02, 0xf8, 0x07, 0x01 }; // 2, and an unknown field

	(void)state;
	memcpy(packet, newer, sizeof(newer));
	assert_refused(sizeof(newer), 0, CODE(VERSION), "version 2 of the protocol, this session");
	assert_refused(0, 0, CODE(VERSION), "version 0");
}

// Bytes that are no request, each told apart only by the sentence.
static void malformed(void **state)
{
	static const struct {
		ProtobufCBinaryData bytes;
		const char *refusal;
	} rows[] = {
		{ BYTES("\x08"), "not valid protobuf" },
		{ BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "not valid protobuf" },
		{ BYTES("\x08\x01\x12\x7f"), "not valid protobuf" },
		{ BYTES("\x08\x01\x12\xff\xff\xff\xff\x0f"), "not valid protobuf" },
		{ BYTES("\x08\x01\x12\x02\x0a\x05"), "not valid protobuf" },
		{ BYTES("\x08\x01\x12\x06\x0a\xff\xff\xff\xff\x7f"), "not valid protobuf" },
		{ BYTES("\x08\x01\x00\x00"), "not valid protobuf" },
		{ BYTES("\x08\x01\x10\x00"), "not valid protobuf" },	     // exec as a number
		{ BYTES("\x08\x01\x22\x00\xf8\x07\x01"), "unknown fields" }, // beside keep
		{ BYTES("\x08\x01\x22\x02\x10\x01"), "unknown fields" },     // in keep
		{ BYTES("\x08\x01\x12\x05\x0a\x01\x61\x48\x01"), "unknown fields" }, // in exec
		{ BYTES("\x08\x01\x1a\x04\x08\x01\x10\x01"), "unknown fields" },     // in signal
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		memcpy(packet, rows[i].bytes.data, rows[i].bytes.len);
		assert_refused(rows[i].bytes.len, 0, CODE(REQUEST), rows[i].refusal);
	}
}

// Fills a packet of the longest size with `unit` behind a good version, wrapped into exec or not.
static size_t fill(const uint8_t *unit, size_t size, bool wrapped)
{
	size_t used = 2;

	packet[0] = 0x08;
	packet[1] = AGENT_PROTOCOL_VERSION;
	if (wrapped) {
		const size_t length = (AGENT_PACKET_MAX - 6) / size * size;

		packet[used++] = 0x12;
		packet[used++] = (uint8_t)(length & 0x7f) | 0x80;
		packet[used++] = (uint8_t)(length >> 7 & 0x7f) | 0x80;
		packet[used++] = (uint8_t)(length >> 14);
	}
	while (used + size <= AGENT_PACKET_MAX) {
		memcpy(packet + used, unit, size);
		used += size;
	}
	return used;
}

static void bombs(void **state)
{
	static const struct {
		ProtobufCBinaryData unit;
		bool wrapped;
		const char *refusal;
	} rows[] = {
		{ BYTES("\xf8\x07\x01"), false, "too many parts" }, // unknown fields
		{ BYTES("\xf8\x07\x01"), true, "too many parts" },
		{ BYTES("\x48\x01"), true, "too many parts" },
		{ BYTES("\x0a\x00"), true, "too many parts" }, // empty arguments
		{ BYTES("\x12\x00"), true, "too many parts" }, // empty variables
		{ BYTES("\x12\x00"), false, "" },	       // one exec upon the other
		{ BYTES("\x12\x02\x0a\x00"), false, "" },
		{ BYTES("\x22\x00"), false, "" },	  // keep upon keep
		{ BYTES("\x22\x00\x2a\x00"), false, "" }, // keep, status, keep, …
		{ BYTES("\x1a\x00\x1a\x02\x08\x01"), false, "" },
		{ BYTES("\x08\x01"), false, "" }, // version upon version
	};
	struct order order;
	struct refusal refusal;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t size = fill(rows[i].unit.data, rows[i].unit.len, rows[i].wrapped);

		if (rows[i].refusal[0] != '\0')
			assert_refused(size, 3, CODE(REQUEST), rows[i].refusal);
		else // whatever it says, it must come back
			(void)order_decode(packet, size, 0, &order, &refusal);
	}
}

// A command line such as xargs makes: as long as a packet, of short words. It must fit the budget.
static void long_command_lines_fit(void **state)
{
	static ProtobufCBinaryData argv[AGENT_PACKET_MAX / 10];
	Lodger__Agent__Exec exec = LODGER__AGENT__EXEC__INIT;
	struct order order;
	size_t size;

	(void)state;
	for (size_t i = 0; i < COUNT(argv); i++)
		argv[i] = (ProtobufCBinaryData)BYTES("file.txt");
	exec.argv = argv;
	exec.n_argv = COUNT(argv);
	size = pack_exec(&exec);
	assert_in_range(size, AGENT_PACKET_MAX - 100, AGENT_PACKET_MAX + 100);
	assert_accepted(size, 3, &order);
	assert_string_equal(order.exec.argv[COUNT(argv) - 1], "file.txt");

	order_forget();
	assert_accepted(size, 3, &order);
}

// Every prefix of a good packet, and every single bit of it turned: no crash, under the sanitizers.
static void mutations(void **state)
{
	ProtobufCBinaryData argv[] = { BYTES("sh"), BYTES("-c"), BYTES("true") };
	ProtobufCBinaryData env[] = { BYTES("TERM=xterm"), BYTES("A=b") };
	Lodger__Agent__Exec exec = LODGER__AGENT__EXEC__INIT;
	struct order order;
	struct refusal refusal;

	(void)state;
	exec.argv = argv;
	exec.n_argv = COUNT(argv);
	exec.env = env;
	exec.n_env = COUNT(env);
	exec.timeout_ms = 1000;
	const size_t size = pack_exec(&exec);

	for (size_t length = 0; length < size; length++) {
		// Exact, so that the sanitizer sees a read beyond its end.
		autofree uint8_t *prefix = malloc(length + 1);

		assert_non_null(prefix);
		memcpy(prefix, packet, length);
		(void)order_decode(prefix, length, 3, &order, &refusal);
	}
	for (size_t bit = 0; bit < 8 * size; bit++) {
		packet[bit / 8] ^= (uint8_t)(1U << bit % 8);
		(void)order_decode(packet, size, 3, &order, &refusal);
		packet[bit / 8] ^= (uint8_t)(1U << bit % 8);
	}
	assert_accepted(size, 3, &order);
}

static void environments(void **state)
{
	static const char *const expected[] = {
		"HOME=/home/lodger-7",
		"USER=lodger-7",
		"LOGNAME=lodger-7",
		"LODGER_SESSION=lodger-7",
		"SHELL=/bin/bash",
		"PATH=/mine",
		"LANG=C.UTF-8",
		"TMPDIR=/tmp",
		"NIX_REMOTE=daemon",
		"A=2",
		"PAT=x",
		"PATHS=y",
		NULL,
	};
	char *own[] = { (char[]){ "A=1" },     (char[]){ "PATH=/mine" }, (char[]){ "PAT=x" },
			(char[]){ "PATHS=y" }, (char[]){ "A=2" },	 NULL };
	const struct exec_order exec = { .environment = own, .environment_count = 5 };

	(void)state;
	assert_int_equal(setenv("LD_PRELOAD", "/evil.so", 1), 0);
	char **made = environment_make(7, &exec);
	for (size_t i = 0; i < COUNT(expected) - 1; i++)
		assert_string_equal(made[i], expected[i]);
	assert_null(made[COUNT(expected) - 1]);

	// From here on for good. The order's own still win.
	environment_auto_off();
	made = environment_make(7, &exec);
	assert_string_equal(made[9], "LODGER_AUTO=0");
	assert_string_equal(made[10], "A=2");
	own[0] = (char[]){ "LODGER_AUTO=1" };
	made = environment_make(7, &exec);
	assert_string_equal(made[9], "LODGER_AUTO=1");
	assert_string_equal(environment_home(SESSION_NUMBER_MAX), "/home/lodger-65535");
}

static void refusals_are_one_printable_line(void **state)
{
	char name[1000];
	struct refusal refusal;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_false(refuse(&refusal, CODE(NOT_FOUND), "no \"%s\"", name));
	assert_int_equal(strlen(refusal.message), sizeof(refusal.message) - 1);
	refuse(&refusal, CODE(NOT_FOUND), "%s", "a\x1b\r\n\t\x7f\x80\x9b\xff~ ");
	assert_string_equal(refusal.message, "a????????~ ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exec_comes_through),
		cmocka_unit_test(exec_is_checked),
		cmocka_unit_test(exec_needs_argv),
		cmocka_unit_test(environment_is_counted),
		cmocka_unit_test(other_requests),
		cmocka_unit_test(version_comes_first),
		cmocka_unit_test(malformed),
		cmocka_unit_test(bombs),
		cmocka_unit_test(long_command_lines_fit),
		cmocka_unit_test(mutations),
		cmocka_unit_test(environments),
		cmocka_unit_test(refusals_are_one_printable_line),
	};

	return cmocka_run_group_tests_name("agent_order", tests, NULL, NULL);
}
