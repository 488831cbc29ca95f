// Takes memory in the way that argv[1] names, argv[2] MiB of it, one MiB at a time, and writes to
// all of it. Prints how far it got after each, so that what a kill leaves is the last figure, and
// why it stopped. Run without a limit, as a control, it gets all that it asked for.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#define MIB (1UL << 20)

static int file = -1;

// Each gets one MiB more, filled. Returns 0, or -1 with errno set.
static int take_anonymous(void)
{
	char *memory = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -1;
	memset(memory, 1, MIB);
	return 0;
}

static int write_mib(int fd)
{
	static char block[MIB];
	size_t done = 0;

	memset(block, 1, sizeof(block));
	while (done < MIB) {
		ssize_t n = write(fd, block, MIB - done);

		if (n < 0)
			return -1;
		done += (size_t)n;
	}
	return 0;
}

static int take_memfd(void)
{
	if (file < 0)
		file = memfd_create("hog", 0);
	return write_mib(file);
}

static int take_tmp(void)
{
	if (file < 0)
		file = open("/tmp/hog", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	return write_mib(file);
}

static int take_devshm(void)
{
	if (file < 0)
		file = open("/dev/shm/hog", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	return write_mib(file);
}

static int take_sysv(void)
{
	int id = shmget(IPC_PRIVATE, MIB, IPC_CREAT | 0600);
	char *memory = id < 0 ? (char *)-1 : shmat(id, NULL, 0);

	if (memory == (char *)-1)
		return -1;
	memset(memory, 1, MIB);
	// Gone with its last user, when this runs as a control on the host.
	return shmctl(id, IPC_RMID, NULL);
}

// Sixteen pipes of 64 KiB.
static int take_pipes(void)
{
	static char block[65536];
	int ends[2];

	for (int i = 0; i < 16; i++)
		if (pipe(ends) < 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) < 0 ||
		    write(ends[1], block, sizeof(block)) < 0)
			return -1;
	return 0;
}

static const struct {
	const char *name;
	int (*take)(void);
} ways[] = {
	{ "anonymous", take_anonymous }, { "memfd", take_memfd }, { "tmp", take_tmp },
	{ "devshm", take_devshm },	 { "sysv", take_sysv },	  { "pipes", take_pipes },
};

int main(int argc, char *argv[])
{
	unsigned long wanted = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	for (size_t i = 0; wanted > 0 && i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(argv[1], ways[i].name) != 0)
			continue;
		for (unsigned long got = 0; got < wanted; got++) {
			if (ways[i].take() < 0) {
				printf("%lu refused: %s\n", got, strerror(errno));
				return 1;
			}
			printf("%lu\n", got + 1);
			fflush(stdout);
		}
		return 0;
	}
	fprintf(stderr, "usage: memory anonymous|memfd|tmp|devshm|sysv|pipes MIB\n");
	return 2;
}
