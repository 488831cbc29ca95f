// Prints what this process was started with and cannot be seen without opening more: one line for
// each open descriptor with what it is, then lines for signals that are blocked or ignored.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	sigset_t mask;
	struct sigaction action;
	char path[64], target[4096];

	for (int fd = 0; fd < 70000; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ssize_t length = readlink(path, target, sizeof(target) - 1);
		target[length < 0 ? 0 : length] = '\0';
		printf("descriptor %d %s\n", fd, target);
	}
	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int number = 1; number < NSIG; number++) {
		if (sigismember(&mask, number) == 1)
			printf("blocked %d\n", number);
		if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			printf("ignored %d\n", number);
	}
	return 0;
}
