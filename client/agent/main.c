// lodger-agent: PID 1 of a session. Started by lodger-helper with the session's namespaces, root,
// uid and limits in place; it has no privilege and makes sure of it. Here is its start: give up
// what can be given up, refuse any other place in the world, hand over to the loop (watch.c).
#include <bsd/stdlib.h>
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "filter.h"
#include "protocol.h"
#include "watch.h"

// No new privileges from set-uid files; no tracing and no core dump of this process.
static void privilege_forgo(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		err(EXIT_FAILURE, "cannot give up privilege");
	if (filter_load() < 0)
		err(EXIT_FAILURE, "cannot load the system call filter");
}

static bool capabilities_none(void)
{
	cap_t own = cap_get_proc();
	cap_t none = cap_init();
	const bool same = own != NULL && none != NULL && cap_compare(own, none) == 0;

	cap_free(own);
	cap_free(none);
	return same;
}

static unsigned long long argument(const char *text, unsigned long long most, const char *name)
{
	const char *problem = NULL;
	// strtonum alone would take a sign and spaces.
	const bool digit = *text >= '0' && *text <= '9';
	const long long number = strtonum(text, 0, (long long)most, &problem);

	if (!digit || problem != NULL)
		errx(EXIT_FAILURE, "odd %s; lodger-agent is for lodger-helper to start", name);
	return (unsigned long long)number;
}

// Exactly the descriptors of protocol.h, none of them for jobs; defaults for all signals.
static void inheritance_reset(void)
{
	static const int kept[] = { AGENT_FD_TIE, AGENT_FD_LISTEN, AGENT_FD_LOCK };

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (fcntl(kept[i], F_SETFD, FD_CLOEXEC) < 0)
			err(EXIT_FAILURE, "descriptor %d", kept[i]);
	}
	closefrom(AGENT_FD_LOCK + 1);

	// Fails for SIGKILL, SIGSTOP and libc's own two, which cannot have been changed.
	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
}

int main(int argc, char *argv[])
{
	struct session session;

	privilege_forgo();
	if (argc != 4)
		errx(EXIT_FAILURE, "lodger-agent is for lodger-helper to start");
	if (getpid() != 1 || getuid() == 0 || geteuid() == 0 || !capabilities_none())
		errx(EXIT_FAILURE, "refused outside a session: not its first process, or root");

	session.number = (uint32_t)argument(argv[1], SESSION_NUMBER_MAX, "session number");
	session.owner = (uid_t)argument(argv[2], UINT32_MAX - 1, "owner");
	session.deadline = argument(argv[3], INT64_MAX, "deadline");
	if (session.number == 0)
		errx(EXIT_FAILURE, "there is no session 0");

	inheritance_reset();
	watch_run(&session);
}
