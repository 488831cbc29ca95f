// A number of protobuf's wire format by hand, for what talks to helper and agent without a library.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Returns how many bytes it took.
static size_t put_varint(uint8_t *to, uint64_t value)
{
	size_t size = 0;

	for (; value >= 128; value >>= 7)
		to[size++] = (uint8_t)(value | 128);
	to[size++] = (uint8_t)value;
	return size;
}
