// Takes memory in the way that argv[1] names, argv[2] MiB of it, one MiB at a time, and writes to
// all of it. Prints how far it got after each, so that what a kill leaves is the last figure, and
// why it stopped. Run without a limit, as a control, it gets all that it asked for.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
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

// Two ends, whose queues hold what nobody reads.
static int take_sockets(void)
{
	static char block[4096];
	int ends[2];

	for (int i = 0; i < 8; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
			return -1;
		while (send(ends[0], block, sizeof(block), MSG_DONTWAIT) > 0)
			;
	}
	return 0;
}

// A page of tables for every second megabyte of addresses, with one page of memory behind all of them.
static int take_pagetables(void)
{
	if (file < 0) {
		file = memfd_create("hog", 0);
		if (file < 0 || ftruncate(file, 4096) < 0)
			return -1;
	}
	for (int i = 0; i < 256; i++) {
		static uintptr_t at = 0x100000000000;

		char *page = mmap((void *)at, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
				  file, 0);
		if (page == MAP_FAILED)
			return -1;
		*page = 1;
		at += 2 * MIB;
	}
	return 0;
}

// A process that waits, with a megabyte of arguments.
static int take_argv(void)
{
	static char word[100000], *arguments[] = {
		"sh", "-c", "kill -STOP $$", word, word, word, word, word, word, word, word, word,
		word, NULL
	};
	static char *const environment[] = { NULL };
	int ends[2];
	char byte;

	memset(word, 48, sizeof(word) - 1);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	const pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execve("/bin/sh", arguments, environment);
		_exit(127);
	}
	close(ends[1]);
	const ssize_t n = child < 0 ? -1 : read(ends[0], &byte, 1);
	close(ends[0]);
	return n < 0 ? -1 : 0;
}

// Descriptors that are nothing but kernel memory.
static int take_events(void)
{
	for (int i = 0; i < 2000; i++)
		if (eventfd(0, 0) < 0)
			return -1;
	return 0;
}

static const struct {
	const char *name;
	int (*take)(void);
} ways[] = {
	{ "anonymous", take_anonymous },
	{ "memfd", take_memfd },
	{ "tmp", take_tmp },
	{ "devshm", take_devshm },
	{ "sysv", take_sysv },
	{ "pipes", take_pipes },
	{ "sockets", take_sockets },
	{ "pagetables", take_pagetables },
	{ "argv", take_argv },
	{ "events", take_events },
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
	fprintf(stderr, "usage: memory WAY MIB\n");
	return 2;
}
