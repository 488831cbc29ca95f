// What of the caller's may go into a session as it is (client/lib/endpoint.h).
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#undef fail // the client has a function of that name

#include "endpoint.h"

// Judges `fd`, put in the place of standard input, and closes it.
static enum endpoint_verdict judge(int fd)
{
	struct failure failure;
	const int saved = dup(STDIN_FILENO);

	assert_true(fd >= 0);
	dup2(fd, STDIN_FILENO);
	const enum endpoint_verdict verdict = endpoint_judge(STDIN_FILENO, &failure);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(fd);
	return verdict;
}

// A file of `mode` with or without contents, opened with `flags`.
static int file_open(mode_t mode, bool contents, int flags)
{
	char path[] = "/tmp/lodger-endpoint-XXXXXX";
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	if (contents)
		assert_int_equal(write(fd, "x", 1), 1);
	const int opened = open(path, flags | O_CLOEXEC);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	unlink(path);
	return opened;
}

static void pipes_and_null(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(judge(ends[0]), ENDPOINT_PASS);
	assert_int_equal(judge(ends[1]), ENDPOINT_PASS);
	assert_int_equal(judge(open("/dev/null", O_RDWR)), ENDPOINT_PASS);
	assert_int_equal(judge(open("/dev/zero", O_RDONLY)), ENDPOINT_PASS);
}

// A session may reopen what it has: the file's mode must not give it more than the descriptor.
static void files(void **state)
{
	(void)state;
	assert_int_equal(judge(file_open(0644, true, O_RDONLY)), ENDPOINT_PASS);
	assert_int_equal(judge(file_open(0600, true, O_RDONLY)), ENDPOINT_PASS);
	assert_int_equal(judge(file_open(0666, true, O_RDONLY)), ENDPOINT_RELAY);
	assert_int_equal(judge(file_open(0644, false, O_WRONLY)), ENDPOINT_PASS);
	assert_int_equal(judge(file_open(0644, true, O_WRONLY)), ENDPOINT_RELAY);
	assert_int_equal(judge(file_open(0600, true, O_WRONLY | O_APPEND)), ENDPOINT_PASS);
	assert_int_equal(judge(file_open(0666, true, O_RDWR)), ENDPOINT_PASS);
}

static void what_stays_here(void **state)
{
	int ends[2];
	const int terminal = posix_openpt(O_RDWR | O_NOCTTY);

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(judge(ends[0]), ENDPOINT_RELAY);
	close(ends[1]);
	assert_int_equal(judge(terminal), ENDPOINT_RELAY);
	assert_int_equal(judge(open("/dev/urandom", O_RDONLY)), ENDPOINT_RELAY);
	assert_int_equal(judge(open("/proc/self/maps", O_RDONLY)), ENDPOINT_RELAY);
}

static void what_is_refused(void **state)
{
	(void)state;
	assert_int_equal(judge(open("/", O_RDONLY)), ENDPOINT_REFUSE);
	assert_int_equal(judge(open("/etc/passwd", O_PATH)), ENDPOINT_REFUSE);
	assert_int_equal(judge(epoll_create1(0)), ENDPOINT_REFUSE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pipes_and_null),
		cmocka_unit_test(files),
		cmocka_unit_test(what_stays_here),
		cmocka_unit_test(what_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
