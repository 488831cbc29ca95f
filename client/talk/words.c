// assistant_listen and assistant_tell (talk.h): each sends the hand one packet and waits for one. Run
// in a session, as the lodger.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cleanup.h"
#include "talk.h"

#define EXIT_NOBODY 1
#define EXIT_TROUBLE 2

// What the hand answered instead, for a person.
static int refused(const char *name, const char *packet, ssize_t size)
{
	fprintf(stderr, "%s: %.*s\n", name, (int)size - 1, packet + 1);
	return EXIT_NOBODY;
}

// Connects, sends `type` and the text behind it, and takes the answer. Returns its size, or -1.
static ssize_t ask(const char *name, char *packet, size_t size)
{
	struct sockaddr_un place;
	autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || !socket_place(&place) ||
	    connect(fd, (const struct sockaddr *)&place, sizeof(place)) < 0) {
		fprintf(stderr,
			"%s: nobody is there: this works in a session of lodger assistant\n", name);
		return -1;
	}
	if (send(fd, packet, size, MSG_NOSIGNAL) < 0) {
		fprintf(stderr, "%s: sending: %s\n", name, strerror(errno));
		return -1;
	}

	ssize_t count;
	do
		count = recv(fd, packet, HAND_MESSAGE_MAX + 1, 0);
	while (count < 0 && errno == EINTR);
	if (count <= 0)
		fprintf(stderr, "%s: the conversation is over\n", name);
	return count > 0 ? count : -1;
}

int listen_main(void)
{
	autofree char *packet = malloc(HAND_MESSAGE_MAX + 1);

	if (!packet)
		return EXIT_TROUBLE;
	packet[0] = HAND_LISTEN;
	const ssize_t size = ask("assistant_listen", packet, 1);
	if (size < 0)
		return EXIT_TROUBLE;
	if (packet[0] != HAND_LINE)
		return refused("assistant_listen", packet, size);
	packet[size] = '\n';
	return full_write(STDOUT_FILENO, packet + 1, (size_t)size) ? 0 : EXIT_TROUBLE;
}

int tell_main(char *words[])
{
	autofree char *packet = malloc(HAND_MESSAGE_MAX + 1);
	size_t size = 1;

	if (!packet)
		return EXIT_TROUBLE;
	packet[0] = HAND_TELL;
	// As echo(1) joins them.
	for (int i = 0; words[i]; i++) {
		const size_t length = strlen(words[i]) + (i > 0 ? 1 : 0);

		if (length > HAND_MESSAGE_MAX - size) {
			fprintf(stderr,
				"assistant_tell: that is more than %u bytes; say it in several calls\n",
				HAND_MESSAGE_MAX - 1);
			return EXIT_TROUBLE;
		}
		if (i > 0)
			packet[size] = ' ';
		memcpy(packet + size + (i > 0 ? 1 : 0), words[i], length - (i > 0 ? 1 : 0));
		size += length;
	}
	if (!words[0]) {
		fputs("assistant_tell: nothing to tell; usage: assistant_tell \"TEXT\"\n", stderr);
		return EXIT_TROUBLE;
	}
	const ssize_t answer = ask("assistant_tell", packet, size);
	if (answer < 0)
		return EXIT_TROUBLE;
	return packet[0] == HAND_TOLD ? 0 : refused("assistant_tell", packet, answer);
}
