// What an agent may answer, and what the client makes of it (client/lib/agent_call.h): the agent's
// side is played over a socket pair.
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#undef fail // the client has a function of that name

#include "agent.pb-c.h"
#include "agent_call.h"
#include "job.h"
#include "protocol.h"

static int client, agent;

static int setup(void **state)
{
	int ends[2];

	(void)state;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	client = ends[0];
	agent = ends[1];
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close(client);
	close(agent);
	return 0;
}

static int descriptors_open(void)
{
	DIR *stream = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(stream))
		count++;
	closedir(stream);
	return count;
}

static void reply_send(Lodger__Agent__Reply *reply, const int *descriptors, size_t count)
{
	uint8_t packed[8192];
	union {
		char room[CMSG_SPACE(8 * sizeof(int))];
		struct cmsghdr header;
	} control = { .header = { .cmsg_len = CMSG_LEN(count * sizeof(int)),
				  .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	struct iovec part = { .iov_base = packed };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };

	assert_true(lodger__agent__reply__get_packed_size(reply) <= sizeof(packed));
	part.iov_len = lodger__agent__reply__pack(reply, packed);
	if (count > 0) {
		memcpy(CMSG_DATA(&control.header), descriptors, count * sizeof(int));
		header.msg_control = &control;
		header.msg_controllen = CMSG_SPACE(count * sizeof(int));
	}
	assert_int_equal(sendmsg(agent, &header, MSG_NOSIGNAL), part.iov_len);
}

static void exited_send(uint32_t status, uint32_t number, bool timed_out)
{
	Lodger__Agent__Exited exited = LODGER__AGENT__EXITED__INIT;
	Lodger__Agent__Reply message = LODGER__AGENT__REPLY__INIT;

	exited.status = status;
	exited.signal = number;
	exited.timed_out = timed_out;
	message.version = AGENT_PROTOCOL_VERSION;
	message.result_case = LODGER__AGENT__REPLY__RESULT_EXITED;
	message.exited = &exited;
	reply_send(&message, NULL, 0);
}

static bool exited_receive(uint32_t status, uint32_t number, bool timed_out,
			   struct agent_reply *reply)
{
	struct failure failure;

	exited_send(status, number, timed_out);
	return agent_receive(client, 1000, reply, &failure);
}

static void exit_codes(void **state)
{
	struct agent_reply reply;

	(void)state;
	assert_true(exited_receive(0, 0, false, &reply));
	assert_int_equal(reply.kind, AGENT_EXITED);
	assert_int_equal(reply.exit_code, 0);
	assert_true(exited_receive(255, 0, false, &reply));
	assert_int_equal(reply.exit_code, 255);
	assert_true(exited_receive(0, 9, false, &reply));
	assert_int_equal(reply.exit_code, 137);
	assert_true(exited_receive(0, 9, true, &reply));
	assert_int_equal(reply.exit_code, EXIT_TIMEOUT);
	assert_false(exited_receive(256, 0, false, &reply));
	assert_false(exited_receive(UINT32_MAX, 0, false, &reply));
	assert_false(exited_receive(0, 4711, false, &reply));
	assert_false(exited_receive(0, UINT32_MAX, false, &reply));
}

static void error_codes(void **state)
{
	static const struct {
		int code, exit_code;
	} rows[] = {
		{ LODGER__AGENT__CODE__CODE_NOT_FOUND, EXIT_NOT_FOUND },
		{ LODGER__AGENT__CODE__CODE_NOT_EXECUTABLE, EXIT_NOT_EXECUTABLE },
		{ LODGER__AGENT__CODE__CODE_BUSY, EXIT_LODGER },
		{ 4711, EXIT_LODGER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		Lodger__Agent__Error error = LODGER__AGENT__ERROR__INIT;
		Lodger__Agent__Reply message = LODGER__AGENT__REPLY__INIT;
		struct agent_reply reply;
		struct failure failure;

		error.code = rows[i].code;
		error.message = "why";
		message.version = AGENT_PROTOCOL_VERSION;
		message.result_case = LODGER__AGENT__REPLY__RESULT_ERROR;
		message.error = &error;
		reply_send(&message, NULL, 0);
		assert_false(agent_receive(client, 1000, &reply, &failure));
		assert_int_equal(failure.exit_code, rows[i].exit_code);
		assert_non_null(strstr(failure.text, "why"));
	}
}

static void other_version(void **state)
{
	Lodger__Agent__Done done = LODGER__AGENT__DONE__INIT;
	Lodger__Agent__Reply message = LODGER__AGENT__REPLY__INIT;
	struct agent_reply reply;
	struct failure failure;

	(void)state;
	message.version = 77;
	message.result_case = LODGER__AGENT__REPLY__RESULT_DONE;
	message.done = &done;
	reply_send(&message, NULL, 0);
	assert_false(agent_receive(client, 1000, &reply, &failure));
	assert_non_null(strstr(failure.text, "77"));
	assert_non_null(strstr(failure.text, "1"));
}

static void nonsense(void **state)
{
	static uint8_t bytes[9000];
	struct agent_reply reply;
	struct failure failure;
	unsigned int seed = 3;

	(void)state;
	for (int round = 0; round < 500; round++) {
		const size_t size =
			1 + (size_t)rand_r(&seed) % (round % 50 ? 40 : sizeof(bytes) - 1);

		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)rand_r(&seed);
		assert_int_equal(send(agent, bytes, size, 0), size);
		(void)agent_receive(client, 1000, &reply, &failure);
	}
	// Longer than any reply: cut by the kernel, and refused.
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(send(agent, bytes, sizeof(bytes), 0), sizeof(bytes));
	assert_false(agent_receive(client, 1000, &reply, &failure));
}

static void silence_and_end(void **state)
{
	struct agent_reply reply;
	struct failure failure;

	(void)state;
	assert_false(agent_receive(client, 20, &reply, &failure));
	close(agent);
	assert_true(agent_receive(client, 1000, &reply, &failure));
	assert_int_equal(reply.kind, AGENT_CLOSED);
	agent = -1;
}

// One descriptor with Started is kept; all others are closed, whatever they come with.
// An agent that is full answers without reading the request, and closes.
static void refuse_unread(bool before_request)
{
	static char *argv[] = { "true", NULL };
	const struct job job = { .argv = argv };
	Lodger__Agent__Error error = LODGER__AGENT__ERROR__INIT;
	Lodger__Agent__Reply message = LODGER__AGENT__REPLY__INIT;
	struct agent_reply reply;
	struct failure failure;

	error.code = LODGER__AGENT__CODE__CODE_BUSY;
	error.message = "too many";
	message.version = AGENT_PROTOCOL_VERSION;
	message.result_case = LODGER__AGENT__REPLY__RESULT_ERROR;
	message.error = &error;
	reply_send(&message, NULL, 0);
	if (before_request)
		close(agent);
	assert_true(agent_exec(client, &job, NULL, &failure));
	if (!before_request)
		close(agent);
	agent = -1;
	assert_false(agent_receive(client, 1000, &reply, &failure));
	assert_non_null(strstr(failure.text, "too many"));
	assert_true(agent_receive(client, 1000, &reply, &failure));
	assert_int_equal(reply.kind, AGENT_CLOSED);
}

static void refused_before_request(void **state)
{
	(void)state;
	refuse_unread(true);
}

static void refused_with_request_unread(void **state)
{
	(void)state;
	refuse_unread(false);
}

static void descriptors(void **state)
{
	Lodger__Agent__Started started = LODGER__AGENT__STARTED__INIT;
	Lodger__Agent__Done done = LODGER__AGENT__DONE__INIT;
	Lodger__Agent__Reply message = LODGER__AGENT__REPLY__INIT;
	const int sent[] = { client, client, client, client, client };
	struct agent_reply reply;
	struct failure failure;
	const int before = descriptors_open();

	(void)state;
	message.version = AGENT_PROTOCOL_VERSION;
	message.result_case = LODGER__AGENT__REPLY__RESULT_STARTED;
	message.started = &started;
	reply_send(&message, sent, 5);
	assert_true(agent_receive(client, 1000, &reply, &failure));
	assert_true(reply.descriptor >= 0);
	assert_int_equal(fcntl(reply.descriptor, F_GETFD), FD_CLOEXEC);
	close(reply.descriptor);
	assert_int_equal(descriptors_open(), before);

	message.result_case = LODGER__AGENT__REPLY__RESULT_DONE;
	message.done = &done;
	reply_send(&message, sent, 2);
	assert_true(agent_receive(client, 1000, &reply, &failure));
	assert_int_equal(reply.descriptor, -1);
	assert_int_equal(descriptors_open(), before);

	// An empty packet looks like the agent's end, and may bring descriptors all the same.
	message = (Lodger__Agent__Reply)LODGER__AGENT__REPLY__INIT;
	reply_send(&message, sent, 1);
	assert_true(agent_receive(client, 1000, &reply, &failure));
	assert_int_equal(reply.kind, AGENT_CLOSED);
	assert_int_equal(reply.descriptor, -1);
	assert_int_equal(descriptors_open(), before);
}

static char *words[] = { "words", NULL };
static const struct job plain = { .argv = words };
static const struct job on_terminal = { .argv = words, .terminal = true };

static bool first_receive(const struct job *job, const int *descriptors, size_t count,
			  struct agent_reply *reply, struct failure *failure)
{
	Lodger__Agent__Started started = LODGER__AGENT__STARTED__INIT;
	Lodger__Agent__Reply message = LODGER__AGENT__REPLY__INIT;

	started.pid = 7;
	message.version = AGENT_PROTOCOL_VERSION;
	message.result_case = LODGER__AGENT__REPLY__RESULT_STARTED;
	message.started = &started;
	reply_send(&message, descriptors, count);
	return agent_receive_first(client, 1000, job, reply, failure);
}

// What comes first of a job: a terminal exactly where one was asked for.
static void first_reply(void **state)
{
	const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	const int before = descriptors_open();
	struct agent_reply reply;
	struct failure failure;

	(void)state;
	assert_true(master >= 0);
	assert_true(first_receive(&plain, NULL, 0, &reply, &failure));
	assert_int_equal(reply.pid, 7);
	assert_true(first_receive(&plain, &master, 1, &reply, &failure));
	assert_int_equal(reply.descriptor, -1);
	assert_false(first_receive(&on_terminal, NULL, 0, &reply, &failure));
	assert_non_null(strstr(failure.text, "gave no terminal"));
	assert_false(first_receive(&on_terminal, &client, 1, &reply, &failure));
	assert_int_equal(descriptors_open(), before);
	assert_true(first_receive(&on_terminal, &master, 1, &reply, &failure));
	assert_true(isatty(reply.descriptor));
	close(reply.descriptor);
	close(master);

	close(agent);
	agent = -1;
	assert_false(agent_receive_first(client, 1000, &plain, &reply, &failure));
	assert_non_null(strstr(failure.text, "'words': the session has ended"));
}

// Plays an agent whose job writes a word and kills its keeper before that says that it runs.
static pid_t agent_of_killed(void)
{
	static char exec[AGENT_PACKET_MAX];
	const pid_t pid = fork();

	if (pid != 0)
		return pid;

	union {
		char room[CMSG_SPACE(3 * sizeof(int))];
		struct cmsghdr header;
	} control;
	struct iovec part = { .iov_base = exec, .iov_len = sizeof(exec) };
	struct msghdr header = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control) };
	int fds[3];

	if (recvmsg(agent, &header, 0) <= 0)
		_exit(1);
	if (header.msg_controllen == sizeof(control)) {
		memcpy(fds, CMSG_DATA(&control.header), sizeof(fds));
		if (write(fds[1], "said", 4) != 4)
			_exit(1);
	}
	exited_send(0, SIGKILL, false);
	_exit(0);
}

static void agent_end(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void ended_before_started(void **state)
{
	const int before = descriptors_open();
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int callers = dup(STDOUT_FILENO);
	struct job job = plain;
	struct agent_reply reply;
	struct job_end end = { 0 };
	struct failure failure;
	char said[8] = "";
	int output[2];

	(void)state;
	assert_int_equal(pipe(output), 0);
	pid_t pid = agent_of_killed();
	dup2(output[1], STDOUT_FILENO);
	const bool ran = job_run(client, &job, &end, &failure);
	dup2(callers, STDOUT_FILENO);
	agent_end(pid);
	assert_true(ran);
	assert_int_equal(end.exit_code, EXIT_SIGNAL + SIGKILL);
	assert_int_equal(end.signal, SIGKILL);
	// What it wrote is not lost.
	assert_int_equal(read(output[0], said, sizeof(said)), 4);
	assert_string_equal(said, "said");
	close(output[0]);
	close(output[1]);
	close(callers);

	end = (struct job_end){ 0 };
	job = on_terminal;
	pid = agent_of_killed();
	assert_true(job_run(client, &job, &end, &failure));
	agent_end(pid);
	assert_int_equal(end.exit_code, EXIT_SIGNAL + SIGKILL);

	// One that is needed further fails, and says of what it died.
	pid = agent_of_killed();
	assert_false(
		job_start(client, &plain, (const int[]){ null, null, null }, &reply, &failure));
	agent_end(pid);
	assert_non_null(strstr(failure.text, "'words': it ended at once, with status 137"));
	close(null);
	assert_int_equal(descriptors_open(), before);
}

// A request that is too long is refused here, with the numbers.
static void too_long(void **state)
{
	static char word[AGENT_PACKET_MAX];
	char *argv[] = { (char[]){ "echo" }, word, NULL };
	const struct job job = { .argv = argv };
	const int none[3] = { 0, 1, 2 };
	struct failure failure;

	(void)state;
	memset(word, 'x', sizeof(word) - 1);
	assert_false(agent_exec(client, &job, none, &failure));
	assert_non_null(strstr(failure.text, "131072"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(exit_codes, setup, teardown),
		cmocka_unit_test_setup_teardown(error_codes, setup, teardown),
		cmocka_unit_test_setup_teardown(other_version, setup, teardown),
		cmocka_unit_test_setup_teardown(nonsense, setup, teardown),
		cmocka_unit_test_setup_teardown(silence_and_end, setup, teardown),
		cmocka_unit_test_setup_teardown(refused_before_request, setup, teardown),
		cmocka_unit_test_setup_teardown(refused_with_request_unread, setup, teardown),
		cmocka_unit_test_setup_teardown(descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(first_reply, setup, teardown),
		cmocka_unit_test_setup_teardown(ended_before_started, setup, teardown),
		cmocka_unit_test_setup_teardown(too_long, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
