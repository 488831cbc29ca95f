// The caller's terminal (terminal.h). Runs as the caller.
#include "terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static int raw_fd = -1;
static struct termios saved;

int terminal_find(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (isatty(fd))
			return fd;
	return -1;
}

void terminal_size(int fd, uint32_t *rows, uint32_t *columns)
{
	struct winsize size = { 0 };

	if (fd < 0 || ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0)
		size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	*rows = size.ws_row;
	*columns = size.ws_col;
}

void terminal_resize(int fd, int master)
{
	struct winsize size;

	// A size that cannot be had or set leaves the old one: nothing to do about it.
	if (fd >= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
		(void)ioctl(master, TIOCSWINSZ, &size);
}

void terminal_restore(void)
{
	sigset_t stop, old;

	if (raw_fd < 0)
		return;
	// From the background, tcsetattr(3) would stop this process with SIGTTOU.
	sigemptyset(&stop);
	sigaddset(&stop, SIGTTOU);
	sigprocmask(SIG_BLOCK, &stop, &old);
	// TCSANOW: draining would wait for a terminal that does not drain.
	while (tcsetattr(raw_fd, TCSANOW, &saved) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, &old, NULL);
	raw_fd = -1;
}

void terminal_raw(int fd)
{
	static bool registered;
	struct termios raw;

	if (raw_fd >= 0 || tcgetattr(fd, &saved) < 0)
		return;
	raw = saved;
	cfmakeraw(&raw);
	if (!registered)
		registered = atexit(terminal_restore) == 0;
	raw_fd = fd;
	while (tcsetattr(fd, TCSANOW, &raw) < 0 && errno == EINTR)
		;
}

bool terminal_foreground(int fd)
{
	const pid_t group = tcgetpgrp(fd);

	// A terminal that is not this process's controlling one stops nobody.
	return group < 0 || group == getpgrp();
}
