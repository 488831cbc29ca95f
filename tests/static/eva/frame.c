// proto/frame.c on every stream of bytes, cut into pieces and interrupted anywhere.
#include "driver.h"
#include "protocol.h"

static volatile uint8_t first;

// All of `count` must be writable; one byte comes. The code's only state is how much is done, and
// steps of one reach each value of it that longer steps do.
ssize_t read(int fd, void *buffer, size_t count)
{
	(void)fd;
	fill(buffer, count);
	switch (any(0, 2)) {
	case 0:
		errno = any(1, 133);
		return -1;
	case 1:
		return 0;
	}
	return count > 0;
}

// All of `count` must be readable; one byte goes.
ssize_t write(int fd, const void *buffer, size_t count)
{
	(void)fd;
	//@ assert readable: \valid_read((const uint8_t *)buffer + (0 .. count - 1));
	if (count == 0)
		return 0;
	first = *(const uint8_t *)buffer;
	if (any(0, 1) == 0)
		return 1;
	errno = any(1, 133);
	return -1;
}

// Eva's time grows with the square of this, and nothing in frame.c depends on what it is.
#undef HELPER_FRAME_MAX
#define HELPER_FRAME_MAX (BEYOND ? 8U : 128U)

#include "../../../proto/frame.c"

int main(void)
{
	static uint8_t buffer[HELPER_FRAME_MAX];

	switch (any(0, 3)) {
	case 0:
		frame_read_full(0, buffer, (size_t)any(0, HELPER_FRAME_MAX) + BEYOND);
		break;
	case 1:
		frame_read(0, buffer, sizeof(buffer));
		break;
	case 2:
		// That what goes is what came, too: for a few sizes, since Eva keeps no relation
		// between a size and what is initialized.
		fill(buffer, sizeof(buffer));
		for (size_t i = 0; i <= 64; i++)
			frame_write(1, buffer, i);
		frame_write(1, buffer, HELPER_FRAME_MAX);
		frame_write(1, buffer, HELPER_FRAME_MAX + 1U);
		break;
	case 3:
		fill(buffer, sizeof(buffer));
		frame_write_full(1, buffer, (size_t)any(0, HELPER_FRAME_MAX) + BEYOND);
		break;
	}
	return 0;
}
