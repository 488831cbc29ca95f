// What Frama-C's C library does not have; bodies in ../../driver.h.
#pragma once

#include <stdint.h>

int expand_number(const char *text, uint64_t *value);
