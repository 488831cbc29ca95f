// proto/frame.c: whole frames, cut-off frames, frames that announce too much.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "frame.h"
#include "protocol.h"

// Writes `size` bytes into a pipe, closes it, and reads a frame from it.
static ssize_t read_back(const void *bytes, size_t size, uint8_t *buffer, size_t room)
{
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], bytes, size), (ssize_t)size);
	close(pipes[1]);
	errno = 0;
	ssize_t n = frame_read(pipes[0], buffer, room);
	int error = errno;
	close(pipes[0]);
	errno = error;
	return n;
}

static void whole_frames(void **state)
{
	uint8_t payload[HELPER_FRAME_MAX], buffer[HELPER_FRAME_MAX];
	const size_t sizes[] = { 0, 1, 255, 256, HELPER_FRAME_MAX - 1, HELPER_FRAME_MAX };

	(void)state;
	memset(payload, 0xa5, sizeof(payload));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int pipes[2];

		assert_int_equal(pipe(pipes), 0);
		assert_int_equal(frame_write(pipes[1], payload, sizes[i]), 0);
		assert_int_equal(frame_read(pipes[0], buffer, sizeof(buffer)), (ssize_t)sizes[i]);
		assert_memory_equal(buffer, payload, sizes[i]);
		close(pipes[0]);
		close(pipes[1]);
	}
}

static void too_long_to_write(void **state)
{
	static uint8_t payload[HELPER_FRAME_MAX + 1];

	(void)state;
	assert_int_equal(frame_write(STDOUT_FILENO, payload, sizeof(payload)), -1);
	assert_int_equal(errno, EMSGSIZE);
}

static void bad_lengths(void **state)
{
	static const struct {
		uint8_t bytes[8];
		size_t size;
		int error;
	} rows[] = {
		{ { 0 }, 0, ENODATA },
		{ { 1 }, 1, EPROTO },
		{ { 1, 0, 0 }, 3, EPROTO },
		{ { 1, 0, 0, 0 }, 4, EPROTO },
		{ { 2, 0, 0, 0, 9 }, 5, EPROTO },
		{ { 17, 0, 0, 0 }, 4, EMSGSIZE },
		{ { 0xff, 0xff, 0xff, 0x7f }, 4, EMSGSIZE },
		{ { 0, 0, 0, 0x80 }, 4, EMSGSIZE },
		{ { 0xff, 0xff, 0xff, 0xff }, 4, EMSGSIZE },
	};
	uint8_t buffer[16];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(read_back(rows[i].bytes, rows[i].size, buffer, sizeof(buffer)),
				 -1);
		assert_int_equal(errno, rows[i].error);
	}
}

static void byte_by_byte(void **state)
{
	static const uint8_t bytes[] = { 3, 0, 0, 0, 'a', 'b', 'c' };
	uint8_t buffer[4];
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	if (fork() == 0) {
		for (size_t i = 0; i < sizeof(bytes); i++) {
			usleep(1000);
			(void)!write(pipes[1], bytes + i, 1);
		}
		_exit(0);
	}
	close(pipes[1]);
	assert_int_equal(frame_read(pipes[0], buffer, sizeof(buffer)), 3);
	assert_memory_equal(buffer, "abc", 3);
	close(pipes[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_frames),
		cmocka_unit_test(too_long_to_write),
		cmocka_unit_test(bad_lengths),
		cmocka_unit_test(byte_by_byte),
	};

	return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
