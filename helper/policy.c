// The policy: where it is read from, who may have written it, what it refuses. The text itself is
// parsed by proto/policy.c. A file that anybody but root could have written is refused.
#include "helper.h"

// Whoever can write to what decides here is root.
static void owner_check(int fd, mode_t type, const char *what)
{
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		refuse(CODE(POLICY), "", "opening %s: %s; see lodger.conf(5)", what,
		       strerrordesc_np(errno));
	if ((status.st_mode & S_IFMT) != type || status.st_uid != 0 || (status.st_mode & 022))
		refuse(CODE(POLICY), "",
		       "%s must be a plain %s owned by root and writable by root "
		       "alone: chown root, chmod go-w",
		       what, type == S_IFDIR ? "directory" : "file");
}

void policy_load(struct policy *policy, const struct caller *caller)
{
	const char *problem;
	autoclose int directory = open("/etc/lodger", OPEN_DIRECTORY);

	owner_check(directory, S_IFDIR, "/etc/lodger");
	// O_NONBLOCK: a FIFO in its place must not hold anybody up.
	autoclose int fd =
		openat(directory, "lodger.conf", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	owner_check(fd, S_IFREG, LODGER_POLICY);
	ssize_t size = frame_read_full(fd, policy->text, sizeof(policy->text));
	if (size < 0)
		die("reading", LODGER_POLICY);
	if (size > POLICY_SIZE_MAX || memchr(policy->text, '\0', (size_t)size))
		refuse(CODE(POLICY), "", "%s is not a text of at most %d bytes", LODGER_POLICY,
		       POLICY_SIZE_MAX);
	policy->text[size] = '\0';

	unsigned int line = policy_parse(policy, caller, &problem);
	if (line)
		refuse(CODE(POLICY), "", "%s, line %u: %s", LODGER_POLICY, line, problem);
}
