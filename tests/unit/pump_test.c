// proto/pump.c: pairs of sockets, what goes through them, and how they end.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs those above.
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "pump.h"

#define MOST 2

static bool refusing;
static int opened = -1; // the far end of the last one opened
static uint32_t closed;
static const char *first = "";

static bool far_open(struct pump_pair *pair)
{
	int ends[2];

	if (refusing || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0)
		return false;
	pair->fds[1] = ends[0];
	opened = ends[1];
	pair->owner = 7;
	pair->flows[0].end = strlen(first);
	memcpy(pair->flows[0].data, first, strlen(first));
	return true;
}

static void far_close(const struct pump_pair *pair)
{
	closed += pair->owner;
}

PUMP(pump, MOST, far_open, far_close);
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static socklen_t address_size;

static int setup(void **state)
{
	(void)state;
	refusing = false;
	opened = -1;
	closed = 0;
	first = "";
	// The kernel names it.
	pump.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	address_size = sizeof(address);
	if (bind(pump.listener, (struct sockaddr *)&address, sizeof(sa_family_t)) < 0 ||
	    listen(pump.listener, 8) < 0 ||
	    getsockname(pump.listener, (struct sockaddr *)&address, &address_size) < 0)
		return -1;
	pump_prepare(&pump);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < pump.count; i++) {
		close(pump.order[i]->fds[0]);
		close(pump.order[i]->fds[1]);
	}
	close(pump.listener);
	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	return 0;
}

static int knock(void)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, address_size), 0);
	return fd;
}

static void turns(void)
{
	for (int i = 0; i < 8; i++)
		assert_true(pump_turn(&pump, 0));
}

// A new connection and its far end.
static int through(int *far)
{
	const int near = knock();

	turns();
	assert_true(opened >= 0);
	*far = opened;
	return near;
}

static bool is_over(int fd)
{
	char byte;
	const ssize_t got = recv(fd, &byte, 1, 0);

	return got == 0 || (got < 0 && errno == ECONNRESET);
}

// Sends a lot from one to the other, which reads in pieces of another size.
static void all_of_it(int from, int to)
{
	static uint8_t sent[300001], got[sizeof(sent)];
	size_t out = 0, in = 0;

	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (uint8_t)(i * 31 >> 3);
	memset(got, 0, sizeof(got));
	while (in < sizeof(sent)) {
		const ssize_t more = send(from, sent + out, sizeof(sent) - out, MSG_NOSIGNAL);
		const size_t left = sizeof(got) - in;

		out += more > 0 ? (size_t)more : 0;
		assert_true(pump_turn(&pump, 0));
		const ssize_t less = recv(to, got + in, left < 7777 ? left : 7777, 0);
		in += less > 0 ? (size_t)less : 0;
	}
	assert_memory_equal(sent, got, sizeof(sent));
}

static void both_ways(void **state)
{
	int far, near = through(&far);

	(void)state;
	all_of_it(near, far);
	all_of_it(far, near);
	close(near);
	close(far);
	turns();
	assert_int_equal(pump.count, 0);
	assert_int_equal(closed, 7);
}

static void line_goes_first(void **state)
{
	char got[16] = "";
	int far, near;

	(void)state;
	first = "line\n";
	near = through(&far);
	assert_int_equal(send(near, "rest", 4, 0), 4);
	turns();
	assert_int_equal(recv(far, got, sizeof(got), 0), 9);
	assert_string_equal(got, "line\nrest");
	close(near);
	close(far);
}

static void one_end_stops_writing(void **state)
{
	int far, near = through(&far);

	(void)state;
	assert_int_equal(send(near, "question", 8, 0), 8);
	shutdown(near, SHUT_WR);
	turns();
	char got[16] = "";
	assert_int_equal(recv(far, got, sizeof(got), 0), 8);
	assert_true(is_over(far));
	assert_int_equal(pump.count, 1);
	assert_int_equal(send(far, "answer", 6, 0), 6);
	close(far);
	turns();
	assert_int_equal(recv(near, got, sizeof(got), 0), 6);
	assert_true(is_over(near));
	assert_int_equal(pump.count, 0);
	close(near);
}

// What one end did not read when it went away is nobody's any more.
static void one_end_breaks_off(void **state)
{
	int far, near = through(&far);

	(void)state;
	while (send(near, "xxxxxxxxxxxxxxxx", 16, MSG_NOSIGNAL) > 0)
		turns();
	close(far);
	turns();
	assert_int_equal(pump.count, 0);
	assert_true(is_over(near));
	close(near);
}

static void more_than_may_wait(void **state)
{
	int far[MOST], near[MOST];

	(void)state;
	for (int i = 0; i < MOST; i++)
		near[i] = through(&far[i]);
	opened = -1;
	const int third = knock();
	turns();
	assert_int_equal(pump.count, MOST);
	assert_int_equal(opened, -1);
	// The first goes, so that the last takes its place.
	close(near[0]);
	close(far[0]);
	turns();
	assert_int_equal(pump.count, MOST);
	assert_true(opened >= 0);
	all_of_it(third, opened);
	all_of_it(far[1], near[1]);
	close(third);
	close(opened);
	close(near[1]);
	close(far[1]);
}

static void refused(void **state)
{
	(void)state;
	refusing = true;
	const int near = knock();
	turns();
	assert_true(is_over(near));
	assert_int_equal(pump.count, 0);
	assert_int_equal(closed, 0);
	close(near);
}

// An end that has gone is not told again and again while the other is waited for.
static void does_not_spin(void **state)
{
	struct timespec before, after;
	int far, near = through(&far);

	(void)state;
	close(near);
	turns();
	clock_gettime(CLOCK_MONOTONIC, &before);
	assert_true(pump_turn(&pump, 200));
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true((after.tv_sec - before.tv_sec) * 1000 +
			    (after.tv_nsec - before.tv_nsec) / 1000000 >=
		    190);
	assert_true(is_over(far));
	close(far);
	turns();
	assert_int_equal(pump.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_ways, setup, teardown),
		cmocka_unit_test_setup_teardown(line_goes_first, setup, teardown),
		cmocka_unit_test_setup_teardown(one_end_stops_writing, setup, teardown),
		cmocka_unit_test_setup_teardown(one_end_breaks_off, setup, teardown),
		cmocka_unit_test_setup_teardown(more_than_may_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(refused, setup, teardown),
		cmocka_unit_test_setup_teardown(does_not_spin, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
