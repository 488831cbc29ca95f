// Programs of the caller's (child.h). Runs as the caller. The session is not involved: nothing of it is
// open in the program.
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"

#define END_STEPS 40
#define STEP_NS 50000000L

// With the signals and the mask that programs expect: this process has blocked some.
static int spawn(pid_t *pid, const char *program, int input, int output)
{
	static char shell[] = "sh", option[] = "-c";
	char *argv[] = { shell, option, (char *)program, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, defaults;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	int error = posix_spawn_file_actions_init(&actions);
	if (error != 0)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (error == 0) {
		posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
		posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
		posix_spawnattr_setsigmask(&attributes, &none);
		posix_spawnattr_setsigdefault(&attributes, &defaults);
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
							      POSIX_SPAWN_SETSIGDEF |
							      POSIX_SPAWN_SETPGROUP);
		error = posix_spawn(pid, "/bin/sh", &actions, &attributes, argv, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

bool child_start(struct child *child, const char *program, struct failure *failure)
{
	int to[2], from[2];

	*child = (struct child){ .to = -1, .from.fd = -1 };
	if (pipe2(to, O_CLOEXEC) < 0)
		return fail(failure, "starting '%s': %s", program, strerror(errno));
	autoclose int its_input = to[0];
	child->to = to[1];
	if (pipe2(from, O_CLOEXEC) < 0)
		return fail(failure, "starting '%s': %s", program, strerror(errno));
	autoclose int its_output = from[1];
	child->from.fd = from[0];
	(void)fcntl(child->to, F_SETFL, O_NONBLOCK);
	(void)fcntl(child->from.fd, F_SETFL, O_NONBLOCK);
	const int error = spawn(&child->pid, program, its_input, its_output);
	return error == 0 || fail(failure, "starting '%s': %s", program, strerror(error));
}

void child_flush(struct child *child)
{
	struct text *pending = &child->pending;

	while (pending->size > 0 && child->to >= 0) {
		const ssize_t count = write(child->to, pending->data, pending->size);

		if (count > 0) {
			pending->size -= (size_t)count;
			memmove(pending->data, pending->data + count, pending->size);
		} else if (count < 0 && errno == EAGAIN) {
			return;
		} else if (errno != EINTR) {
			// It has closed its end: what comes is of no interest to it.
			close(child->to);
			child->to = -1;
		}
	}
	if (child->to < 0)
		text_free(pending);
}

void child_write(struct child *child, const void *data, size_t size)
{
	child_flush(child);
	if (child->to >= 0 && child->pending.size + size <= CHILD_PENDING_MAX)
		text_add(&child->pending, data, size);
	child_flush(child);
}

void child_end(struct child *child)
{
	const struct timespec step = { .tv_nsec = STEP_NS };
	bool gone = child->pid <= 0;

	child_flush(child);
	cleanup_close(&child->to);
	cleanup_close(&child->from.fd);
	for (int i = 0; !gone && i < END_STEPS; i++) {
		gone = waitpid(child->pid, NULL, WNOHANG) != 0;
		if (!gone)
			(void)nanosleep(&step, NULL);
	}
	if (!gone) {
		(void)kill(-child->pid, SIGKILL);
		(void)waitpid(child->pid, NULL, 0);
	}
	line_reader_free(&child->from);
	text_free(&child->pending);
	*child = (struct child){ .to = -1, .from.fd = -1 };
}
