// The caller's own terminal, while a session's terminal is shown on it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// The terminal among the descriptors 0, 1 and 2 that tells the size; -1 when there is none.
int terminal_find(void);

// The size of terminal `fd`; 24 by 80 when it has none.
void terminal_size(int fd, uint32_t *rows, uint32_t *columns);

// Gives the session's terminal `master` the size of the caller's terminal `fd`.
void terminal_resize(int fd, int master);

// Makes terminal `fd` raw, so that every key goes to the session. Remembers how it was; on a normal
// exit of the process it is restored if terminal_restore() has not been called. Can be called
// again.
void terminal_raw(int fd);

// Restores the terminal; does nothing if it is not raw.
void terminal_restore(void);

// Whether this process is in the foreground of terminal `fd`: only then may it read from it without
// being stopped.
bool terminal_foreground(int fd);
