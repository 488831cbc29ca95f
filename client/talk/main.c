// lodger-talk: which of its three programs is meant (talk.h). Runs in a session, as the lodger.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protocol.h"
#include "session.h"
#include "talk.h"

bool socket_place(struct sockaddr_un *place)
{
	const uid_t uid = getuid();
	char name[SESSION_NAME_SIZE];

	if (uid <= SESSION_UID_BASE || uid - SESSION_UID_BASE > SESSION_NUMBER_MAX)
		return false;
	session_name((uint32_t)(uid - SESSION_UID_BASE), name);
	*place = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(place->sun_path, sizeof(place->sun_path), "/home/%s/%s/%s", name, HAND_DIRECTORY,
		 HAND_SOCKET);
	return true;
}

bool full_read(int fd, void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		const ssize_t count = read(fd, (char *)data + done, size - done);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return false;
		done += (size_t)count;
	}
	return true;
}

bool full_write(int fd, const void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		const ssize_t count = write(fd, (const char *)data + done, size - done);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return false;
		done += (size_t)count;
	}
	return true;
}

int main(int argc, char *argv[])
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";

	if (strcmp(name, "assistant_listen") == 0)
		return listen_main();
	if (strcmp(name, "assistant_tell") == 0)
		return tell_main(argv + 1);
	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && strcmp(argv[1], "hand") == 0)
		return hand_main(argv[2]);
	fputs("lodger-talk: used by lodger assistant, in its session\n", stderr);
	return 2;
}
