// The one way out: every answer, refusal and log line. Packs and writes the Reply into the caller's
// pipe, sends one datagram to syslog, exits. Writes to no descriptor that guard.c did not prove to
// be a pipe; a reader that does not read holds up nobody, since no lock is waited for by then, and
// guard.c's alarm ends it.
#include "helper.h"

#include <stdarg.h>
#include <sys/un.h>
#include <syslog.h>

uid_t report_caller = (uid_t)-1;
uint32_t report_operation;
static const char *const operations[] = { "request", "create", "destroy", "collect" };
int report_parent = -1;
void (*report_undo)(void);

// As syslog(3) would, but without its heap, time zone and blocking. A machine without a log, or
// one with a full queue, loses the line and nothing else.
void report_log(bool refused, const char *detail)
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/dev/log" };
	char line[700];
	autoclose int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(line, sizeof(line), "<%d>lodger-helper[%d]: uid %u %s %s: %s",
		 LOG_AUTHPRIV | (refused ? LOG_NOTICE : LOG_INFO), getpid(), report_caller,
		 operations[report_operation], refused ? "refused" : "done", detail);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		(void)!send(fd, line, strlen(line), MSG_NOSIGNAL);
}

void report(Lodger__Helper__Code code, const char *field, uint32_t session, uint32_t collected,
	    const char *format, ...)
{
	const bool refused = code != CODE(OK) && code != CODE(ALREADY_GONE);
	Lodger__Helper__Reply reply = LODGER__HELPER__REPLY__INIT;
	void (*undo)(void) = report_undo;
	uint8_t packed[HELPER_FRAME_MAX];
	char message[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	if (report_parent >= 0) {
		// Nobody to tell if the parent is gone. Its word is awaited and read: to end before is an
		// error to it, in the place of the message (unix(7)).
		(void)!write(report_parent, message, strlen(message));
		(void)!read(report_parent, message, 1);
		_exit(1);
	}
	report_undo = NULL;
	if (refused && undo)
		undo();
	if (message[0])
		report_log(refused, message);
	reply.version = HELPER_PROTOCOL_VERSION;
	reply.code = code;
	reply.session = session;
	reply.collected = collected;
	reply.field = (char *)field;
	reply.message = refused ? message : "";
	// Which is less than HELPER_FRAME_MAX by far.
	size_t size = lodger__helper__reply__pack(&reply, packed);
	_exit(frame_write(STDOUT_FILENO, packed, size) == 0 ? HELPER_EXIT_REPLIED
							    : HELPER_EXIT_UNHEARD);
}

void die(const char *doing, const char *object)
{
	refuse(CODE(SYSTEM), "", "%s %s: %s", doing, object, strerrordesc_np(errno));
}
