// client/gate/wire.c and socket.c: numbers and strings over a socket.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs those above.
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire.h"

static struct wire wire;
static int other;

static void start(int watched)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	wire_open(&wire, pair[0], watched);
	other = pair[1];
}

static void stop(void)
{
	close(wire.fd);
	close(other);
}

static void sent(const void *bytes, size_t size)
{
	assert_int_equal(write(other, bytes, size), (ssize_t)size);
	assert_int_equal(shutdown(other, SHUT_WR), 0);
}

static void there_and_back(void **state)
{
	static char text[100], back[100];
	uint64_t number;
	size_t size;

	(void)state;
	start(-1);
	for (size_t length = 0; length < 20; length++) {
		memset(text, 'a' + (int)length, length);
		assert_true(wire_write_number(&wire, length << 56 | 7));
		assert_true(wire_write_string(&wire, text, length));
	}
	assert_true(wire_flush(&wire));
	const int swap = wire.fd;
	wire.fd = other;
	other = swap;
	for (size_t length = 0; length < 20; length++) {
		memset(text, 'a' + (int)length, length);
		assert_true(wire_read_number(&wire, &number));
		assert_int_equal(number, length << 56 | 7);
		assert_true(wire_read_string(&wire, back, sizeof(back), &size));
		assert_int_equal(size, length);
		assert_memory_equal(text, back, length);
	}
	stop();
}

static void strings(void **state)
{
	char text[8];
	size_t size;

	(void)state;
	start(-1);
	sent("\x09\0\0\0\0\0\0\0"
	     "123456789\0\0\0\0\0\0\0",
	     24);
	assert_false(wire_read_string(&wire, text, sizeof(text), &size));
	assert_non_null(wire.trouble);
	// Once in trouble, it stays there.
	assert_false(wire_read(&wire, text, 1));
	assert_false(wire_write_number(&wire, 1));
	stop();

	start(-1);
	sent("\x03\0\0\0\0\0\0\0"
	     "123\0\0\0\0\x01",
	     16);
	assert_false(wire_read_string(&wire, text, sizeof(text), &size));
	stop();

	start(-1);
	sent("\xff\xff\xff\xff\xff\xff\xff\xff"
	     "123\0\0\0\0\0",
	     16);
	assert_false(wire_read_string(&wire, text, sizeof(text), &size));
	stop();

	start(-1);
	sent("\x09\0\0\0\0\0\0\0"
	     "123456789\0\0\0\0\0\0\0",
	     24);
	assert_true(wire_read_text(&wire, text, 4, 100, &size));
	assert_int_equal(size, 4);
	assert_memory_equal(text, "1234", 4);
	assert_false(wire_read(&wire, text, 1));
	stop();

	start(-1);
	sent("\x09\0\0\0\0\0\0\0"
	     "123456789\0\0\0\0\0\0\0",
	     24);
	assert_false(wire_read_text(&wire, text, 4, 8, &size));
	stop();
}

static void ends(void **state)
{
	uint64_t number;

	(void)state;
	start(-1);
	sent("\x01\0\0\0\0\0\0", 7);
	assert_false(wire_read_number(&wire, &number));
	assert_string_equal(wire.trouble, "has ended the connection");
	assert_false(wire.deserted);
	stop();
	// To somebody who is gone.
	start(-1);
	close(other);
	assert_true(wire_write_number(&wire, 1));
	assert_false(wire_flush(&wire));
	assert_non_null(wire.trouble);
	close(wire.fd);
}

static void large(void **state)
{
	static uint8_t data[WIRE_BUFFER * 3], back[sizeof(data)];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 / 5);
	start(-1);
	assert_true(wire_write_number(&wire, 1));
	assert_true(wire_write(&wire, data, sizeof(data)));
	assert_true(wire_write(&wire, data, 5));
	assert_true(wire_flush(&wire));
	assert_int_equal(read(other, back, 8), 8);
	assert_int_equal(read(other, back, sizeof(back)), sizeof(back));
	assert_memory_equal(data, back, sizeof(data));
	assert_int_equal(read(other, back, sizeof(back)), 5);
	stop();
}

// Who waits for one side, and has lost the other.
static void deserted(void **state)
{
	int pair[2];
	uint64_t number;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	start(pair[0]);
	close(pair[1]);
	assert_false(wire_read_number(&wire, &number));
	assert_true(wire.deserted);
	close(pair[0]);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back), cmocka_unit_test(strings),
		cmocka_unit_test(ends),		  cmocka_unit_test(large),
		cmocka_unit_test(deserted),
	};

	// As in the gate.
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("gate_wire", tests, NULL, NULL);
}
