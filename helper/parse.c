// The parser child: the only process of the helper that looks at what the caller wrote. It runs as
// an unused uid without group, capability or any descriptor but the request and the pipe to root,
// under a filter that allows reading the one, writing the other and exiting. What comes back to
// root is one struct request, of which every number is checked again.
#include "helper.h"

#include <poll.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#define REQUEST_MS 5000

static _Noreturn void child_run(int out)
{
	static uint8_t frame[HELPER_FRAME_MAX];
	struct request request = { 0 };

	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	identity_become(PARSER_UID);
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(read), 1,
			     SCMP_A0(SCMP_CMP_EQ, STDIN_FILENO, 0)) < 0 ||
	    seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1,
			     SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)out, 0)) < 0 ||
	    seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(exit_group), 0) < 0 ||
	    seccomp_load(filter) < 0)
		_exit(1);

	ssize_t size = frame_read(STDIN_FILENO, frame, sizeof(frame));
	if (size >= 0)
		request_decode(&request, frame, (size_t)size);
	else
		request.problem = errno == EMSGSIZE ? PROBLEM_LENGTH : PROBLEM_SHORT;
	_exit(frame_write_full(out, &request, sizeof(request)) < 0);
}

// What the child says is believed no further than this.
static void request_check(const struct request *request)
{
	int waiting = 0;

	if (request->problem > PROBLEM_NONE && request->problem < PROBLEM_COUNT)
		refuse(request->problem == PROBLEM_VERSION ? CODE(VERSION) : CODE(REQUEST),
		       request_problems[request->problem].field, "%s",
		       request_problems[request->problem].message);
	if (!request_in_range(request))
		refuse(CODE(REQUEST), "request", "the parser child answered out of range");
	if (ioctl(STDIN_FILENO, FIONREAD, &waiting) < 0 || waiting > 0)
		refuse(CODE(REQUEST), "frame", "there is more behind the request");
}

void request_read(struct request *request)
{
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC) < 0)
		die("making", "the pipe to the parser child");
	pid_t child = fork();
	if (child < 0)
		die("starting", "the parser child");
	if (child == 0)
		child_run(pipes[1]);
	close(pipes[1]);
	struct pollfd answer = { pipes[0], POLLIN, 0 };
	int ready = poll(&answer, 1, REQUEST_MS);
	ssize_t size = ready > 0 ? frame_read_full(pipes[0], request, sizeof(*request)) : 0;
	close(pipes[0]);
	// Whatever it is doing now. It is not reaped yet, so the number is still the child's.
	capability_use(CAPABILITY(CAP_KILL));
	kill(child, SIGKILL);
	capability_use(0);
	if (waitpid(child, NULL, 0) != child)
		die("waiting for", "the parser child");
	if (size != sizeof(*request))
		refuse(CODE(REQUEST), "frame",
		       "no whole request arrived within %d seconds, or the "
		       "parser child failed on it",
		       REQUEST_MS / 1000);
	request_check(request);
}
