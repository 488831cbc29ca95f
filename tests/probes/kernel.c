// Asks the kernel for what sessions have no use for and attackers have: its big interfaces, foreign
// system call tables, odd socket families, files with a set-user-ID bit. Prints "NAME ERRNO" for
// each, 0 where it worked, "killed" where the filter ended the child that tried. EBADF, EFAULT or
// EINVAL mean that the kernel's own code was reached. Control: as root on the host, it is.
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOWHERE ((void *)8)

struct
try {
	const char *name;
	long number, arguments[6];
};

static char here[] = ".";
static char file[] = "./set-id";

static const struct try tries[] = {
	{ "bpf", SYS_bpf, { 0, (long)NOWHERE, 8 } },
	{ "perf_event_open", SYS_perf_event_open, { (long)NOWHERE, 0, -1, -1, 0 } },
	{ "userfaultfd", SYS_userfaultfd, { -1 } },
	{ "io_uring_setup", SYS_io_uring_setup, { 1, (long)NOWHERE } },
	{ "add_key",
	  SYS_add_key,
	  { (long)"user", (long)"lodger-probe", (long)"x", 1, KEY_SPEC_PROCESS_KEYRING } },
	{ "keyctl", SYS_keyctl, { KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 0 } },
	{ "request_key", SYS_request_key, { (long)"user", (long)NOWHERE, 0, 0 } },
	{ "kexec_load", SYS_kexec_load, { 0, 99, 0, 0 } },
	{ "init_module", SYS_init_module, { (long)NOWHERE, 8, (long)NOWHERE } },
	{ "finit_module", SYS_finit_module, { -1, (long)"", 0 } },
	{ "open_by_handle_at", SYS_open_by_handle_at, { AT_FDCWD, (long)NOWHERE, 0 } },
	{ "syslog", SYS_syslog, { 3, (long)NOWHERE, -1 } },
	{ "quotactl", SYS_quotactl, { -1, (long)NOWHERE, 0, 0 } },
	{ "fanotify_init", SYS_fanotify_init, { 0xffff, 0 } },
	{ "socket-packet", SYS_socket, { AF_PACKET, SOCK_RAW, 0 } },
	{ "socket-raw", SYS_socket, { AF_INET, SOCK_RAW, 1 } },
	{ "socket-dccp", SYS_socket, { AF_INET, SOCK_DCCP, 0 } },
	{ "socket-alg", SYS_socket, { 38, SOCK_SEQPACKET, 0 } },
	{ "socket-vsock", SYS_socket, { 40, SOCK_STREAM, 0 } },
	{ "socket-bluetooth", SYS_socket, { 31, SOCK_RAW, 0 } },
	{ "socket-netlink-audit", SYS_socket, { AF_NETLINK, SOCK_RAW, 9 } },
	{ "personality", SYS_personality, { READ_IMPLIES_EXEC } },
	{ "chmod-set-uid", SYS_fchmodat, { AT_FDCWD, (long)file, 04755 } },
	{ "chmod-set-gid", SYS_fchmodat, { AT_FDCWD, (long)file, 02755 } },
	{ "chmod-set-uid-2", 452 /* fchmodat2 */, { AT_FDCWD, (long)file, 04755, 0 } },
	{ "open-set-uid", SYS_openat, { AT_FDCWD, (long)"./set-id-2", O_CREAT | O_WRONLY, 04755 } },
	{ "mknod-set-uid", SYS_mknodat, { AT_FDCWD, (long)"./set-id-3", S_IFREG | 04755, 0 } },
	{ "mknod-device", SYS_mknodat, { AT_FDCWD, (long)"./device", S_IFCHR | 0600, 0x103 } },
	{ "settimeofday", SYS_settimeofday, { (long)NOWHERE, 0 } },
	{ "sethostname", SYS_sethostname, { (long)NOWHERE, 1 } },
	{ "swapon", SYS_swapon, { (long)here, 0 } },
	{ "acct", SYS_acct, { (long)here } },
#ifdef __x86_64__
	{ "iopl", SYS_iopl, { 3 } },
	// getpid with x32's bit: any answer but ENOSYS is a second table of calls.
	{ "x32", 0x40000000 | SYS_getpid, { 0 } },
#endif
};

#ifdef __x86_64__
// getpid in i386's table, which needs no i386 program.
static long i386_getpid(void)
{
	long result = 20;

	__asm__ volatile("int $0x80" : "+a"(result) : : "memory");
	return result;
}
#endif

static void report(const char *name, long (*function)(void), const struct try *try)
{
	int status = 0;

	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		const long *a = try ? try->arguments : NULL;
		long result =
			try ? syscall(try->number, a[0], a[1], a[2], a[3], a[4], a[5]) : function();

		printf("%s %s\n", name, result < 0 ? strerrorname_np(errno) : "0");
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		printf("%s killed\n", name);
}

int main(void)
{
	close(open(file, O_CREAT | O_WRONLY, 0755));
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
		report(tries[i].name, NULL, &tries[i]);
#ifdef __x86_64__
	report("i386", i386_getpid, NULL);
#endif
	return 0;
}
