// One end of a connection (wire.h). Runs in workers, on what either side sends.
#include "wire.h"

#include <endian.h>
#include <string.h>

static const char too_long[] = "has sent something longer than it can rightly be";

void wire_open(struct wire *wire, int fd, int watched)
{
	wire->fd = fd;
	wire->watched = watched;
	wire->deserted = false;
	wire->trouble = NULL;
	wire->in_at = wire->in_end = wire->out_end = 0;
}

bool wire_fail(struct wire *wire, const char *trouble)
{
	if (wire->trouble == NULL)
		wire->trouble = trouble;
	return false;
}

bool wire_read(struct wire *wire, void *to, size_t size)
{
	uint8_t *at = to;

	while (size > 0) {
		if (wire->trouble != NULL)
			return false;
		if (wire->in_at == wire->in_end) {
			wire->in_at = 0;
			wire->in_end = socket_receive(wire, wire->in, sizeof(wire->in));
			continue;
		}
		const size_t there = wire->in_end - wire->in_at;
		const size_t taken = size < there ? size : there;

		memcpy(at, wire->in + wire->in_at, taken);
		wire->in_at += taken;
		at += taken;
		size -= taken;
	}
	return wire->trouble == NULL;
}

bool wire_read_number(struct wire *wire, uint64_t *number)
{
	uint64_t raw;

	if (!wire_read(wire, &raw, sizeof(raw)))
		return false;
	*number = le64toh(raw);
	return true;
}

bool wire_read_padding(struct wire *wire, uint64_t size)
{
	const size_t count = (size_t)(wire_padded(size) - size);
	uint8_t zeros[8];

	if (!wire_read(wire, zeros, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (zeros[i] != 0)
			return wire_fail(wire, "does not speak the protocol (padding)");
	}
	return true;
}

bool wire_read_string(struct wire *wire, char *to, size_t room, size_t *size)
{
	uint64_t length;

	if (!wire_read_number(wire, &length))
		return false;
	if (length > room)
		return wire_fail(wire, too_long);
	*size = (size_t)length;
	return wire_read(wire, to, *size) && wire_read_padding(wire, length);
}

bool wire_read_text(struct wire *wire, char *to, size_t room, size_t most, size_t *size)
{
	uint64_t length;

	if (!wire_read_number(wire, &length))
		return false;
	if (length > most)
		return wire_fail(wire, too_long);
	*size = length < room ? (size_t)length : room;
	return wire_read(wire, to, *size) && wire_skip(wire, length - *size) &&
	       wire_read_padding(wire, length);
}

bool wire_skip(struct wire *wire, uint64_t size)
{
	uint8_t scrap[4096];

	while (size > 0) {
		const size_t taken = size < sizeof(scrap) ? (size_t)size : sizeof(scrap);

		if (!wire_read(wire, scrap, taken))
			return false;
		size -= taken;
	}
	return true;
}

bool wire_flush(struct wire *wire)
{
	const size_t size = wire->out_end;

	wire->out_end = 0;
	return wire->trouble == NULL && socket_send(wire, wire->out, size);
}

bool wire_write(struct wire *wire, const void *from, size_t size)
{
	if (size > sizeof(wire->out) - wire->out_end && !wire_flush(wire))
		return false;
	if (size > sizeof(wire->out))
		return socket_send(wire, from, size);
	if (wire->trouble != NULL)
		return false;
	if (size > 0)
		memcpy(wire->out + wire->out_end, from, size);
	wire->out_end += size;
	return true;
}

bool wire_write_number(struct wire *wire, uint64_t number)
{
	const uint64_t raw = htole64(number);

	return wire_write(wire, &raw, sizeof(raw));
}

bool wire_write_string(struct wire *wire, const void *from, size_t size)
{
	static const uint8_t zeros[8];

	return wire_write_number(wire, size) && wire_write(wire, from, size) &&
	       wire_write(wire, zeros, (size_t)(wire_padded(size) - size));
}
