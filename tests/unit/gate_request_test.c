// client/gate/client_request.c: what is read, what is refused by its words, and what cannot be read.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs those above.
#include <cmocka.h>

#include <endian.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client_request.h"

#define ITEM 100U
#define PATH "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-x"

static struct wire wire;
static struct request request;
static int other;

static void start(void)
{
	static uint8_t buffer[REQUEST_ROOM + ITEM];
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(fcntl(pair[0], F_SETFL, O_NONBLOCK), 0);
	wire_open(&wire, pair[0], -1);
	other = pair[1];
	request_open(&request, buffer, sizeof(buffer), ITEM);
}

static void stop(void)
{
	close(wire.fd);
	close(other);
}

static void number(uint64_t value)
{
	const uint64_t raw = htole64(value);

	assert_int_equal(write(other, &raw, sizeof(raw)), sizeof(raw));
}

static void string(const char *text)
{
	static const char zeros[8];
	const size_t size = strlen(text);

	number(size);
	assert_int_equal(write(other, text, size), (ssize_t)size);
	assert_true(write(other, zeros, (size_t)(wire_padded(size) - size)) >= 0);
}

static enum request_read read_shape(const char *shape)
{
	const struct operation operation = { .name = "test", .request = shape };

	shutdown(other, SHUT_WR);
	return request_read(&request, &wire, &operation);
}

static void words(void **state)
{
	static const struct {
		const char *shape, *word;
		bool good;
	} rows[] = {
		{ "p", PATH, true },
		{ "p", "x", false },
		{ "p", "", false },
		{ "N", "name", true },
		{ "N", "a/b", false },
		{ "M", "text:sha256", true },
		{ "M", "fixed:sha256", true },
		{ "M", "fixed:r:sha256", true },
		{ "M", "text:sha1", false },
		{ "M", "fixed:git:sha1", false },
		{ "M", "", false },
		{ "C", "", true },
		{ "C", "text:sha256:0", true },
		{ "C", "a\nb", false },
		{ "C", "\x1b[31m", false },
		{ "H", "0123456789abcdfghijklmnpqrsvwxyz", true },
		{ "H", "0123", false },
		{ "O", "x", false },
		{ "s", "\x1b\n", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start();
		string(rows[i].word);
		assert_int_equal(read_shape(rows[i].shape), REQUEST_READ);
		if ((request.problem == NULL) != rows[i].good)
			fail_msg("%s %s", rows[i].shape, rows[i].word);
		if (!rows[i].good)
			assert_string_equal(request.quoted, rows[i].word);
		stop();
	}
}

// A wrong word leaves the rest in its place.
static void parts(void **state)
{
	struct cursor cursor;

	(void)state;
	start();
	string("bad/name");
	number(2);
	string(PATH);
	string(PATH "y");
	number(1);
	number(1);
	string("key");
	string("value");
	number(77);
	number(5);
	assert_int_equal(read_shape("NPb[ss]n"), REQUEST_READ);
	assert_non_null(request.problem);
	cursor = request_part(&request, 1);
	assert_int_equal(cursor_number(&cursor), 2);
	assert_true(view_is(cursor_string(&cursor), PATH));
	assert_true(view_is(cursor_string(&cursor), PATH "y"));
	cursor = request_part(&request, 3);
	assert_int_equal(cursor_number(&cursor), 1);
	assert_true(view_is(cursor_string(&cursor), "key"));
	assert_true(view_is(cursor_string(&cursor), "value"));
	cursor = request_part(&request, 4);
	assert_int_equal(cursor_number(&cursor), 77);
	stop();

	start();
	number(2);
	assert_int_equal(read_shape("b"), REQUEST_READ);
	assert_non_null(request.problem);
	stop();
}

static void not_to_be_read(void **state)
{
	static const struct {
		const char *shape;
		uint64_t first;
		enum request_read result;
	} rows[] = {
		{ "p", REQUEST_WORD + 1, REQUEST_UNREADABLE },
		{ "p", UINT64_MAX, REQUEST_UNREADABLE },
		{ "p", UINT64_MAX - 7, REQUEST_UNREADABLE },
		{ "s", REQUEST_ROOM + ITEM, REQUEST_UNREADABLE },
		{ "s", UINT64_MAX, REQUEST_UNREADABLE },
		{ "P", REQUEST_LIST + 1, REQUEST_UNREADABLE },
		{ "D", UINT64_MAX, REQUEST_UNREADABLE },
		{ "[ss]", UINT64_MAX, REQUEST_UNREADABLE },
		{ "p", 1, REQUEST_LOST },
		{ "P", 1, REQUEST_LOST },
		{ "nn", 1, REQUEST_LOST },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start();
		number(rows[i].first);
		if (read_shape(rows[i].shape) != rows[i].result)
			fail_msg("%s %zu", rows[i].shape, i);
		stop();
	}
	// A list may be as long as the buffer allows, whatever its count.
	start();
	number(REQUEST_LIST);
	for (unsigned int i = 0; i < (REQUEST_ROOM + ITEM) / 8; i++) {
		if (send(other, "\0\0\0\0\0\0\0\0", 8, MSG_DONTWAIT) != 8)
			break;
	}
	assert_int_not_equal(read_shape("l"), REQUEST_READ);
	stop();
}

static void frames_send(const size_t *sizes)
{
	static const char data[ITEM * 3];

	for (; *sizes > 0; sizes++) {
		number(*sizes);
		assert_int_equal(write(other, data, *sizes), (ssize_t)*sizes);
	}
	number(0);
	number(4711);
	shutdown(other, SHUT_WR);
}

static void frames(void **state)
{
	static const struct {
		size_t sizes[5];
		bool fits;
	} rows[] = {
		{ { 0 }, true },
		{ { 1, 2, 3, 0 }, true },
		{ { ITEM, 0 }, true },
		{ { ITEM - 1, 1, 0 }, true },
		{ { ITEM + 1, 0 }, false },
		{ { ITEM, 1, 0 }, false },
		{ { 1, ITEM, 50, 7, 0 }, false },
	};
	uint64_t next;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start();
		frames_send(rows[i].sizes);
		assert_int_equal(read_shape("F"), REQUEST_READ);
		assert_int_equal(request_frames(&request, &wire),
				 rows[i].fits ? FRAMES_READ : FRAMES_TOO_LARGE);
		assert_true(request_drain(&request, &wire));
		// Whatever it was, what follows is in its place.
		assert_true(wire_read_number(&wire, &next));
		assert_int_equal(next, 4711);
		stop();
	}
	start();
	number(UINT64_MAX);
	assert_int_equal(read_shape("F"), REQUEST_READ);
	assert_int_equal(request_frames(&request, &wire), FRAMES_TOO_LARGE);
	assert_false(request_drain(&request, &wire));
	stop();
	start();
	number(3);
	assert_int_equal(read_shape("F"), REQUEST_READ);
	assert_int_equal(request_frames(&request, &wire), FRAMES_LOST);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(parts),
		cmocka_unit_test(not_to_be_read),
		cmocka_unit_test(frames),
	};

	return cmocka_run_group_tests_name("gate_request", tests, NULL, NULL);
}
