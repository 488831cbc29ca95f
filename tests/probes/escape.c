// Tries to change its view of the system: every mount call, chroot, and every kind of namespace by
// unshare, clone, clone3 and setns. Prints "NAME ERRNO" for each, 0 where it worked; each try in a
// child of its own, which then ends. Control: as root in a mount namespace of its own, they work.
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Older headers lack the newest namespace.
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static const struct {
	const char *name;
	unsigned long flag;
} namespaces[] = {
	{ "user", CLONE_NEWUSER },     { "mount", CLONE_NEWNS },  { "pid", CLONE_NEWPID },
	{ "net", CLONE_NEWNET },       { "ipc", CLONE_NEWIPC },	  { "uts", CLONE_NEWUTS },
	{ "cgroup", CLONE_NEWCGROUP }, { "time", CLONE_NEWTIME },
};

static long try_mount(unsigned long unused)
{
	(void)unused;
	return mount("none", "/tmp", "tmpfs", 0, NULL);
}

static long try_remount(unsigned long unused)
{
	(void)unused;
	return mount("none", "/", NULL, MS_REMOUNT, "size=1g");
}

static long try_bind_writable(unsigned long unused)
{
	(void)unused;
	return mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL);
}

static long try_umount(unsigned long unused)
{
	(void)unused;
	return umount2("/proc", MNT_DETACH);
}

static long try_pivot_root(unsigned long unused)
{
	(void)unused;
	return syscall(SYS_pivot_root, ".", ".");
}

static long try_chroot(unsigned long unused)
{
	(void)unused;
	return chroot("/tmp");
}

static long try_open_tree(unsigned long unused)
{
	(void)unused;
	return syscall(SYS_open_tree, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */);
}

static long try_fsopen(unsigned long unused)
{
	(void)unused;
	return syscall(SYS_fsopen, "tmpfs", 0);
}

static long try_fspick(unsigned long unused)
{
	(void)unused;
	return syscall(SYS_fspick, AT_FDCWD, "/", 0);
}

static long try_mount_setattr(unsigned long unused)
{
	uint64_t attributes[4] = { 0, 1 /* MOUNT_ATTR_RDONLY: clear it */, 0, 0 };

	(void)unused;
	return syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, attributes, sizeof(attributes));
}

static long try_unshare(unsigned long flag)
{
	return unshare((int)flag);
}

static long try_clone(unsigned long flag)
{
	long child = syscall(SYS_clone, flag | SIGCHLD, NULL, NULL, NULL, NULL);

	if (child == 0)
		_exit(0);
	return child;
}

static long try_clone3(unsigned long flag)
{
	struct clone_args arguments = { .flags = flag, .exit_signal = SIGCHLD };
	long child = syscall(SYS_clone3, &arguments, sizeof(arguments));

	if (child == 0)
		_exit(0);
	return child;
}

// Into one's own namespace: entering needs the same rights as another's.
static long try_setns(unsigned long flag)
{
	return setns((int)syscall(SYS_pidfd_open, getpid(), 0), (int)flag);
}

static void report(const char *call, const char *name, long (*try)(unsigned long),
		   unsigned long flag)
{
	int status = -1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		errno = 0;
		long result = try(flag);
		printf("%s%s%s %s\n", call, *name ? "-" : "", name,
		       result < 0 ? strerrorname_np(errno) : "0");
		fflush(stdout);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
		printf("%s-%s ended with wait status %d\n", call, name, status);
}

int main(void)
{
	report("mount", "", try_mount, 0);
	report("remount", "", try_remount, 0);
	report("remount-writable", "", try_bind_writable, 0);
	report("umount", "", try_umount, 0);
	report("pivot_root", "", try_pivot_root, 0);
	report("chroot", "", try_chroot, 0);
	report("open_tree", "", try_open_tree, 0);
	report("fsopen", "", try_fsopen, 0);
	report("fspick", "", try_fspick, 0);
	report("mount_setattr", "", try_mount_setattr, 0);
	for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]); i++) {
		report("unshare", namespaces[i].name, try_unshare, namespaces[i].flag);
		// Its flag lies in the byte where clone(2) has the exit signal.
		if (namespaces[i].flag != CLONE_NEWTIME)
			report("clone", namespaces[i].name, try_clone, namespaces[i].flag);
		report("clone3", namespaces[i].name, try_clone3, namespaces[i].flag);
		report("setns", namespaces[i].name, try_setns, namespaces[i].flag);
	}
	return 0;
}
