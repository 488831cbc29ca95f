// Leaves behind whatever a process can ("leave make"), or looks for it ("leave find"), or takes it away
// ("leave clean"). find prints the name of each kind that is there; make those that could not be
// made, with the errno. All names and keys are fixed: who has the same uid and sees the same places
// finds them. Control: in one session, and on the host, find finds what make has made.
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#define KEY 0x10d6e4
#define NAME "/lodger-left"

static const char *const files[] = { "/tmp/left", "/var/tmp/left", "/dev/shm/left", "left" };

static void made(const char *what, long result)
{
	if (result < 0)
		printf("not made: %s %s\n", what, strerrorname_np(errno));
}

static void found(const char *what, long result)
{
	if (result >= 0)
		printf("%s\n", what);
}

static int socket_at(const char *path, int abstract,
		     int (*call)(int, const struct sockaddr *, socklen_t))
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path + abstract, path, strlen(path));
	return call(fd, (const struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1)) < 0
		       ? -1
		       : fd;
}

static long key(const char *ring_name, int ring)
{
	return syscall(SYS_add_key, "user", ring_name, "left", 4UL, ring);
}

// What needs a process to hold it, held by a daemon that has left everything behind.
static void daemon_run(void)
{
	const struct itimerspec often = { { 1, 0 }, { 1, 0 } };
	int fd;

	if (fork() > 0)
		_exit(0);
	setsid();
	if (fork() > 0)
		_exit(0);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_NAME, "lodger-left");
	made("abstract", listen(socket_at("lodger-left", 1, bind), 8));
	unlink("/tmp/left-socket");
	made("socket", listen(socket_at("/tmp/left-socket", 0, bind), 8));
	fd = open("/tmp/left", O_RDWR);
	made("flock", flock(fd, LOCK_EX));
	made("lock", lockf(fd, F_LOCK, 0));
	made("inotify", inotify_add_watch(inotify_init(), "/tmp", IN_ALL_EVENTS));
	made("timer", timerfd_settime(timerfd_create(CLOCK_REALTIME, 0), 0, &often, NULL));
	made("memfd", memfd_create("lodger-left", 0));
	fflush(stdout);
	close(0);
	close(1);
	close(2);
	for (;;)
		pause();
}

static void make(void)
{
	mqd_t queue;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		made(files[i], open(files[i], O_CREAT | O_RDWR, 0666));
	made("shm", shmget(KEY, 4096, IPC_CREAT | 0666));
	made("sem", semget(KEY, 1, IPC_CREAT | 0666));
	made("msg", msgget(KEY, IPC_CREAT | 0666));
	queue = mq_open(NAME, O_CREAT | O_RDWR, 0666, NULL);
	made("mq", queue);
	made("mq-message", mq_send(queue, "left", 4, 0));
	made("posix-shm", shm_open(NAME, O_CREAT | O_RDWR, 0666));
	made("key-user", key("left-user", KEY_SPEC_USER_KEYRING));
	made("key-user-session", key("left-user-session", KEY_SPEC_USER_SESSION_KEYRING));
	made("key-session", key("left-session", KEY_SPEC_SESSION_KEYRING));
	made("key-persistent",
	     syscall(SYS_keyctl, KEYCTL_GET_PERSISTENT, -1, KEY_SPEC_PROCESS_KEYRING));
	fflush(stdout);
	if (fork() == 0)
		daemon_run();
	usleep(300000);
}

static void find(void)
{
	struct mq_attr attributes;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		found(files[i], access(files[i], F_OK));
	found("shm", shmget(KEY, 0, 0));
	found("sem", semget(KEY, 0, 0));
	found("msg", msgget(KEY, 0));
	mqd_t queue = mq_open(NAME, O_RDWR | O_NONBLOCK);
	found("mq", queue);
	found("mq-message",
	      mq_getattr(queue, &attributes) == 0 && attributes.mq_curmsgs > 0 ? 0 : -1);
	found("posix-shm", shm_open(NAME, O_RDWR, 0));
	found("key-user",
	      syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", "left-user", 0));
	found("abstract", socket_at("lodger-left", 1, connect));
	found("socket", socket_at("/tmp/left-socket", 0, connect));
	int fd = open("/tmp/left", O_RDWR);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
		printf("flock\n");
	if (fd >= 0 && lockf(fd, F_TEST, 0) < 0)
		printf("lock\n");
}

static void clean(void)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(files[i]);
	unlink("/tmp/left-socket");
	shmctl(shmget(KEY, 0, 0), IPC_RMID, NULL);
	semctl(semget(KEY, 0, 0), 0, IPC_RMID);
	msgctl(msgget(KEY, 0), IPC_RMID, NULL);
	mq_unlink(NAME);
	shm_unlink(NAME);
	syscall(SYS_keyctl, KEYCTL_CLEAR, KEY_SPEC_USER_KEYRING);
}

int main(int argc, char *argv[])
{
	umask(0);
	if (argc == 2 && strcmp(argv[1], "make") == 0)
		make();
	else if (argc == 2 && strcmp(argv[1], "find") == 0)
		find();
	else if (argc == 2 && strcmp(argv[1], "clean") == 0)
		clean();
	else
		return 2;
	return 0;
}
