// What each session has added to the store and how much of the log it has used: one table in memory
// that all processes of the gate share, one entry for each number that a session can have.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

// What an object costs beyond its content and name: inode, database rows.
#define BUDGET_OBJECT 512U
// Lines of log for one session in a minute, whatever it does.
#define BUDGET_LINES 60U

struct account {
	_Atomic uint64_t added; // bytes
	_Atomic uint64_t lines; // the minute, and how many lines in it
};

// Makes the table, shared with all processes that are forked later. Returns NULL with errno set.
// Entry 0 is no session's: it is for all who are none.
struct account *budget_open(void);

// Adds `size` unless that makes more than `most`. Returns whether it did.
bool budget_take(struct account *account, uint64_t size, uint64_t most);
// Takes back what was added but cost nothing.
void budget_return(struct account *account, uint64_t size);
// Whether the session may have a line in the log. `seconds` is a clock that does not jump.
bool budget_line(struct account *account, uint64_t seconds);

// Starts an entry anew when its number has gone to another session: when the record of that number
// below the directory `sessions` is not the file that it was before. For the one process that
// accepts connections. `number` is 1 … SESSION_NUMBER_MAX.
void budget_renew(struct account *table, const char *sessions, uint32_t number);
