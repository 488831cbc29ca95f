// The log (log.h). Not by syslog(3), which would open files and sockets when a worker may not any
// more, and wait where the log is slow.
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "printable.h"

static int descriptor = -1;
static bool plain;

void log_open(bool foreground)
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/dev/log" };

	plain = foreground;
	if (foreground) {
		descriptor = STDERR_FILENO;
		return;
	}
	descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (descriptor >= 0 &&
	    connect(descriptor, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		close(descriptor);
		descriptor = -1;
	}
}

void log_line(enum log_level level, const char *format, ...)
{
	char message[512], safe[PRINTABLE_GROWTH * sizeof(message)], line[sizeof(safe) + 64];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	printable(safe, sizeof(safe), message);
	// What does not fit is cut off. Nobody is told of a line that is lost.
	if (plain) {
		snprintf(line, sizeof(line) - 1, "lodger-gate: %s", safe);
		strcat(line, "\n");
		(void)!write(descriptor, line, strlen(line));
	} else if (descriptor >= 0) {
		snprintf(line, sizeof(line), "<%d>lodger-gate[%d]: %s",
			 LOG_AUTHPRIV | (level == LOG_PROBLEM ? LOG_WARNING : LOG_NOTICE), getpid(),
			 safe);
		(void)!send(descriptor, line, strlen(line), MSG_NOSIGNAL);
	}
}

int log_descriptor(void)
{
	return descriptor;
}
