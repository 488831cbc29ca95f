// Frames (proto/frame.h) through a pipe, with reads and writes that come short or are interrupted.
// Holds: what frame_read returns is what the bytes say, it takes no byte too many, and what
// frame_write wrote comes back.
#include "fuzz.h"

#include <errno.h>

#include "frame.h"
#include "protocol.h"

// How many bytes each next call may move, 0 for an interruption; NULL: as the kernel does it.
static const uint8_t *schedule;
static size_t schedule_size, schedule_at;

// The linker gives these to whoever calls read(2) and write(2) (--wrap in ld(1)).
ssize_t __wrap_read(int fd, void *buffer, size_t size);
ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __wrap_write(int fd, const void *buffer, size_t size);
ssize_t __real_write(int fd, const void *buffer, size_t size);

// Returns how many of `size` bytes the call may move; -1 when it is interrupted instead.
static ssize_t scheduled(size_t size)
{
	// Interrupted twice in a row at most, or it would never end.
	static bool before;

	if (!schedule || schedule_at == schedule_size)
		return (ssize_t)size;
	const uint8_t step = schedule[schedule_at++];
	if (step == 0 && !before) {
		before = true;
		errno = EINTR;
		return -1;
	}
	before = false;
	return step > 0 && step < size ? step : (ssize_t)size;
}

ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	const ssize_t allowed = scheduled(size);

	return allowed < 0 ? -1 : __real_read(fd, buffer, (size_t)allowed);
}

ssize_t __wrap_write(int fd, const void *buffer, size_t size)
{
	const ssize_t allowed = scheduled(size);

	return allowed < 0 ? -1 : __real_write(fd, buffer, (size_t)allowed);
}

static void read_holds(const uint8_t *bytes, size_t size, size_t room)
{
	int pipes[2];
	uint8_t *buffer = malloc(room > 0 ? room : 1);

	assert(buffer && pipe2(pipes, O_CLOEXEC) == 0);
	assert(__real_write(pipes[1], bytes, size) == (ssize_t)size);
	close(pipes[1]);

	errno = 0;
	const ssize_t result = frame_read(pipes[0], buffer, room);
	const int error = errno;
	schedule = NULL;

	uint64_t length = 0;
	for (size_t i = 0; i < FRAME_HEADER && i < size; i++)
		length |= (uint64_t)bytes[i] << (8 * i);
	size_t taken = size;
	if (size == 0) {
		assert(result == -1 && error == ENODATA);
	} else if (size < FRAME_HEADER) {
		assert(result == -1 && error == EPROTO);
	} else if (length > room) {
		assert(result == -1 && error == EMSGSIZE);
		taken = FRAME_HEADER;
	} else if (length > size - FRAME_HEADER) {
		assert(result == -1 && error == EPROTO);
	} else {
		assert(result == (ssize_t)length);
		assert(memcmp(buffer, bytes + FRAME_HEADER, length) == 0);
		taken = FRAME_HEADER + length;
	}

	// What is behind the frame is still there.
	uint8_t *rest = malloc(size + 1);
	assert(rest && __real_read(pipes[0], rest, size + 1) == (ssize_t)(size - taken));
	assert(memcmp(rest, bytes + taken, size - taken) == 0);
	free(rest);
	free(buffer);
	close(pipes[0]);
}

static void write_holds(const uint8_t *payload, size_t size)
{
	uint8_t buffer[HELPER_FRAME_MAX + 1];
	int pipes[2];

	assert(pipe2(pipes, O_CLOEXEC) == 0);
	errno = 0;
	const int result = frame_write(pipes[1], payload, size);
	const int error = errno;
	close(pipes[1]);
	if (size > HELPER_FRAME_MAX) {
		assert(result == -1 && error == EMSGSIZE);
		assert(__real_read(pipes[0], buffer, 1) == 0);
	} else {
		assert(result == 0);
		assert(frame_read(pipes[0], buffer, sizeof(buffer)) == (ssize_t)size);
		assert(memcmp(buffer, payload, size) == 0);
		assert(__real_read(pipes[0], buffer, 1) == 0);
	}
	close(pipes[0]);
}

// An input: direction, room for the payload (two bytes), length of the schedule, schedule, bytes.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	const uint64_t before = descriptors_open();
	const bool writing = input_byte(&input) & 1;
	const size_t room = (size_t)input_byte(&input) | (size_t)input_byte(&input) << 8;
	size_t steps = input_byte(&input);
	uint8_t *taken = input_take(&input, &steps);

	size_t left = input.size;
	// A write of any size that the room says, of the bytes again and again.
	if (writing && left > 0)
		left = room % (HELPER_FRAME_MAX + 16);
	uint8_t *bytes = malloc(left > 0 ? left : 1);
	assert(bytes);
	for (size_t i = 0; i < left; i++)
		bytes[i] = input.data[i % input.size];

	schedule = taken;
	schedule_size = steps;
	schedule_at = 0;
	if (writing)
		write_holds(bytes, left);
	else
		read_holds(bytes, left, room);
	schedule = NULL;
	free(bytes);
	free(taken);
	assert(descriptors_open() == before);
	return 0;
}
