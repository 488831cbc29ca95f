// What the fuzz targets share: taking an input apart, and counting descriptors. A target states what
// must hold with assert(3); each is a program of its own, without privilege, under the sanitizers.
#pragma once

#include <assert.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What libFuzzer calls. Returns 0; -1 keeps an input out of the corpus.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What is left of an input.
struct input {
	const uint8_t *data;
	size_t size;
};

// The next byte, 0 behind the end.
static inline uint8_t input_byte(struct input *input)
{
	if (input->size == 0)
		return 0;
	input->size--;
	return *input->data++;
}

// Takes up to `size` bytes, as memory of exactly that size, so that a read beyond it is seen; to be
// freed.
static inline uint8_t *input_take(struct input *input, size_t *size)
{
	if (*size > input->size)
		*size = input->size;

	uint8_t *taken = malloc(*size > 0 ? *size : 1);
	assert(taken);
	if (*size > 0)
		memcpy(taken, input->data, *size);
	input->data += *size;
	input->size -= *size;
	return taken;
}

// Takes what stands before the next `end`, and `end`, as a string; to be freed. A NUL ends it too.
static inline char *input_text(struct input *input, char end)
{
	size_t length = 0;

	while (length < input->size && input->data[length] != (uint8_t)end &&
	       input->data[length] != '\0')
		length++;

	char *text = malloc(length + 1);
	assert(text);
	if (length > 0)
		memcpy(text, input->data, length);
	text[length] = '\0';
	if (length < input->size)
		length++;
	input->data += length;
	input->size -= length;
	return text;
}

// Which of the first 64 descriptors are open: what a target leaves behind shows.
static inline uint64_t descriptors_open(void)
{
	uint64_t open = 0;

	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			open |= UINT64_C(1) << fd;
	return open;
}
