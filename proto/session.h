// Sessions as both sides see them: their names and their records.
// The record is written by the helper's root process alone, once, before anything runs in the
// session; it is a plain struct of fixed size, so that root parses nothing when it reads it back.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

// "lodger-65535" and its NUL.
#define SESSION_NAME_SIZE 16

enum limit_index {
	LIMIT_MEMORY,
	LIMIT_PIDS,
	LIMIT_CPU,
	LIMIT_DISK,
	LIMIT_INODES,
	LIMIT_TTL,
	LIMIT_COUNT,
};

#define RECORD_MAGIC 0x3152474cU /* "LGR1" */

struct record {
	uint32_t magic;
	uint32_t number;
	uint32_t uid;	       // and gid
	uint32_t owner;	       // uid of the caller who created it
	uint64_t created_boot; // CLOCK_BOOTTIME, microseconds
	uint64_t created_wall; // CLOCK_REALTIME, seconds
	uint64_t limits[LIMIT_COUNT];
	uint32_t network; // enum Network of helper.proto
	uint32_t reserved;
};

// Writes "lodger-N" to `name`.
void session_name(uint32_t number, char name[SESSION_NAME_SIZE]);

// Returns the number as decimal digits, as directories are named, in memory that the next call
// reuses.
const char *session_digits(uint32_t number);

// Returns the number in "lodger-N", or 0 when `name` is not exactly the name of a session that
// could exist (no leading zeros, no sign, no spaces).
uint32_t session_number(const char *name);

// Reads the whole record from `fd`. Returns false when it is not all there, or does not belong to
// session `number` (what a crash left half written is no record).
bool record_read(int fd, uint32_t number, struct record *record);

// CLOCK_BOOTTIME in microseconds: it goes on during suspend and never jumps (clock_gettime(2)).
uint64_t clock_boot_usec(void);
