// The framing between client and helper (frame.h). Used by the helper's parser child, which has no
// privilege, by the helper's root process for its reply, and by the client.
#include "frame.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "protocol.h"

ssize_t frame_read_full(int fd, void *buffer, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(fd, (char *)buffer + done, size - done);

		if (n == 0)
			break;
		if (n > 0)
			done += (size_t)n;
		else if (errno != EINTR)
			return -1;
	}
	return (ssize_t)done;
}

int frame_write_full(int fd, const void *buffer, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = write(fd, (const char *)buffer + done, size - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			return -1;
	}
	return 0;
}

ssize_t frame_read(int fd, void *buffer, size_t size)
{
	uint8_t header[FRAME_HEADER];
	ssize_t n = frame_read_full(fd, header, sizeof(header));

	if (n < 0)
		return -1;
	if (n != sizeof(header)) {
		errno = n == 0 ? ENODATA : EPROTO;
		return -1;
	}

	uint32_t length = (uint32_t)header[0] | (uint32_t)header[1] << 8 |
			  (uint32_t)header[2] << 16 | (uint32_t)header[3] << 24;
	if (length > size) {
		errno = EMSGSIZE;
		return -1;
	}

	n = frame_read_full(fd, buffer, length);
	if (n < 0)
		return -1;
	if ((size_t)n != length) {
		errno = EPROTO;
		return -1;
	}
	return n;
}

int frame_write(int fd, const void *payload, size_t size)
{
	uint8_t frame[FRAME_HEADER + HELPER_FRAME_MAX];

	if (size > HELPER_FRAME_MAX) {
		errno = EMSGSIZE;
		return -1;
	}
	for (size_t i = 0; i < FRAME_HEADER; i++)
		frame[i] = (uint8_t)(size >> (8 * i));
	memcpy(frame + FRAME_HEADER, payload, size);
	return frame_write_full(fd, frame, FRAME_HEADER + size);
}
