// The framing between client and helper: a length of four bytes, least significant first, then
// that many bytes of protobuf. Also the full reads and writes that framing needs.
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define FRAME_HEADER 4U

// Reads until `size` bytes are there or the other side closed. Goes on after EINTR.
// Returns the number of bytes read, less than `size` only at end of file; -1 with errno set.
ssize_t frame_read_full(int fd, void *buffer, size_t size);

// Writes all of `size` bytes. Goes on after EINTR. Returns 0, or -1 with errno set.
int frame_write_full(int fd, const void *buffer, size_t size);

// Reads one frame's payload into `buffer`.
// Returns its length (0 is a legal length); -1 with errno set: EMSGSIZE when the frame announces
// more than `size` bytes (nothing of the payload has been read), EPROTO when the other side closed
// before the frame was whole, ENODATA when it closed before the first byte, or read(2)'s.
ssize_t frame_read(int fd, void *buffer, size_t size);

// Writes one frame in one write(2). `size` is at most HELPER_FRAME_MAX, else EMSGSIZE.
// Returns 0, or -1 with errno set.
int frame_write(int fd, const void *payload, size_t size);
