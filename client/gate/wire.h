// One end of a connection that speaks the daemon's protocol: numbers of eight bytes, least
// significant first, and strings as length, bytes and zeros up to a multiple of eight (Nix's
// serialise.hh). Reads and writes through fixed buffers; allocates nothing, believes no length.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WIRE_BUFFER 16384U

struct wire {
	int fd;	       // not blocking
	int watched;   // when nobody holds the other end of this one any more, waiting ends; or -1
	bool deserted; // it has ended so
	// Why nothing more can be read or written, for people; NULL while all is well.
	const char *trouble;
	size_t in_at, in_end, out_end;
	uint8_t in[WIRE_BUFFER], out[WIRE_BUFFER];
};

void wire_open(struct wire *wire, int fd, int watched);

// All of these return false when there is `trouble`, now or before.
bool wire_read(struct wire *wire, void *to, size_t size);
bool wire_read_number(struct wire *wire, uint64_t *number);
// Reads the zeros that follow a string of that size; anything else there is trouble.
bool wire_read_padding(struct wire *wire, uint64_t size);
// Reads a string of at most `room` bytes; a longer one is trouble.
bool wire_read_string(struct wire *wire, char *to, size_t room, size_t *size);
// Reads a string that is for people: what does not fit is cut off. More than `most` is trouble.
bool wire_read_text(struct wire *wire, char *to, size_t room, size_t most, size_t *size);
bool wire_skip(struct wire *wire, uint64_t size);
// Nothing goes out before the buffer is full or wire_flush is called.
bool wire_write(struct wire *wire, const void *from, size_t size);
bool wire_write_number(struct wire *wire, uint64_t number);
bool wire_write_string(struct wire *wire, const void *from, size_t size);
bool wire_flush(struct wire *wire);

// Sets `trouble`, if there is none yet. Returns false.
bool wire_fail(struct wire *wire, const char *trouble);

// Bytes that a string of that size takes on the wire, its length not counted.
static inline uint64_t wire_padded(uint64_t size)
{
	return (size + 7) & ~UINT64_C(7);
}

// What follows is in socket.c, and is done otherwise where there is no socket (tests/fuzz).

// Waits for bytes and takes up to `size` of them. Returns how many; 0 with `trouble` set.
size_t socket_receive(struct wire *wire, void *to, size_t size);
// Writes all of it, waiting where it must. Returns false with `trouble` set.
bool socket_send(struct wire *wire, const void *from, size_t size);
// After the last answer: reads what the other side still sends, for a while. On a socket that is
// closed while there are bytes to be read, it may hear of the loss before it hears the answer.
void socket_farewell(struct wire *wire);
