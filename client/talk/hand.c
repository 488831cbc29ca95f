// lodger-talk hand (talk.h): serves lodger-assistant over standard input and output, and
// assistant_listen and assistant_tell over a socket. Runs in a session, as the lodger; ends with its
// standard input.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "talk.h"

#define PEERS 16
#define BACKLOG 64

struct peer {
	int fd; // -1: free
	uint32_t id;
};

struct hand {
	int listener; // -1: there is no socket
	struct peer peers[PEERS];
	uint32_t last_id;
	char message[HAND_MESSAGE_MAX + 1];
	char command[HAND_COMMAND_MAX + 1];
};

static bool say(uint32_t type, uint32_t id, const void *data, size_t size)
{
	const struct hand_header header = { type, id, (uint32_t)size };

	return full_write(STDOUT_FILENO, &header, sizeof(header)) &&
	       full_write(STDOUT_FILENO, data, size);
}

// Put beside and renamed: the shell reads the one or the other, whole.
static bool command_write(const char *text, size_t size)
{
	static const char temporary[] = HAND_COMMAND_FILE ".new";

	(void)unlink(temporary);
	autoclose int fd =
		open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd >= 0 && full_write(fd, text, size) && rename(temporary, HAND_COMMAND_FILE) == 0;
}

static int socket_open(void)
{
	struct sockaddr_un place;

	if (!socket_place(&place))
		return -1;
	char *slash = strrchr(place.sun_path, '/');
	*slash = '\0';
	(void)mkdir(place.sun_path, 0700);
	*slash = '/';

	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	(void)unlink(place.sun_path);
	if (fd >= 0 && bind(fd, (const struct sockaddr *)&place, sizeof(place)) == 0 &&
	    listen(fd, BACKLOG) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void peer_accept(struct hand *hand)
{
	struct peer *free_peer = NULL;

	for (int i = 0; i < PEERS; i++)
		if (hand->peers[i].fd < 0)
			free_peer = &hand->peers[i];
	if (!free_peer)
		return;
	free_peer->fd = accept4(hand->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	free_peer->id = ++hand->last_id;
}

static void peer_close(struct peer *peer)
{
	close(peer->fd);
	peer->fd = -1;
}

// A request, or the end of one that was waiting.
static bool peer_read(struct hand *hand, struct peer *peer)
{
	const ssize_t size = recv(peer->fd, hand->message, sizeof(hand->message), 0);

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (size > 0 && hand->message[0] == HAND_LISTEN)
		return say(HAND_LISTEN, peer->id, NULL, 0);
	if (size > 0 && hand->message[0] == HAND_TELL)
		return say(HAND_TELL, peer->id, hand->message + 1, (size_t)size - 1);
	peer_close(peer);
	return say(HAND_CANCELLED, peer->id, NULL, 0);
}

// Sends the packet to the peer whose request it answers, and lets it go.
static bool peer_answer(struct hand *hand, uint32_t type, uint32_t id, const char *data,
			size_t size)
{
	for (int i = 0; i < PEERS; i++) {
		struct peer *peer = &hand->peers[i];

		if (peer->fd < 0 || peer->id != id)
			continue;
		hand->message[0] = (char)type;
		memcpy(hand->message + 1, data, size);
		const bool sent = send(peer->fd, hand->message, size + 1, MSG_NOSIGNAL) >= 0;
		peer_close(peer);
		return say(sent ? HAND_DELIVERED : HAND_CANCELLED, id, NULL, 0);
	}
	return say(HAND_CANCELLED, id, NULL, 0);
}

// One frame of the client's. False ends the hand.
static bool order_take(struct hand *hand)
{
	struct hand_header header;

	if (!full_read(STDIN_FILENO, &header, sizeof(header)) || header.length > HAND_COMMAND_MAX ||
	    !full_read(STDIN_FILENO, hand->command, header.length))
		return false;
	hand->command[header.length] = '\0';
	if (header.type == HAND_COMMAND) {
		const bool good = command_write(hand->command, header.length);
		const char *why = good ? "" : strerror(errno);
		return say(HAND_WRITTEN, 0, why, strlen(why));
	}
	if (header.type == HAND_PROBE) {
		const unsigned char state = (unsigned char)probe(atoi(hand->command));
		return say(HAND_PROBED, 0, &state, 1);
	}
	if (header.length > HAND_MESSAGE_MAX)
		return false;
	return peer_answer(hand, header.type, header.id, hand->command, header.length);
}

static bool round_serve(struct hand *hand)
{
	struct pollfd waits[2 + PEERS] = { { STDIN_FILENO, POLLIN, 0 }, { -1, POLLIN, 0 } };
	bool room = false;

	for (int i = 0; i < PEERS; i++) {
		waits[2 + i] = (struct pollfd){ .fd = hand->peers[i].fd, .events = POLLIN };
		room = room || hand->peers[i].fd < 0;
	}
	waits[1].fd = room ? hand->listener : -1;
	if (poll(waits, 2 + PEERS, -1) < 0)
		return errno == EINTR;
	if (waits[0].revents && !order_take(hand))
		return false;
	for (int i = 0; i < PEERS; i++)
		if (waits[2 + i].revents && hand->peers[i].fd == waits[2 + i].fd &&
		    !peer_read(hand, &hand->peers[i]))
			return false;
	if (waits[1].revents)
		peer_accept(hand);
	return true;
}

// What NIX_BUILD_SHELL names: the number behind it is the shell's own (rc.bash).
static void nix_shell_link(const char *nonce)
{
	struct sockaddr_un place;
	char path[sizeof(place.sun_path) + 64];

	if (!socket_place(&place) || strspn(nonce, "0123456789abcdef") != strlen(nonce))
		return;
	*strrchr(place.sun_path, '/') = '\0';
	snprintf(path, sizeof(path), "%s/" HAND_NIX_SHELL "%.40s", place.sun_path, nonce);
	// One that is there already is the same.
	(void)!symlink(LODGER_LIBEXEC "/assistant/nix-build-shell", path);
}

int hand_main(const char *nonce)
{
	static struct hand hand;

	for (int i = 0; i < PEERS; i++)
		hand.peers[i].fd = -1;
	hand.listener = socket_open();
	nix_shell_link(nonce);
	while (round_serve(&hand))
		;
	return 0;
}
