// A socket as between client and agent, and packets with descriptors on it.
#pragma once

#include <sys/socket.h>

#include "fuzz.h"

#define SOCKETS_DESCRIPTORS 8

// Sends `size` bytes and `count` descriptors of /dev/null as one packet. False: the queue is full.
static inline bool socket_send(int fd, const uint8_t *data, size_t size, size_t count)
{
	union {
		char room[CMSG_SPACE(SOCKETS_DESCRIPTORS * sizeof(int))];
		struct cmsghdr header;
	} control = { .room = { 0 } };
	struct iovec part = { .iov_base = (void *)data, .iov_len = size };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
	int null = -1;

	assert(count <= SOCKETS_DESCRIPTORS);
	if (count > 0) {
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		assert(null >= 0);
		header.msg_control = &control;
		header.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		for (size_t i = 0; i < count; i++)
			memcpy(CMSG_DATA(&control.header) + i * sizeof(int), &null, sizeof(int));
	}
	const bool sent = sendmsg(fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
	if (null >= 0)
		close(null);
	return sent;
}
