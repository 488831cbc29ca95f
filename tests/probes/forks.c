// Makes processes or threads, argv[2] of them at most, and prints how many it got and why it
// stopped ("count processes", "count threads"); or bombs: "bomb" forks without end, and every
// child does; "vfork" has so many processes that wait in vfork(2) for a child that never ends. Run without a limit, as a control, counting gets all that it asked for.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void *thread_wait(void *unused)
{
	(void)unused;
	pause();
	return NULL;
}

// Returns 0, or what errno would say.
static int thread_make(void)
{
	pthread_t thread;
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	return pthread_create(&thread, &attributes, thread_wait, NULL);
}

static int process_make(void)
{
	const pid_t parent = getpid();
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		// It may have died before that.
		if (getppid() == parent)
			pause();
		_exit(0);
	}
	return child < 0 ? errno : 0;
}

// A parent in vfork(2) waits in the kernel until its child is done, which here is never.
static void vfork_storm(unsigned long count)
{
	while (count-- > 0)
		if (fork() == 0) {
			if (vfork() == 0)
				for (;;)
					pause();
			_exit(0);
		}
	printf("waiting\n");
	fflush(stdout);
	for (;;)
		pause();
}

static void bomb(void)
{
	signal(SIGCHLD, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	for (;;)
		if (fork() == 0)
			setsid();
}

int main(int argc, char *argv[])
{
	unsigned long wanted = argc == 3 ? strtoul(argv[2], NULL, 10) : 0, got = 0;
	int error = 0;

	if (argc == 2 && strcmp(argv[1], "bomb") == 0)
		bomb();
	if (argc == 3 && strcmp(argv[1], "vfork") == 0)
		vfork_storm(wanted);
	if (wanted == 0 || (strcmp(argv[1], "threads") != 0 && strcmp(argv[1], "processes") != 0)) {
		fprintf(stderr, "usage: forks bomb | forks threads|processes|vfork COUNT\n");
		return 2;
	}
	while (got < wanted && error == 0) {
		error = argv[1][0] == 't' ? thread_make() : process_make();
		got += error == 0;
	}
	printf("%lu %s\n", got, error ? strerrorname_np(error) : "all");
	fflush(stdout);
	_exit(error != 0);
}
