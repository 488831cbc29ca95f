// The helper's own system call filters (seccomp(2)), in two steps. A filter is inherited for good, so
// as long as the session leader is still to be cloned from this process, and to become the agent,
// only what a session may never call either can be taken away; afterwards all but what is left to do.
// Plain BPF in two tables: root's process takes no heap for it.
#include "helper.h"

#include "architecture.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

// clang-format off
#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define VERDICT(verdict) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##verdict)
#define CALL(name, verdict) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), VERDICT(verdict)
#define DENY(name) CALL(name, ERRNO | EPERM)
#define ALLOW(name) CALL(name, ALLOW)
// Other machine types, and x86_64's second table of numbers, from bit 30 on, have other numbers.
#define NATIVE_ONLY LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCHITECTURE, 1, 0), \
	VERDICT(KILL_PROCESS), LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), \
	VERDICT(ERRNO | ENOSYS)

static const struct sock_filter start[] = { NATIVE_ONLY, DENY(acct), DENY(add_key), DENY(adjtimex),
	DENY(bpf), DENY(chroot), DENY(clock_adjtime), DENY(clock_settime), DENY(delete_module),
	DENY(fanotify_init), DENY(finit_module), DENY(init_module), DENY(io_uring_enter),
	DENY(io_uring_register), DENY(io_uring_setup), DENY(kexec_file_load), DENY(kexec_load),
	DENY(mount), DENY(open_by_handle_at), DENY(perf_event_open), DENY(quotactl), DENY(reboot),
	DENY(request_key), DENY(setns), DENY(settimeofday), DENY(swapoff), DENY(swapon),
	DENY(syslog), DENY(userfaultfd), VERDICT(ALLOW) };

// No exec, no clone, no mount, no change of identity; sendto(2) is send(2), wait4(2) waitpid(2), and
// newfstatat(2) what glibc 2.33 to 2.38 have for fstat(3).
static const struct sock_filter last[] = { NATIVE_ONLY, ALLOW(openat), ALLOW(read), ALLOW(write),
	ALLOW(close), ALLOW(fstat), ALLOW(newfstatat), ALLOW(flock), ALLOW(getdents64),
	ALLOW(mkdirat), ALLOW(unlinkat), ALLOW(symlinkat), ALLOW(fchmod), ALLOW(capset), ALLOW(capget),
	ALLOW(pidfd_open), ALLOW(pidfd_send_signal), ALLOW(kill), ALLOW(wait4),
	ALLOW(clock_gettime), ALLOW(clock_nanosleep), ALLOW(restart_syscall), ALLOW(socket),
	ALLOW(connect), ALLOW(sendto), ALLOW(getpid), ALLOW(exit_group), VERDICT(KILL_PROCESS) };
// clang-format on

static void load(const struct sock_filter *code, size_t length)
{
	const struct sock_fprog program = { (unsigned short)length, (struct sock_filter *)code };

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		die("loading", "the system call filter");
}

void filter_start(void)
{
	load(start, COUNT(start));
}

void filter_last(void)
{
	capability_use(CAPABILITY(CAP_SYS_ADMIN));
	load(last, COUNT(last));
	capability_only(CAPABILITY(CAP_KILL));
}
