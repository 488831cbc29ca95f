// The session's seccomp filter: table and assembler. The agent loads it before anything else, so
// that it holds for the agent and for all that the session runs. It may only narrow: what makes a
// session safe is its uid, namespaces and lack of capabilities; this takes the kernel's most
// attacked calls away from it. Plain BPF, as in OpenSSH's sandbox, since libseccomp has neither a
// test for "any of these bits" nor one for calls that it does not know.
#include "filter.h"

#include "architecture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

// Calls younger than Debian 12's headers; these numbers are the same on all machines.
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_open_tree_attr
#define __NR_open_tree_attr 467
#endif

#define NEW_NAMESPACE                                                                  \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWTIME)
#define SET_ID (S_ISUID | S_ISGID)
// Bits that the numbers of streams and datagrams lack, and those of SOCK_RDM, SOCK_SEQPACKET, SOCK_DCCP and
// SOCK_PACKET have; flags are far above.
#define OTHER_TYPE (SOCK_RDM | 8)
// O_TMPFILE without the O_DIRECTORY that is part of it.
#define CREATES_FILE (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))

#define ALLOW SECCOMP_RET_ALLOW
#define FAIL(error) (SECCOMP_RET_ERRNO | (error))

// clang-format off
#define EQUAL(argument, value) { FILTER_EQUAL, argument, value }
#define DIFFERS(argument, value) { FILTER_DIFFERS, argument, value }
#define ANY_BIT(argument, value) { FILTER_ANY_BIT, argument, value }

#define ROW(call, verdict, reason, ...) { #call, __NR_##call, { __VA_ARGS__ }, verdict, reason }
#define DENY(call, reason) ROW(call, FAIL(EPERM), reason, { FILTER_NONE, 0, 0 })
#define DENY_IF(call, reason, ...) ROW(call, FAIL(EPERM), reason, __VA_ARGS__)

const struct filter_rule filter_rules[] = {
	// Often called ones first. A mode argument is garbage unless the call creates a file.
	DENY_IF(openat, "set-id file", ANY_BIT(2, CREATES_FILE), ANY_BIT(3, SET_ID)),
	DENY_IF(ioctl, "types into a terminal (CVE-2017-5226)", EQUAL(1, TIOCSTI)),
	DENY_IF(ioctl, "pastes into a console (CVE-2023-28100)", EQUAL(1, TIOCLINUX)),
	DENY_IF(ioctl, "loads line disciplines (CVE-2017-2636)", EQUAL(1, TIOCSETD)),

	DENY_IF(clone, "new namespaces", ANY_BIT(0, NEW_NAMESPACE)),
	ROW(clone3, FAIL(ENOSYS), "its flags are out of a filter's sight; libc falls back to clone",
	    { FILTER_NONE, 0, 0 }),
	DENY_IF(unshare, "new namespaces", ANY_BIT(0, NEW_NAMESPACE)),
	DENY(setns, "other namespaces"),

	DENY(mount, "mounts"),
	DENY(umount2, "uncovers what a mount hides"),
	DENY(pivot_root, "changes the root"),
	DENY(chroot, "changes the root"),
	DENY(open_tree, "detached mounts"),
	DENY(open_tree_attr, "detached mounts"),
	DENY(move_mount, "mounts"),
	DENY(fsopen, "mounts; file system drivers' option parsers (CVE-2022-0185)"),
	DENY(fsconfig, "as fsopen"),
	DENY(fsmount, "as fsopen"),
	DENY(fspick, "as fsopen"),
	DENY(mount_setattr, "lifts a mount's restrictions"),
	DENY(swapon, "administration"),
	DENY(swapoff, "administration"),
	DENY(quotactl, "administration of disks"),
	DENY(quotactl_fd, "administration of disks"),

	DENY(add_key, "keyrings belong to a uid, not to a session: they outlive it"),
	DENY(keyctl, "as add_key"),
	DENY(request_key, "as add_key; starts a program of the host's as root"),

	DENY(bpf, "kernel surface"),
	DENY(perf_event_open, "kernel surface; watches the whole machine"),
	DENY(io_uring_setup, "kernel surface; does calls behind the filter's back"),
	DENY(io_uring_enter, "as io_uring_setup"),
	DENY(io_uring_register, "as io_uring_setup"),
	DENY(userfaultfd, "kernel surface: holds kernel code at a chosen point"),
	DENY(open_by_handle_at, "opens files past all paths (the shocker escape from containers)"),
	DENY(name_to_handle_at, "makes the handles for open_by_handle_at"),
	DENY(fanotify_init, "watches whole file systems"),
	DENY(lookup_dcookie, "profiler's; shows paths"),
	DENY(nfsservctl, "removed from Linux; old kernels"),
	DENY(acct, "administration"),
	DENY(syslog, "the kernel's log"),
	DENY(vhangup, "administration of terminals"),
	DENY(reboot, "administration"),
	DENY(kexec_load, "administration"),
	DENY(init_module, "administration"),
	DENY(finit_module, "administration"),
	DENY(delete_module, "administration"),
	DENY(sethostname, "the session's name is the helper's to give"),
	DENY(setdomainname, "as sethostname"),
	// Where core_pattern is a pipe, a limit of 1 alone keeps the host's handler from being run, by
	// root, on what crashes here; at 0 it is run (core(5), CVE-2025-4598). Programs that set 0 to
	// have no core, as ssh-agent and gpg, end if they may not: they have none already.
	ROW(prlimit64, FAIL(0), "a core dump's handler", EQUAL(1, RLIMIT_CORE), DIFFERS(2, 0)),
	ROW(prlimit64, FAIL(0), "the same", EQUAL(1, RLIMIT_CORE), DIFFERS(UPPER(2), 0)),
	DENY_IF(prlimit64, "the limits of the agent and its keepers; one's own go by pid 0", DIFFERS(0, 0)),
	DENY(settimeofday, "the clock"),
	DENY(clock_settime, "the clock"),
	DENY(clock_adjtime, "the clock"),
	DENY(adjtimex, "the clock"),

	// Local sockets; the internet's, with the protocols that programs use; of netlink only
	// routing tables, for getifaddrs(3), without which MPI and gloo do not start: its reading
	// half needs no capability and shows the session's own network namespace. No family, type or
	// protocol beyond these, for asking for one makes the kernel load its module
	// (CVE-2017-6074 DCCP, CVE-2021-26708 vsock, CVE-2022-0435 TIPC). With protocol 0 the type
	// chooses: SOCK_DCCP loads DCCP, SOCK_SEQPACKET is SCTP, SOCK_PACKET goes to packet sockets.
	ROW(socket, ALLOW, "local sockets", EQUAL(0, AF_UNIX)),
	ROW(socket, ALLOW, "interface lists", EQUAL(0, AF_NETLINK), EQUAL(2, NETLINK_ROUTE)),
	ROW(socket, FAIL(EAFNOSUPPORT), "other netlink protocols", EQUAL(0, AF_NETLINK)),
	ROW(socket, FAIL(EPROTONOSUPPORT), "other IPv4 types", EQUAL(0, AF_INET), ANY_BIT(1, OTHER_TYPE)),
	ROW(socket, ALLOW, "IPv4, default protocol", EQUAL(0, AF_INET), EQUAL(2, 0)),
	ROW(socket, ALLOW, "TCP over IPv4", EQUAL(0, AF_INET), EQUAL(2, IPPROTO_TCP)),
	ROW(socket, ALLOW, "UDP over IPv4", EQUAL(0, AF_INET), EQUAL(2, IPPROTO_UDP)),
	ROW(socket, ALLOW, "ping over IPv4", EQUAL(0, AF_INET), EQUAL(2, IPPROTO_ICMP)),
	ROW(socket, FAIL(EPROTONOSUPPORT), "other IPv4 protocols", EQUAL(0, AF_INET)),
	ROW(socket, FAIL(EPROTONOSUPPORT), "other IPv6 types", EQUAL(0, AF_INET6), ANY_BIT(1, OTHER_TYPE)),
	ROW(socket, ALLOW, "IPv6, default protocol", EQUAL(0, AF_INET6), EQUAL(2, 0)),
	ROW(socket, ALLOW, "TCP over IPv6", EQUAL(0, AF_INET6), EQUAL(2, IPPROTO_TCP)),
	ROW(socket, ALLOW, "UDP over IPv6", EQUAL(0, AF_INET6), EQUAL(2, IPPROTO_UDP)),
	ROW(socket, ALLOW, "ping over IPv6", EQUAL(0, AF_INET6), EQUAL(2, IPPROTO_ICMPV6)),
	ROW(socket, FAIL(EPROTONOSUPPORT), "other IPv6 protocols", EQUAL(0, AF_INET6)),
	ROW(socket, FAIL(EAFNOSUPPORT), "other families", { FILTER_NONE, 0, 0 }),
	ROW(socketpair, FAIL(EAFNOSUPPORT), "other families", DIFFERS(0, AF_UNIX)),
	// These ask any socket, and load bridge and 8021q before they look at rights.
	DENY_IF(ioctl, "loads a protocol", EQUAL(1, SIOCGIFBR)),
	DENY_IF(ioctl, "loads a protocol", EQUAL(1, SIOCSIFBR)),
	DENY_IF(ioctl, "loads a protocol", EQUAL(1, SIOCBRADDBR)),
	DENY_IF(ioctl, "loads a protocol", EQUAL(1, SIOCBRDELBR)),
	DENY_IF(ioctl, "loads a protocol", EQUAL(1, SIOCGIFVLAN)),
	DENY_IF(ioctl, "loads a protocol", EQUAL(1, SIOCSIFVLAN)),
	DENY_IF(setsockopt, "kernel TLS and its like (CVE-2023-0461)", EQUAL(1, IPPROTO_TCP), EQUAL(2, TCP_ULP)),
	// Urgent data: what kernels answer that do not know it of local sockets.
	ROW(sendto, FAIL(EOPNOTSUPP), "urgent data of local sockets (CVE-2025-38236)", ANY_BIT(3, MSG_OOB)),
	ROW(sendmsg, FAIL(EOPNOTSUPP), "urgent data of local sockets", ANY_BIT(2, MSG_OOB)),
	ROW(sendmmsg, FAIL(EOPNOTSUPP), "urgent data of local sockets", ANY_BIT(3, MSG_OOB)),

	// gdb and setarch -R switch address randomisation off; the rest emulates other systems.
	ROW(personality, ALLOW, "ordinary", EQUAL(0, PER_LINUX)),
	ROW(personality, ALLOW, "debuggers", EQUAL(0, ADDR_NO_RANDOMIZE)),
	ROW(personality, ALLOW, "only asks", EQUAL(0, 0xffffffffU)),
	DENY(personality, "rarely tested kernel code; READ_IMPLIES_EXEC"),

	// What a session leaves nowhere is a set-id file (CVE-2019-3843). openat2 has its mode
	// behind a pointer; programs fall back to openat.
	DENY_IF(fchmod, "set-id file", ANY_BIT(1, SET_ID)),
	DENY_IF(fchmodat, "set-id file", ANY_BIT(2, SET_ID)),
	DENY_IF(fchmodat2, "set-id file (a way round older filters)", ANY_BIT(2, SET_ID)),
	DENY_IF(mkdirat, "set-id directory", ANY_BIT(2, SET_ID)),
	DENY_IF(mknodat, "set-id file", ANY_BIT(2, SET_ID)),
	ROW(openat2, FAIL(ENOSYS), "its mode is out of a filter's sight", { FILTER_NONE, 0, 0 }),

#ifdef __x86_64__
	DENY_IF(open, "set-id file", ANY_BIT(1, CREATES_FILE), ANY_BIT(2, SET_ID)),
	DENY_IF(creat, "set-id file", ANY_BIT(1, SET_ID)),
	DENY_IF(chmod, "set-id file", ANY_BIT(1, SET_ID)),
	DENY_IF(mkdir, "set-id directory", ANY_BIT(1, SET_ID)),
	DENY_IF(mknod, "set-id file", ANY_BIT(1, SET_ID)),
	ROW(setrlimit, FAIL(0), "as prlimit64 of RLIMIT_CORE", EQUAL(0, RLIMIT_CORE)),
	DENY(iopl, "hardware"),
	DENY(ioperm, "hardware"),
	DENY(modify_ldt, "kernel surface (CVE-2017-17053); for 16-bit programs"),
	DENY(uselib, "obsolete"),
	DENY(ustat, "obsolete"),
	DENY(sysfs, "obsolete"),
	DENY(_sysctl, "obsolete"),
#endif
	DENY(kexec_file_load, "administration"),
	// Left alone: ptrace, process_vm_*, pidfd_getfd and kcmp. They reach what the same uid may
	// trace: the session's own processes, which gdb, strace and MPI have good uses for. The
	// agent and its keepers are not dumpable, so never reached.
};
// clang-format on

const size_t filter_rule_count = sizeof(filter_rules) / sizeof(filter_rules[0]);

// Offsets into what a filter sees of a call (seccomp(2)).
#define SEEN(member) ((uint32_t)offsetof(struct seccomp_data, member))
// Machines are little-endian.
#define HALF(argument) (SEEN(args) + 8U * ((argument)&7U) + ((argument) >= UPPER(0) ? 4U : 0U))

#define PROLOGUE 6
// Compare the number, load and compare each tested argument, return, load the number again.
#define PER_RULE (1 + 2 * FILTER_TESTS + 2)
#define RULES (sizeof(filter_rules) / sizeof(filter_rules[0]))

struct program {
	struct sock_filter code[PROLOGUE + RULES * PER_RULE + 1];
	unsigned short length;
};

static void program_add(struct program *program, unsigned code, uint32_t value, unsigned if_true,
			unsigned if_false)
{
	program->code[program->length++] = (struct sock_filter){
		.code = (uint16_t)code,
		.jt = (uint8_t)if_true,
		.jf = (uint8_t)if_false,
		.k = value,
	};
}

// Every instruction of a rule but the last ones knows how many follow it: `left` counts them.
static void program_add_rule(struct program *program, const struct filter_rule *rule)
{
	unsigned tests = 0;

	while (tests < FILTER_TESTS && rule->tests[tests].compare != FILTER_NONE)
		tests++;

	// Not this call: go past the whole rule, reload included.
	unsigned left = 2 * tests + 1 + (tests > 0);
	program_add(program, BPF_JMP | BPF_JEQ | BPF_K, rule->number, 0, left);

	for (unsigned i = 0; i < tests; i++) {
		const struct filter_test *test = &rule->tests[i];
		unsigned miss = 2 * (tests - i - 1) + 1; // to the reload

		program_add(program, BPF_LD | BPF_W | BPF_ABS, HALF(test->argument), 0, 0);
		if (test->compare == FILTER_ANY_BIT)
			program_add(program, BPF_JMP | BPF_JSET | BPF_K, test->value, 0, miss);
		else if (test->compare == FILTER_EQUAL)
			program_add(program, BPF_JMP | BPF_JEQ | BPF_K, test->value, 0, miss);
		else
			program_add(program, BPF_JMP | BPF_JEQ | BPF_K, test->value, miss, 0);
	}
	program_add(program, BPF_RET | BPF_K, rule->verdict, 0, 0);
	if (tests > 0)
		program_add(program, BPF_LD | BPF_W | BPF_ABS, SEEN(nr), 0, 0);
}

int filter_load(void)
{
	struct program program = { .length = 0 };

	// Programs of another machine type (int 0x80 and i386 ones) have other numbers: no half
	// measures. The x32 numbers of this one have bit 30 set and so lie above the last call.
	program_add(&program, BPF_LD | BPF_W | BPF_ABS, SEEN(arch), 0, 0);
	program_add(&program, BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCHITECTURE, 1, 0);
	program_add(&program, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	program_add(&program, BPF_LD | BPF_W | BPF_ABS, SEEN(nr), 0, 0);
	program_add(&program, BPF_JMP | BPF_JGT | BPF_K, FILTER_LAST_CALL, 0, 1);
	program_add(&program, BPF_RET | BPF_K, FAIL(ENOSYS), 0, 0);

	for (size_t i = 0; i < filter_rule_count; i++)
		program_add_rule(&program, &filter_rules[i]);
	program_add(&program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);

	const struct sock_fprog loaded = { .len = program.length, .filter = program.code };
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &loaded);
}
