// Tries to come by a file or directory with a set-user-ID or set-group-ID bit, by every call that
// takes a mode, and by file capabilities. Prints "NAME ERRNO" for each, "NAME 0" where the call worked, "NAME
// SET-ID" where there is such a file afterwards. In the working directory. Control: on the host
// nearly all of them are.
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static char name[64];

static void report(const char *call, mode_t bit, long result)
{
	const int error = errno;
	struct stat status;
	const int set = lstat(name, &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID));

	printf("%s-%o %s\n", call, bit, set ? "SET-ID" : result < 0 ? strerrorname_np(error) : "0");
	if (unlink(name) < 0)
		rmdir(name);
}

static int plain(void)
{
	int fd = open(name, O_CREAT | O_RDWR | O_EXCL, 0755);

	errno = 0;
	return fd;
}

static void try_all(mode_t bit)
{
	const struct open_how how = { .flags = O_CREAT | O_WRONLY, .mode = 0755 | bit };
	int fd;

	snprintf(name, sizeof(name), "./set-id-%o", bit);
	fd = plain();
	report("fchmod", bit, syscall(SYS_fchmod, fd, 0755 | bit));
	plain();
	report("fchmodat", bit, syscall(SYS_fchmodat, AT_FDCWD, name, 0755 | bit));
	plain();
	report("fchmodat2", bit, syscall(SYS_fchmodat2, AT_FDCWD, name, 0755 | bit, 0));
	plain();
	report("fchmodat2-high", bit,
	       syscall(SYS_fchmodat2, AT_FDCWD, name, 0755 | bit | UINT64_C(1) << 32, 0));
	report("openat", bit, syscall(SYS_openat, AT_FDCWD, name, O_CREAT | O_WRONLY, 0755 | bit));
	report("openat2", bit, syscall(SYS_openat2, AT_FDCWD, name, &how, sizeof(how)));
	report("mknodat", bit, syscall(SYS_mknodat, AT_FDCWD, name, S_IFREG | 0755 | bit, 0));
	report("mkdirat", bit, syscall(SYS_mkdirat, AT_FDCWD, name, 0755 | bit));
	// Without a name at first.
	fd = (int)syscall(SYS_openat, AT_FDCWD, ".", O_TMPFILE | O_WRONLY, 0755 | bit);
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	report("tmpfile", bit,
	       fd < 0 ? fd : linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW));
#ifdef __x86_64__
	plain();
	report("chmod", bit, syscall(SYS_chmod, name, 0755 | bit));
	report("open", bit, syscall(SYS_open, name, O_CREAT | O_WRONLY, 0755 | bit));
	report("creat", bit, syscall(SYS_creat, name, 0755 | bit));
	report("mknod", bit, syscall(SYS_mknod, name, S_IFREG | 0755 | bit, 0));
	report("mkdir", bit, syscall(SYS_mkdir, name, 0755 | bit));
#endif
}

int main(void)
{
	// CAP_SETUID, effective (capabilities(7), "File capabilities").
	static const uint32_t capable[5] = { 0x02000001, 1 << 7, 0, 0, 0 };

	umask(0);
	try_all(S_ISUID);
	try_all(S_ISGID);
	close(plain());
	printf("capability %s\n",
	       setxattr(name, "security.capability", capable, sizeof(capable), 0) < 0
		       ? strerrorname_np(errno)
		       : "SET-ID");
	unlink(name);
	return 0;
}
