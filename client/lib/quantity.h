// Sizes, times and percentages as people write them, and back. Pure.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "failure.h"

// The longest time that can be given: ten years.
#define DURATION_MAX (3650ULL * 24 * 3600)
#define PERCENT_MAX 1000000U

// Each takes the word that stood behind option `what` and refuses, naming both, what is not such a
// number, zero, or too large.

// Bytes: digits and perhaps one of K M G T P E (powers of 1024).
bool size_parse(const char *what, const char *word, uint64_t *bytes, struct failure *failure);
// Seconds: digits and perhaps one of s m h d.
bool duration_parse(const char *what, const char *word, uint64_t *seconds, struct failure *failure);
// Digits and perhaps a percent sign.
bool percent_parse(const char *what, const char *word, uint64_t *percent, struct failure *failure);
// Digits alone.
bool count_parse(const char *what, const char *word, uint64_t *count, struct failure *failure);

#define QUANTITY_SIZE 24

// "512M", "1.5G"; "45s", "2h05m", "3d04h". Both return `text`.
char *size_format(char text[QUANTITY_SIZE], uint64_t bytes);
char *duration_format(char text[QUANTITY_SIZE], uint64_t seconds);
