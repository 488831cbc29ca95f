// The workers' filter (filter.h). A worker has all it needs open by the time it loads this: the two
// sockets, the store's directory, the log. It opens nothing but derivations' files below that
// directory, starts nothing, connects to nothing, signals nobody.
#include "filter.h"

#include <errno.h>
#include <seccomp.h>
#include <sys/prctl.h>

#define ALLOW(call, reason)                   \
	{                                     \
		SCMP_SYS(call), #call, reason \
	}

// clang-format off
const struct filter_rule filter_rules[] = {
	ALLOW(read, "sockets, derivations' files"),
	ALLOW(write, "sockets, standard error"),
	ALLOW(poll, "waits for either side"),
	ALLOW(ppoll, "poll(3) on machines that have no poll"),
	ALLOW(openat2, "derivations' files, below the store's descriptor"),
	ALLOW(fstat, "whether it is a file"),
	ALLOW(newfstatat, "fstat(3) of newer C libraries"),
	ALLOW(close, "derivations' files"),
	ALLOW(shutdown, "the last answer"),
	ALLOW(sendto, "the log's socket"),
	ALLOW(getpid, "lines of the log"),
	ALLOW(clock_gettime, "where the C library cannot tell the time by itself"),
	ALLOW(time, "the same"),
	ALLOW(gettimeofday, "the same"),
	ALLOW(restart_syscall, "poll, after a stop"),
	ALLOW(rt_sigreturn, "the same"),
	ALLOW(exit_group, "the end"),
};
// clang-format on

const size_t filter_rule_count = sizeof(filter_rules) / sizeof(filter_rules[0]);

int filter_load(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int error = filter == NULL ? -ENOMEM : 0;

	for (size_t i = 0; error == 0 && i < filter_rule_count; i++) {
		// Calls that this machine has not are negative, and nobody can make them.
		if (filter_rules[i].number >= 0)
			error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, filter_rules[i].number, 0);
	}
	if (error == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		error = -errno;
	if (error == 0)
		error = seccomp_load(filter);
	seccomp_release(filter);
	errno = -error;
	return error == 0 ? 0 : -1;
}
