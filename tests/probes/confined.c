// Does one thing after another that an AppArmor profile may forbid, and prints "NAME ERRNO" for each, 0
// where it worked. Run as root with all capabilities, under a profile and without one, it shows what
// the profile alone forbids. Arguments: a directory to mount on, a file to write to, a program to
// execute, a character device, the pid of a process of another profile (or of none).
// Undoes what worked.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *directory, *file, *program, *device;
static pid_t stranger;

static int failed(long result)
{
	return result < 0 ? errno : 0;
}

static int try_mount(void)
{
	int error = failed(mount("tmpfs", directory, "tmpfs", 0, NULL));

	if (!error)
		umount2(directory, MNT_DETACH);
	return error;
}

static int try_bind(void)
{
	int error = failed(mount("/", directory, NULL, MS_BIND, NULL));

	if (!error)
		umount2(directory, MNT_DETACH);
	return error;
}

static int try_move_mount(void)
{
	int context = fsopen("tmpfs", FSOPEN_CLOEXEC);

	if (context < 0 || fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return errno;
	int mount = fsmount(context, FSMOUNT_CLOEXEC, 0);
	if (mount < 0)
		return errno;
	int error = failed(move_mount(mount, "", AT_FDCWD, directory, MOVE_MOUNT_F_EMPTY_PATH));
	if (!error)
		umount2(directory, MNT_DETACH);
	return error;
}

// The caller has mounted something there for it, below "directory".
static int try_umount(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/mounted", directory);
	return failed(umount2(path, MNT_DETACH));
}

static int try_chroot(void)
{
	return failed(chroot("/"));
}

static int try_user_namespace(void)
{
	return failed(unshare(CLONE_NEWUSER));
}

static int try_host_name(void)
{
	char name[65] = "";

	gethostname(name, sizeof(name) - 1);
	return failed(sethostname(name, strlen(name)));
}

static int try_raw_socket(void)
{
	return failed(socket(AF_INET, SOCK_RAW, 1));
}

static int try_packet_socket(void)
{
	return failed(socket(AF_PACKET, SOCK_RAW, 0));
}

static int try_stream_socket(void)
{
	return failed(socket(AF_INET, SOCK_STREAM, 0));
}

static int try_write(void)
{
	return failed(open(file, O_WRONLY));
}

static int try_append(void)
{
	return failed(open(file, O_WRONLY | O_APPEND));
}

static int try_shadow(void)
{
	return failed(open("/etc/shadow", O_RDONLY));
}

static int try_device(void)
{
	return failed(open(device, O_RDWR));
}

static int try_make_device(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/node", directory);
	int error = failed(mknod(path, S_IFCHR | 0600, 0x103));
	if (!error)
		unlink(path);
	return error;
}

static int try_signal(void)
{
	return failed(kill(stranger, SIGURG));
}

static int try_trace(void)
{
	return failed(ptrace(PTRACE_SEIZE, stranger, NULL, NULL));
}

static int attribute(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY);

	return fd < 0 ? errno : failed(write(fd, text, strlen(text)));
}

static int try_change_profile(void)
{
	return attribute("/proc/self/attr/current", "changeprofile unconfined");
}

static int try_change_on_exec(void)
{
	return attribute("/proc/self/attr/exec", "exec unconfined");
}

static int try_execute(void)
{
	execl(program, program, (char *)NULL);
	return errno;
}

static const struct
try {
	const char *name;
	int (*act)(void);
}
tries[] = {
	{ "mount", try_mount },
	{ "bind", try_bind },
	{ "umount", try_umount },
	{ "chroot", try_chroot },
	{ "user-namespace", try_user_namespace },
	{ "host-name", try_host_name },
	{ "raw-socket", try_raw_socket },
	{ "packet-socket", try_packet_socket },
	{ "stream-socket", try_stream_socket },
	{ "write", try_write },
	{ "append", try_append },
	{ "shadow", try_shadow },
	{ "device", try_device },
	{ "make-device", try_make_device },
	{ "signal", try_signal },
	{ "trace", try_trace },
	{ "change-profile", try_change_profile },
	{ "change-on-exec", try_change_on_exec },
	{ "execute", try_execute },
	// Last: a profile that lets it be done and not undone hides what the others use.
	{ "move_mount", try_move_mount },
};

int main(int argc, char *argv[])
{
	if (argc != 6)
		return 2;
	directory = argv[1];
	file = argv[2];
	program = argv[3];
	device = argv[4];
	stranger = atoi(argv[5]);

	// Each in a process of its own: a namespace or a profile that was entered is for that one alone.
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		int status = 0;
		pid_t child = fork();

		if (child == 0)
			_exit(tries[i].act());
		waitpid(child, &status, 0);
		printf("%s %d\n", tries[i].name,
		       WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
	}
	return 0;
}
