// Calls of lodger-helper (helper_call.h): starts it with two pipes, sends one request, reads one
// reply, reaps it. Runs as the caller and hands the helper nothing but those pipes: no argument, no
// environment.
#include "helper_call.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "cleanup.h"
#include "frame.h"
#include "helper.pb-c.h"
#include "protocol.h"

// The helper gives up by itself after 30 seconds.
#define REPLY_MS 40000

#define CODE(name) LODGER__HELPER__CODE__CODE_##name

typedef Lodger__Helper__Reply Reply;

static bool in_group_lodger(void)
{
	const struct group *group = getgrnam("lodger");
	gid_t groups[1024];
	const int count = getgroups(sizeof(groups) / sizeof(groups[0]), groups);

	if (group && getegid() == group->gr_gid)
		return true;
	for (int i = 0; group && i < count; i++)
		if (groups[i] == group->gr_gid)
			return true;
	return false;
}

static bool explain_spawn(const struct helper_call *call, int error, struct failure *failure)
{
	if (error == ENOENT)
		return fail(failure,
			    "%s: %s does not exist: Lodger is not fully installed here; "
			    "an administrator can run make install",
			    call->doing, HELPER_PATH);
	if (error == EACCES && !in_group_lodger())
		return fail(failure,
			    "%s: you are not in the group lodger, which may use it; an "
			    "administrator can add you (adduser USER lodger), then log in again",
			    call->doing);
	return fail(failure, "%s: starting %s: %s; lodger doctor says what is wrong", call->doing,
		    HELPER_PATH, strerror(error));
}

// Why there is no reply, from how the helper ended.
static bool explain_silence(const struct helper_call *call, int status, struct failure *failure)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return fail(failure,
			    "%s: lodger-helper gave up after 30 seconds; is the machine "
			    "overloaded? Try again",
			    call->doing);
	if (WIFSIGNALED(status))
		return fail(failure,
			    "%s: lodger-helper was ended by signal %d (%s) and did not "
			    "answer; the system log may say more",
			    call->doing, WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status) == HELPER_EXIT_ARGUMENTS ||
	    WEXITSTATUS(status) == HELPER_EXIT_DESCRIPTORS)
		return fail(failure,
			    "%s: lodger-helper did not accept how it was started (status "
			    "%d); are client and helper of the same installation?",
			    call->doing, WEXITSTATUS(status));
	return fail(failure,
		    "%s: lodger-helper ended with status %d and did not answer; the system "
		    "log may say more",
		    call->doing, WEXITSTATUS(status));
}

bool helper_call_start(struct helper_call *call, struct failure *failure)
{
	char *const argv[] = { (char[]){ "lodger-helper" }, NULL };
	char *const environment[] = { NULL };
	posix_spawn_file_actions_t actions;
	int request[2], reply[2];

	if (pipe2(request, O_CLOEXEC) < 0)
		return fail(failure, "%s: making a pipe: %s", call->doing, strerror(errno));
	autoclose int request_read = request[0];
	call->request = request[1];
	if (pipe2(reply, O_CLOEXEC) < 0)
		return fail(failure, "%s: making a pipe: %s", call->doing, strerror(errno));
	autoclose int reply_write = reply[1];
	call->reply = reply[0];

	int error = posix_spawn_file_actions_init(&actions);
	if (error)
		return explain_spawn(call, error, failure);
	error = posix_spawn_file_actions_adddup2(&actions, request_read, STDIN_FILENO);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, reply_write, STDOUT_FILENO);
	// A child made this way is no leader of a process group, as the helper wants it.
	if (!error)
		error = posix_spawn(&call->pid, HELPER_PATH, &actions, NULL, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	return error ? explain_spawn(call, error, failure) : true;
}

// What the machine's helper says in its own words, made into a failure.
static bool explain_reply(const struct helper_call *call, const Reply *reply,
			  struct failure *failure)
{
	if (reply->version != HELPER_PROTOCOL_VERSION || reply->code == CODE(VERSION))
		return fail(
			failure,
			"%s: this lodger speaks version %u of the helper's protocol, the "
			"installed helper version %u: %s was replaced; log in again, or install "
			"both from one release",
			call->doing, HELPER_PROTOCOL_VERSION, reply->version,
			reply->version > HELPER_PROTOCOL_VERSION ? "the helper" : "the client");
	return fail(failure, "%s: %s%s", call->doing,
		    reply->message[0] ? reply->message : "the helper refused and gave no reason",
		    reply->code == CODE(BUSY)	 ? "; try again"
		    : reply->code == CODE(LIMIT) ? "; the limits are in " LODGER_POLICY
						 : "");
}

static Reply *call_reply(struct helper_call *call, struct failure *failure)
{
	struct pollfd ready = { .fd = call->reply, .events = POLLIN };
	uint8_t payload[HELPER_FRAME_MAX];
	const uint64_t deadline = clock_boot_usec() + REPLY_MS * 1000ULL;
	int status, count;

	do {
		const uint64_t now = clock_boot_usec();

		count = poll(&ready, 1, now < deadline ? (int)((deadline - now) / 1000) : 0);
	} while (count < 0 && errno == EINTR);
	if (count <= 0) {
		// It cannot be killed, being root's; it ends by itself and init reaps it.
		fail(failure, "%s: lodger-helper did not answer within %d seconds", call->doing,
		     REPLY_MS / 1000);
		return NULL;
	}

	// A reply is one write(2) of less than PIPE_BUF: once there is some of it, all is there.
	const ssize_t size = frame_read(call->reply, payload, sizeof(payload));
	const int error = errno;
	while (waitpid(call->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (size < 0) {
		if (error == ENODATA)
			explain_silence(call, status, failure);
		else
			fail(failure, "%s: reading the helper's reply: %s", call->doing,
			     strerror(error));
		return NULL;
	}

	Reply *reply = lodger__helper__reply__unpack(NULL, (size_t)size, payload);
	if (!reply)
		fail(failure,
		     "%s: the helper's reply cannot be understood; are client and helper of "
		     "the same installation?",
		     call->doing);
	return reply;
}

// Makes one call. Returns the reply, to be freed, whatever it says; NULL with `failure` when there
// is none. `tie`, when given, gets the pipe that the request went through.
static Reply *helper_call(const char *doing, Lodger__Helper__Request *request, int *tie,
			  struct failure *failure)
{
	struct helper_call call = { .doing = doing, .pid = -1, .request = -1, .reply = -1 };
	uint8_t payload[HELPER_FRAME_MAX];
	Reply *reply = NULL;

	request->version = HELPER_PROTOCOL_VERSION;
	const size_t size = lodger__helper__request__pack(request, payload);
	if (helper_call_start(&call, failure)) {
		// When the helper is gone already, the reply's absence tells more than EPIPE.
		if (frame_write(call.request, payload, size) < 0 && errno != EPIPE)
			fail(failure, "%s: sending the request: %s", doing, strerror(errno));
		else
			reply = call_reply(&call, failure);
	}
	if (call.reply >= 0)
		close(call.reply);
	if (reply && tie)
		*tie = call.request;
	else if (call.request >= 0)
		close(call.request);
	return reply;
}

bool helper_create(const uint64_t limits[LIMIT_COUNT], bool network_host, struct created *created,
		   struct failure *failure)
{
	static const char doing[] = "creating a session";
	Lodger__Helper__Request request = LODGER__HELPER__REQUEST__INIT;
	Lodger__Helper__Create create = LODGER__HELPER__CREATE__INIT;
	Lodger__Helper__Limits wanted = LODGER__HELPER__LIMITS__INIT;

	wanted.memory = limits[LIMIT_MEMORY];
	wanted.pids = limits[LIMIT_PIDS];
	wanted.cpu = limits[LIMIT_CPU];
	wanted.disk = limits[LIMIT_DISK];
	wanted.inodes = limits[LIMIT_INODES];
	wanted.ttl = limits[LIMIT_TTL];
	create.limits = &wanted;
	create.network = network_host ? LODGER__HELPER__NETWORK__NETWORK_HOST
				      : LODGER__HELPER__NETWORK__NETWORK_NONE;
	request.operation_case = LODGER__HELPER__REQUEST__OPERATION_CREATE;
	request.create = &create;

	*created = (struct created){ .tie = -1 };
	Reply *reply = helper_call(doing, &request, &created->tie, failure);
	if (!reply)
		return false;

	const struct helper_call call = { .doing = doing };
	bool done = reply->version == HELPER_PROTOCOL_VERSION && reply->code == CODE(OK);
	if (!done) {
		explain_reply(&call, reply, failure);
	} else if (reply->session < 1 || reply->session > SESSION_NUMBER_MAX) {
		done = fail(failure, "%s: the helper's reply names no session", doing);
	} else {
		created->number = reply->session;
	}
	if (!done) {
		close(created->tie);
		created->tie = -1;
	}
	lodger__helper__reply__free_unpacked(reply, NULL);
	return done;
}

bool helper_destroy(uint32_t number, bool *gone, struct failure *failure)
{
	Lodger__Helper__Request request = LODGER__HELPER__REQUEST__INIT;
	Lodger__Helper__Destroy destroy = LODGER__HELPER__DESTROY__INIT;
	char doing[64], name[SESSION_NAME_SIZE];

	session_name(number, name);
	snprintf(doing, sizeof(doing), "destroying %s", name);
	destroy.session = number;
	request.operation_case = LODGER__HELPER__REQUEST__OPERATION_DESTROY;
	request.destroy = &destroy;

	Reply *reply = helper_call(doing, &request, NULL, failure);
	if (!reply)
		return false;

	const struct helper_call call = { .doing = doing };
	const bool done = reply->version == HELPER_PROTOCOL_VERSION &&
			  (reply->code == CODE(OK) || reply->code == CODE(ALREADY_GONE));
	*gone = reply->code == CODE(ALREADY_GONE);
	if (!done)
		explain_reply(&call, reply, failure);
	lodger__helper__reply__free_unpacked(reply, NULL);
	return done;
}

bool helper_collect(uint32_t *collected, bool *policy, struct failure *failure)
{
	static const char doing[] = "collecting dead sessions";
	Lodger__Helper__Request request = LODGER__HELPER__REQUEST__INIT;
	Lodger__Helper__Collect collect = LODGER__HELPER__COLLECT__INIT;

	if (policy)
		*policy = false;
	request.operation_case = LODGER__HELPER__REQUEST__OPERATION_COLLECT;
	request.collect = &collect;

	Reply *reply = helper_call(doing, &request, NULL, failure);
	if (!reply)
		return false;

	const struct helper_call call = { .doing = doing };
	const bool done = reply->version == HELPER_PROTOCOL_VERSION && reply->code == CODE(OK);
	*collected = reply->collected;
	if (policy)
		*policy = reply->code == CODE(POLICY);
	if (!done)
		explain_reply(&call, reply, failure);
	lodger__helper__reply__free_unpacked(reply, NULL);
	return done;
}
