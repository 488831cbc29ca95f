// Checks with a session of our own (doctor.h): that one can be made and run something, and that the
// package daemon answers inside, which nobody but a session can tell. Runs as the caller.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "doctor.h"
#include "helper_call.h"
#include "job.h"
#include "session.h"

#define JOB_MS 30000U

// Whether the first check could make one.
static bool session_works;

// Runs `argv` in session `number`, for its exit code and the first line that it prints.
static bool probe(uint32_t number, char *argv[], int *exit_code, char *line, size_t size,
		  struct failure *failure)
{
	const struct job job = { .argv = argv, .timeout_ms = JOB_MS };
	struct agent_reply started;
	struct job_end end;
	int output[2];

	autoclose int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || pipe2(output, O_CLOEXEC) < 0)
		return fail(failure, "making a pipe: %s", strerror(errno));
	autoclose int ours = output[0];
	autoclose int theirs = output[1];
	const int descriptors[3] = { null, theirs, theirs };
	autoclose int connection = agent_connect(number, failure);

	if (connection < 0 || !job_start(connection, &job, descriptors, &started, failure) ||
	    !job_wait(connection, 2 * JOB_MS, &end, failure))
		return false;
	// What it printed is in the pipe; whoever else holds it is not waited for.
	(void)fcntl(ours, F_SETFL, O_NONBLOCK);
	const ssize_t length = read(ours, line, size - 1);
	line[length > 0 ? length : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	*exit_code = end.exit_code;
	return true;
}

// Makes a session, probes it, ends it.
static bool probe_alone(char *argv[], int *exit_code, char *line, size_t size,
			struct failure *failure)
{
	static const uint64_t limits[LIMIT_COUNT];
	struct created created;
	struct failure another;
	bool gone;

	if (!helper_create(limits, false, &created, failure))
		return false;
	const bool probed = probe(created.number, argv, exit_code, line, size, failure);
	close(created.tie);
	const bool destroyed = helper_destroy(created.number, &gone, &another);
	if (probed && !destroyed)
		*failure = another;
	return probed && destroyed;
}

bool doctor_probe(char *argv[], int *exit_code, char *line, size_t size, struct failure *failure)
{
	return session_works ? probe_alone(argv, exit_code, line, size, failure)
			     : fail(failure, "no session can be made");
}

// Whether a session was made, but does not have the program.
static bool not_there(const struct failure *failure)
{
	return failure->exit_code == EXIT_NOT_FOUND || failure->exit_code == EXIT_NOT_EXECUTABLE;
}

static void session_check(struct finding *finding)
{
	char *argv[] = { (char[]){ "true" }, NULL };
	char line[200];
	struct failure failure;
	int exit_code;

	if (!probe_alone(argv, &exit_code, line, sizeof(line), &failure))
		bad(finding,
		    not_there(&failure)
			    ? "the policy's expose lines must show /usr, /bin and /lib* to sessions"
			    : "see the checks above; the system log (authpriv) may say more",
		    "%s", failure.text);
	else if (exit_code != 0)
		bad(finding, "try it by hand: lodger run -- true", "true ended with status %d: %s",
		    exit_code, line);
	else
		good(finding, "made one, ran true in it, destroyed it");
	session_works = finding->outcome == OUTCOME_GOOD;
}

static void version_check(struct finding *finding)
{
	char *argv[] = { (char[]){ "nix-shell" }, (char[]){ "--version" }, NULL };
	char line[200];
	struct failure failure;
	int exit_code;

	if (!session_works)
		skipped(finding, "only a session can tell");
	else if (!probe_alone(argv, &exit_code, line, sizeof(line), &failure))
		bad(finding,
		    not_there(&failure) ? "the policy's expose lines must show it to sessions"
					: "see the checks above",
		    "%s", failure.text);
	else if (exit_code != 0)
		bad(finding, "try it by hand: lodger run -- nix-shell --version",
		    "nix-shell --version ended with status %d: %s", exit_code, line);
	else
		good(finding, "%s", line);
}

static void daemon_check(struct finding *finding)
{
	static const char advice[] =
		"an administrator can start it: systemctl start lodger-nix-daemon "
		"lodger-gate.socket; without systemd see lodger-gate(8)";
	char target[PATH_MAX], line[200];
	struct failure failure;
	int exit_code;
	const ssize_t length = readlink(LODGER_CHANNEL, target, sizeof(target) - 1);

	if (length < 0 || !session_works) {
		skipped(finding, "%s",
			length < 0 ? "without a channel there is nothing to ask for"
				   : "only a session can tell");
		return;
	}
	target[length] = '\0';

	char *argv[] = { (char[]){ "nix-store" }, (char[]){ "--check-validity" }, target, NULL };
	if (!probe_alone(argv, &exit_code, line, sizeof(line), &failure))
		bad(finding, advice, "%s", failure.text);
	else if (exit_code != 0)
		bad(finding, advice,
		    "asked from a session, the daemon did not confirm the channel: "
		    "status %d: %s",
		    exit_code, line);
	else
		good(finding, "answers sessions, and knows the channel");
}

const struct check session_checks[] = {
	{ "session", session_check },	    { "nix version", version_check },
	{ "package daemon", daemon_check }, { "proxy", proxy_check },
	{ "apparmor", apparmor_check },
};
const int session_check_count = sizeof(session_checks) / sizeof(session_checks[0]);
