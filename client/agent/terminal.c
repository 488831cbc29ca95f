// Terminals for jobs (terminal.h). Runs in keepers, without privilege. A job never gets the
// caller's terminal: what a session could do to it (TIOCSTI, reading, changing its modes) it can
// only do to one that dies with the job.
#include "terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cleanup.h"

int terminal_open(uint16_t rows, uint16_t columns, int *slave)
{
	const struct winsize size = {
		.ws_row = rows > 0 ? rows : 24,
		.ws_col = columns > 0 ? columns : 80,
	};
	struct termios modes;
	autoclose int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (master < 0 || unlockpt(master) < 0)
		return -1;

	// By the master, not by a path under /dev/pts, which may be another instance's
	// (ioctl_tty(2)).
	autoclose int other = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (other < 0)
		return -1;

	// The kernel's modes for a new terminal are the usual ones but for this.
	if (tcgetattr(other, &modes) < 0)
		return -1;
	modes.c_iflag |= IUTF8;
	if (tcsetattr(other, TCSANOW, &modes) < 0 || ioctl(master, TIOCSWINSZ, &size) < 0)
		return -1;

	const int result = master;
	*slave = other;
	master = other = -1;
	return result;
}

int terminal_control(int slave)
{
	return ioctl(slave, TIOCSCTTY, 0);
}

pid_t terminal_foreground(int master)
{
	pid_t group;

	return ioctl(master, TIOCGPGRP, &group) == 0 && group > 0 ? group : 0;
}
