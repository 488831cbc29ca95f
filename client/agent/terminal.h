// A terminal of the session's own for a job.
#pragma once

#include <stdint.h>
#include <sys/types.h>

// Opens a terminal in the session's devpts, of the given size (0: 24 by 80). Both ends are
// close-on-exec. Returns the master's descriptor and puts the slave's into `slave`; -1 with errno.
int terminal_open(uint16_t rows, uint16_t columns, int *slave);

// Makes `slave` the controlling terminal of the calling process, a session leader without one.
// Returns 0, or -1 with errno.
int terminal_control(int slave);

// The process group in the foreground of the terminal; 0 when there is none.
pid_t terminal_foreground(int master);
