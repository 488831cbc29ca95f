// Checks of the machine (doctor.h): kernel, cgroups, names and numbers. Runs as the caller, reads
// only.
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor.h"
#include "session.h"
#include "usage.h"

#define TEXT_SIZE 65536

// The newest call that helper and agent need is mount_setattr(2), which is of 5.12.
#define KERNEL_MINOR 12

static void kernel_check(struct finding *finding)
{
	unsigned int major, minor;
	struct utsname name;

	if (uname(&name) < 0 || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		bad(finding, "this is not a Linux that Lodger knows",
		    "the kernel's version is unknown");
	else if (major < 5 || (major == 5 && minor < KERNEL_MINOR))
		bad(finding, "install a newer kernel; Debian 12 has 6.1",
		    "Linux %s; Lodger needs 5.%u", name.release, KERNEL_MINOR);
	else
		good(finding, "Linux %s", name.release);
}

// What would keep a set-user-ID program from being one.
static void caller_check(struct finding *finding)
{
	char map[64];
	unsigned int inside, outside, count;

	// First: a session has no_new_privs, too.
	if (getuid() >= SESSION_UID_BASE && getuid() <= SESSION_UID_BASE + SESSION_NUMBER_MAX)
		bad(finding, "call lodger as an ordinary user", "this is a session itself");
	else if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		bad(finding, "call lodger from a shell outside of that sandbox or service",
		    "this process has no_new_privs, so the helper cannot become root");
	else if (!doctor_read("/proc/self/uid_map", map, sizeof(map)) ||
		 sscanf(map, "%u %u %u", &inside, &outside, &count) != 3 || inside != 0 ||
		 outside != 0 || count != UINT32_MAX)
		bad(finding, "call lodger outside of the container",
		    "this process is in a user namespace of its own");
	else
		good(finding, "uid %u, in the machine's own user namespace", getuid());
}

static void cgroup_check(struct finding *finding)
{
	static const char *const v2_names[] = { "memory", "pids", "cpu", NULL };
	static const char *const v1_names[] = { "memory", "pids", "cpu", "cpuacct", NULL };
	char text[1024], missing[128] = "", path[PATH_MAX];
	const bool v2 = doctor_read(CGROUP_ROOT "/cgroup.controllers", text, sizeof(text));
	const char *const *names = v2 ? v2_names : v1_names;

	for (size_t i = 0; names[i]; i++) {
		snprintf(path, sizeof(path), "%s/%s/cgroup.procs", CGROUP_ROOT, names[i]);
		if (v2 ? doctor_has_word(text, names[i]) : access(path, F_OK) == 0)
			continue;
		strcat(missing, " ");
		strcat(missing, names[i]);
	}
	if (*missing)
		bad(finding,
		    v2 ? "add cgroup_enable=memory (or the controller that is missing) to the "
			 "kernel's command line, or allow to be without it: optional, in " LODGER_POLICY
		       : "mount cgroup v2 on /sys/fs/cgroup, or the v1 controllers on directories in it; "
			 "or allow to be without: optional, in " LODGER_POLICY,
		    "cgroup %s, without the controllers:%s", v2 ? "v2" : "v1", missing);
	else
		good(finding, "cgroup %s, with %s", v2 ? "v2" : "v1",
		     v2 ? "memory, pids, cpu" : "memory, pids, cpu, cpuacct");
}

// Finds in a colon-separated file a number, or a range, that meets the sessions' uids.
// Returns false when nothing does; copies the line to `found`, else.
static bool range_used(const char *path, bool range, char *found, size_t size)
{
	static char text[TEXT_SIZE];
	const uint64_t first = SESSION_UID_BASE - 1, last = SESSION_UID_BASE + SESSION_NUMBER_MAX;
	char *rest = text, *line;

	if (!doctor_read(path, text, sizeof(text)))
		return false;
	while ((line = strsep(&rest, "\n"))) {
		uint64_t start, count = 1;
		const int fields =
			range ? sscanf(line, "%*[^:]:%" SCNu64 ":%" SCNu64, &start, &count)
			      : sscanf(line, "%*[^:]:%*[^:]:%" SCNu64, &start);

		if (fields != (range ? 2 : 1) || count == 0)
			continue;
		if (start <= last && (start >= first || count > first - start)) {
			snprintf(found, size, "%s", line);
			return true;
		}
	}
	return false;
}

static void range_check(struct finding *finding)
{
	static const struct {
		const char *path;
		bool range;
	} files[] = {
		{ "/etc/passwd", false },
		{ "/etc/group", false },
		{ "/etc/subuid", true },
		{ "/etc/subgid", true },
	};
	char found[200];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!range_used(files[i].path, files[i].range, found, sizeof(found)))
			continue;
		bad(finding,
		    "give that entry other numbers, or build Lodger with another "
		    "SESSION_UID_BASE",
		    "uids %u to %u are Lodger's, but %s has: %s", SESSION_UID_BASE - 1,
		    SESSION_UID_BASE + SESSION_NUMBER_MAX, files[i].path, found);
		return;
	}
	good(finding, "uids %u to %u are nobody else's", SESSION_UID_BASE - 1,
	     SESSION_UID_BASE + SESSION_NUMBER_MAX);
}

static void names_check(struct finding *finding)
{
	static char text[TEXT_SIZE];
	char *rest = text, *line;

	if (!doctor_read("/etc/nsswitch.conf", text, sizeof(text))) {
		info(finding, "no /etc/nsswitch.conf: ps and getent show lodgers as numbers");
		return;
	}
	while ((line = strsep(&rest, "\n")))
		if (strncmp(line, "passwd:", 7) == 0 && doctor_has_word(line, "systemd")) {
			info(finding, "nss-systemd is in use: ps and getent show lodgers by name");
			return;
		}
	info(finding,
	     "nss-systemd is not in /etc/nsswitch.conf: ps and getent show lodgers as numbers");
}

const struct check machine_checks[] = {
	{ "kernel", kernel_check },   { "caller", caller_check },      { "cgroups", cgroup_check },
	{ "uid range", range_check }, { "lodger names", names_check },
};
const int machine_check_count = sizeof(machine_checks) / sizeof(machine_checks[0]);
