// The helper's parser child as the process it is (parser_child.c): its own uid where that can be,
// seccomp on, started anew for every input, on an input that ends or one that is held open.
// Holds: exactly one struct comes out of the child or nothing; it says what request_decode, run here
// on the same bytes, says (so that a child that its filter kills shows); and no process is left,
// after its bound at the latest.
#include "fuzz.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#include "frame.h"
#include "helper.pb-c.h"
#include "parser_child.h"

// Above what a machine that is short of time may add to the bound.
#define PATIENCE_USEC 60000000U

static char program[PATH_MAX];

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 20);

	(void)argc;
	(void)argv;
	assert(size > 0);
	program[size] = '\0';
	strcpy(strrchr(program, '/'), "/parser_child");
	return 0;
}

// Runs it with `input` as its standard input. `life` is a pipe's write end that it and its children
// hold.
static void child_run(int input, int life, bool held, struct verdict *verdict)
{
	char *const argv[] = { (char[]){ "parser_child" }, held ? (char[]){ "held" } : NULL, NULL };
	char *const environment[] = { NULL };
	posix_spawn_file_actions_t actions;
	int answer[2], status;
	pid_t pid;

	assert(pipe2(answer, O_CLOEXEC) == 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, answer[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, life, life);
	assert(posix_spawn(&pid, program, &actions, NULL, argv, environment) == 0);
	posix_spawn_file_actions_destroy(&actions);
	close(answer[1]);

	memset(verdict, 0, sizeof(*verdict));
	const ssize_t size = frame_read_full(answer[0], verdict, sizeof(*verdict));
	close(answer[0]);
	while (waitpid(pid, &status, 0) < 0)
		assert(errno == EINTR);
	assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert(size == sizeof(*verdict));
}

// What root must make of `bytes`, of which none has been read by now.
static void expect(const uint8_t *bytes, size_t size, bool held, const struct verdict *verdict)
{
	struct request request = { 0 };
	uint32_t length = 0;

	if (verdict->kind == VERDICT_BROKEN)
		fprintf(stderr, "parser_child: %s\n", verdict->text);
	assert(verdict->kind != VERDICT_BROKEN);
	for (size_t i = 0; i < FRAME_HEADER && i < size; i++)
		length |= (uint32_t)bytes[i] << (8 * i);
	const bool whole = size >= FRAME_HEADER && length <= size - FRAME_HEADER;
	const bool lengthy = size >= FRAME_HEADER && length > HELPER_FRAME_MAX;

	// It waits for the rest, which does not come.
	if (held && !whole && !lengthy) {
		assert(verdict->kind == VERDICT_REFUSED && strstr(verdict->text, "within"));
		return;
	}
	// The bound is scaled down: a machine that is short of time may not make it.
	if (held && verdict->kind == VERDICT_REFUSED && strstr(verdict->text, "within"))
		return;

	if (lengthy)
		request.problem = PROBLEM_LENGTH;
	else if (!whole)
		request.problem = PROBLEM_SHORT;
	else
		request_decode(&request, bytes + FRAME_HEADER, length);
	if (request.problem != PROBLEM_NONE) {
		assert(verdict->kind == VERDICT_REFUSED);
		assert(verdict->code == (request.problem == PROBLEM_VERSION
						 ? LODGER__HELPER__CODE__CODE_VERSION
						 : LODGER__HELPER__CODE__CODE_REQUEST));
		assert(strcmp(verdict->field, request_problems[request.problem].field) == 0);
		assert(strcmp(verdict->text, request_problems[request.problem].message) == 0);
	} else if (FRAME_HEADER + length < size) {
		assert(verdict->kind == VERDICT_REFUSED && strcmp(verdict->field, "frame") == 0);
	} else {
		assert(verdict->kind == VERDICT_TAKEN);
		assert(memcmp(&verdict->request, &request, sizeof(request)) == 0);
	}
}

// An input: 0xff to hold the pipe open, and the bytes.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	const uint64_t before = descriptors_open(), start = clock_boot_usec();
	const bool held = input_byte(&input) == 0xff;
	int pipes[2], life[2];
	struct verdict verdict;

	// All of it must be there before anybody reads, or what is behind the frame could come late.
	if (input.size > 2 * HELPER_FRAME_MAX)
		return -1;
	assert(pipe2(pipes, O_CLOEXEC) == 0 && pipe2(life, O_CLOEXEC) == 0);
	assert(write(pipes[1], input.data, input.size) == (ssize_t)input.size);
	if (!held)
		close(pipes[1]);
	child_run(pipes[0], life[1], held, &verdict);
	assert(clock_boot_usec() - start < PATIENCE_USEC);

	// Nobody holds the other end any more: the child is gone.
	struct pollfd end = { .fd = life[0] };
	close(life[1]);
	assert(poll(&end, 1, 0) == 1 && (end.revents & POLLHUP));

	expect(input.data, input.size, held, &verdict);
	close(life[0]);
	close(pipes[0]);
	if (held)
		close(pipes[1]);
	assert(descriptors_open() == before);
	return 0;
}
