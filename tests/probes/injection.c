// Tries to put characters into the input of the terminal that is its standard input, as if they had
// been typed there, and to change what it is: TIOCSTI, TIOCSTI with bits above the 32 that the
// kernel looks at (CVE-2019-10063), TIOCLINUX's paste (CVE-2023-28100), TIOCSETD. Prints "NAME
// ERRNO" for each, 0 where it worked. Control: as root, on a host's terminal where
// dev.tty.legacy_tiocsti is 1, TIOCSTI works.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void try(const char *name, unsigned long request, void *argument)
{
	long result = syscall(SYS_ioctl, STDIN_FILENO, request, argument);

	printf("%s %s\n", name, result < 0 ? strerrorname_np(errno) : "0");
}

int main(void)
{
	char letter = '#', paste = 3;
	int discipline = 2;

	if (!isatty(STDIN_FILENO)) {
		printf("no terminal\n");
		return 2;
	}
	try("TIOCSTI", TIOCSTI, &letter);
	try("TIOCSTI-high-bit", TIOCSTI | 1UL << 32, &letter);
	try("TIOCSTI-all-high-bits", TIOCSTI | 0xffffffffUL << 32, &letter);
	try("TIOCLINUX-paste", TIOCLINUX, &paste);
	try("TIOCLINUX-high-bit", TIOCLINUX | 1UL << 32, &paste);
	try("TIOCSETD", TIOCSETD, &discipline);
	return 0;
}
