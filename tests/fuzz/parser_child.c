// Runs the helper's request_read (helper/parse.c, the very object that is installed) on standard
// input, without the rest of the helper: parser_fuzz starts it for every input. Writes one struct
// verdict. As root all is as in the helper: the child becomes PARSER_UID and loses its capabilities.
// Everybody else may not do that; for them the child stays who it is, under the same filter.
// With the argument "held" standard input is left open, and the bound of five seconds is scaled down.
#include "parser_child.h"

#include <poll.h>
#include <stdarg.h>

#include "helper.h"

#define HELD_DIVISOR 125

static bool held;
static pid_t child = -1;

// The linker puts these between parse.o and what it calls (--wrap in ld(1)).
void __wrap_identity_become(uid_t id);
void __real_identity_become(uid_t id);
void __wrap_capability_use(uint64_t set);
void __real_capability_use(uint64_t set);
pid_t __wrap_fork(void);
pid_t __real_fork(void);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout);
ssize_t __wrap_frame_read_full(int fd, void *buffer, size_t size);
ssize_t __real_frame_read_full(int fd, void *buffer, size_t size);

static _Noreturn void end(struct verdict *verdict)
{
	_exit(frame_write_full(STDOUT_FILENO, verdict, sizeof(*verdict)) < 0);
}

// What only a mistake can bring about.
static _Noreturn void broken(const char *what)
{
	struct verdict verdict = { .kind = VERDICT_BROKEN };

	snprintf(verdict.text, sizeof(verdict.text), "%s", what);
	end(&verdict);
}

void report(Lodger__Helper__Code code, const char *field, uint32_t session, uint32_t collected,
	    const char *format, ...)
{
	struct verdict verdict = { .kind = VERDICT_REFUSED, .code = code };
	va_list arguments;

	if (session != 0 || collected != 0)
		broken("the parser's half answers for a session");
	va_start(arguments, format);
	vsnprintf(verdict.text, sizeof(verdict.text), format, arguments);
	va_end(arguments);
	snprintf(verdict.field, sizeof(verdict.field), "%s", field);
	end(&verdict);
}

void die(const char *doing, const char *object)
{
	struct verdict verdict = { .kind = VERDICT_BROKEN };

	snprintf(verdict.text, sizeof(verdict.text), "%s %s: %s", doing, object, strerror(errno));
	end(&verdict);
}

void __wrap_identity_become(uid_t id)
{
	if (geteuid() == 0)
		__real_identity_become(id);
}

void __wrap_capability_use(uint64_t set)
{
	if (geteuid() == 0)
		__real_capability_use(set);
}

pid_t __wrap_fork(void)
{
	return child = __real_fork();
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (timeout < 0 || timeout > VERDICT_BOUND_MS)
		broken("the child is given longer than its bound");
	return __real_poll(fds, count, held ? timeout / HELD_DIVISOR : timeout);
}

// Whether `line` stands in the child's /proc/PID/status (proc(5)), which a dead child still has.
static bool status_has(const char *line)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/%d/status", child);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t size = fd >= 0 ? __real_frame_read_full(fd, text, sizeof(text) - 1) : -1;
	if (size < 0)
		broken("reading the child's status");
	text[size] = '\0';
	return strstr(text, line) != NULL;
}

// What root reads from the child. Here it reads on: nothing may follow.
ssize_t __wrap_frame_read_full(int fd, void *buffer, size_t size)
{
	char identity[128], more;
	const ssize_t n = __real_frame_read_full(fd, buffer, size);

	if (n == 0)
		return n;
	if (size != sizeof(struct request) || (size_t)n != size)
		broken("the child wrote a part of a struct request");
	if (__real_frame_read_full(fd, &more, sizeof(more)) != 0)
		broken("the child wrote more than a struct request");
	if (!status_has("\nSeccomp:\t2\n") || !status_has("\nNoNewPrivs:\t1\n"))
		broken("the child had no filter");
	snprintf(identity, sizeof(identity), "\nUid:\t%u\t%u\t%u\t%u\n", PARSER_UID, PARSER_UID,
		 PARSER_UID, PARSER_UID);
	if (geteuid() == 0 &&
	    (!status_has(identity) || !status_has("\nCapPrm:\t0000000000000000\n")))
		broken("the child had kept privilege");
	return n;
}

int main(int argc, char *argv[])
{
	struct verdict verdict = { .kind = VERDICT_TAKEN };

	held = argc == 2 && strcmp(argv[1], "held") == 0;
	if (geteuid() == 0)
		capability_keep();
	request_read(&verdict.request);
	end(&verdict);
}
