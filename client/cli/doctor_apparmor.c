// The check of AppArmor (doctor.h): that helper and agent are confined. Runs as the caller, to whom
// the kernel does not list its profiles, but does tell each process's: so it looks at a helper and an
// agent of its own. Where the kernel has no AppArmor, or it is off, that is no failure.
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "doctor.h"
#include "helper_call.h"

#define PROFILES "/etc/apparmor.d/lodger"
#define ENFORCED " (enforce)"
#define LOOKS 50
#define LOOK_NS 10000000

// Reads by what AppArmor confines process `pid`: "NAME (MODE)", or "unconfined".
static bool confinement_read(pid_t pid, char *text, size_t size)
{
	char path[64];

	// The second is of kernels before 5.1, or some other security module's.
	snprintf(path, sizeof(path), "/proc/%d/attr/apparmor/current", pid);
	if (!doctor_read(path, text, size) || !*text) {
		snprintf(path, sizeof(path), "/proc/%d/attr/current", pid);
		if (!doctor_read(path, text, size) || !*text)
			return false;
	}
	text[strcspn(text, "\n")] = '\0';
	return true;
}

// Whether process `pid` executes `name`.
static bool process_is(pid_t pid, const char *name)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (!doctor_read(path, text, sizeof(text)))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return strcmp(text, name) == 0;
}

// The agent of session `number`, or 0. Jobs are called so too before they execute, but there are
// none in a session that nobody has used.
static pid_t agent_find(uint32_t number)
{
	const struct dirent *entry;
	struct stat status;
	pid_t found = 0;
	DIR *stream = opendir("/proc");

	while (stream && found == 0 && (entry = readdir(stream)))
		if (isdigit((unsigned char)*entry->d_name) &&
		    fstatat(dirfd(stream), entry->d_name, &status, 0) == 0 &&
		    status.st_uid == SESSION_UID_BASE + number &&
		    process_is(atoi(entry->d_name), "lodger-agent"))
			found = atoi(entry->d_name);
	if (stream)
		closedir(stream);
	return found;
}

static bool agent_confinement(char *text, size_t size)
{
	static const uint64_t limits[LIMIT_COUNT];
	struct created created;
	struct failure failure;
	bool gone;

	if (!helper_create(limits, false, &created, &failure))
		return false;
	const pid_t pid = agent_find(created.number);
	const bool read = pid > 0 && confinement_read(pid, text, size);
	close(created.tie);
	// The tie has ended it in any case.
	(void)helper_destroy(created.number, &gone, &failure);
	return read;
}

// A helper that gets no request, only to be looked at. It ends when there is none to come, with one
// line in the log.
static bool helper_confinement(char *text, size_t size)
{
	struct helper_call call = { "looking at the helper", .pid = -1, .request = -1,
				    .reply = -1 };
	struct failure failure;
	bool read = false;

	if (helper_call_start(&call, &failure)) {
		// The parent of a posix_spawn(3) goes on when its child has left the old memory, which
		// is a moment before execve(2) gives it the new confinement.
		for (int looks = 0; looks < LOOKS; looks++) {
			read = confinement_read(call.pid, text, size);
			if (!read || strcmp(text, "unconfined") != 0)
				break;
			(void)nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
		}
		close(call.request);
		call.request = -1;
		while (waitpid(call.pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (call.request >= 0)
		close(call.request);
	if (call.reply >= 0)
		close(call.reply);
	return read;
}

// Whether `text` is the profile `name`, or one stacked or namespaced on it, in enforce mode.
static bool confined_by(const char *text, const char *name)
{
	const char *mode = strstr(text, ENFORCED);

	return strncmp(text, name, strlen(name)) == 0 && mode && strcmp(mode, ENFORCED) == 0;
}

void apparmor_check(struct finding *finding)
{
	static const char load[] =
		"an administrator can do: apparmor_parser --replace " PROFILES
		"; aa-status, as root, lists what is loaded. What runs keeps what it has";
	char helper[300], agent[300], enabled[16];

	if (!doctor_read("/sys/module/apparmor/parameters/enabled", enabled, sizeof(enabled)))
		info(finding, "not used here: this kernel has no AppArmor");
	else if (enabled[0] != 'Y')
		info(finding, "not used here: AppArmor is not enabled");
	else if (access(PROFILES, F_OK) < 0)
		bad(finding, "an administrator can run make install again",
		    "AppArmor is enabled, but there is no %s", PROFILES);
	else if (!helper_confinement(helper, sizeof(helper)) ||
		 !agent_confinement(agent, sizeof(agent)))
		skipped(finding,
			"AppArmor is enabled; what confines helper and agent only a session can "
			"tell, or root: aa-status");
	else if (!confined_by(helper, "lodger-helper"))
		bad(finding, load, "the helper runs %s, instead of lodger-helper" ENFORCED, helper);
	else if (!confined_by(agent, "lodger-agent"))
		bad(finding, load, "sessions run %s, instead of lodger-agent" ENFORCED, agent);
	else
		good(finding, "helper and sessions are confined: %s, %s", helper, agent);
}
