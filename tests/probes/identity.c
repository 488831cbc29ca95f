// Prints who it is, then tries to become root by every call for that, and prints "root" for each
// that worked. Planted set-user-ID root or with file capabilities, it does so on the host.
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	uid_t user[3];
	gid_t group[3], none = 0;

	getresuid(&user[0], &user[1], &user[2]);
	getresgid(&group[0], &group[1], &group[2]);
	printf("uid %u %u %u gid %u %u %u\n", user[0], user[1], user[2], group[0], group[1],
	       group[2]);
	// The calls themselves: the C library's would refuse some before the kernel is asked.
	if (syscall(SYS_setresuid, 0, 0, 0) == 0)
		printf("root by setresuid\n");
	if (syscall(SYS_setuid, 0) == 0)
		printf("root by setuid\n");
	if (syscall(SYS_setreuid, 0, 0) == 0)
		printf("root by setreuid\n");
	if (syscall(SYS_setfsuid, 0) >= 0 && syscall(SYS_setfsuid, -1) == 0)
		printf("root by setfsuid\n");
	if (syscall(SYS_setresgid, 0, 0, 0) == 0)
		printf("root by setresgid\n");
	if (syscall(SYS_setgroups, 1, &none) == 0)
		printf("root by setgroups\n");
	if (geteuid() == 0)
		printf("root by being it\n");
	return 0;
}
