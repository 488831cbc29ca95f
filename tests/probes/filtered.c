// Runs a program as a user, under a seccomp filter by which one system call answers without being
// done: with an error, or as if it had been. Only root can put such a filter on a set-user-ID
// program: it is put on with CAP_SYS_ADMIN and no no_new_privs, and that is gone at the exec.
//   filtered UID CALL[:FIRST-ARGUMENT] ERRNO PROGRAM ARGUMENT…     ERRNO 0: it "succeeds"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

static const struct {
	const char *name;
	unsigned int number;
} calls[] = {
	{ "setgroups", SYS_setgroups },
	{ "setresgid", SYS_setresgid },
	{ "setresuid", SYS_setresuid },
	{ "capset", SYS_capset },
	{ "prctl", SYS_prctl },
	{ "setsid", SYS_setsid },
	{ "prlimit64", SYS_prlimit64 },
	{ "rt_sigprocmask", SYS_rt_sigprocmask },
	{ "sched_setscheduler", SYS_sched_setscheduler },
	{ "setpriority", SYS_setpriority },
	{ "sched_setaffinity", SYS_sched_setaffinity },
	{ "unshare", SYS_unshare },
	{ "flock", SYS_flock },
};

static void fail(const char *what)
{
	fprintf(stderr, "filtered: %s: %s\n", what, strerror(errno));
	exit(99);
}

// The user, but for the capability to put the filter on. Groups are the caller's to set.
static void user_become(uid_t uid)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	const struct __user_cap_data_struct data[2] = { { 1U << CAP_SYS_ADMIN, 1U << CAP_SYS_ADMIN,
							  0 } };

	if (prctl(PR_SET_KEEPCAPS, 1) < 0 || setresuid(uid, uid, uid) < 0 ||
	    syscall(SYS_capset, &header, data) < 0)
		fail("becoming the user");
}

static void filter_set(unsigned int number, const char *argument, unsigned int error)
{
	const unsigned int value = argument ? (unsigned int)strtoul(argument, NULL, 10) : 0;
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, argument ? 1 : 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { sizeof(program) / sizeof(program[0]), program };

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) < 0)
		fail("seccomp");
}

int main(int argc, char *argv[])
{
	char *argument = argc > 4 ? strchr(argv[2], ':') : NULL;

	if (argument)
		*argument++ = '\0';
	for (size_t i = 0; argc > 4 && i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strcmp(argv[2], calls[i].name) != 0)
			continue;
		user_become((uid_t)atoi(argv[1]));
		filter_set(calls[i].number, argument, (unsigned int)atoi(argv[3]));
		execv(argv[4], argv + 4);
		fail(argv[4]);
	}
	errno = EINVAL;
	fail(argc > 2 ? argv[2] : "arguments");
}
