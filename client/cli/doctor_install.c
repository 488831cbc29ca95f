// Checks of what is installed (doctor.h): group, helper, agent, policy, state, channel. Runs as the
// caller, reads only, but for a COLLECT, which makes the helper read its policy.
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "doctor.h"
#include "failure.h"
#include "helper_call.h"
#include "session_list.h"

#define AGENT_PATH LODGER_LIBEXEC "/lodger-agent"
#define POLICY_DIRECTORY "/etc/lodger"
#define INSTALL_ADVICE "an administrator can run make install again"
#define CHANNEL_ADVICE "an administrator can build the package set with lodger-channel"
#define ROOTS "/nix/var/nix/gcroots"

// The gid of group lodger; false: there is none.
static bool group_find(gid_t *gid)
{
	const struct group *group = getgrnam("lodger");

	if (group)
		*gid = group->gr_gid;
	return group != NULL;
}

static void group_check(struct finding *finding)
{
	gid_t gid, groups[1024];
	const int count = getgroups(sizeof(groups) / sizeof(groups[0]), groups);

	if (!group_find(&gid)) {
		bad(finding,
		    "an administrator can make it: addgroup --system lodger; then make install",
		    "there is no group lodger");
		return;
	}
	bool member = geteuid() == 0 || getegid() == gid;
	for (int i = 0; i < count && !member; i++)
		member = groups[i] == gid;
	if (member)
		good(finding, "%s",
		     geteuid() == 0 ? "called by root, who needs no group"
				    : "you are in the group lodger");
	else
		bad(finding, "an administrator can add you: adduser USER lodger; then log in again",
		    "you are not in the group lodger (in this login)");
}

static void helper_check(struct finding *finding)
{
	struct stat status;
	struct statvfs system;
	gid_t gid = (gid_t)-1;

	group_find(&gid);
	if (stat(HELPER_PATH, &status) < 0)
		bad(finding, INSTALL_ADVICE, "%s: %s", HELPER_PATH, strerror(errno));
	else if (!S_ISREG(status.st_mode) || status.st_uid != 0 || status.st_gid != gid ||
		 (status.st_mode & 07777) != 04750)
		bad(finding, "chown root:lodger, then chmod 4750; or " INSTALL_ADVICE,
		    "%s has owner %u, group %u, mode %04o, instead of root, lodger, 4750",
		    HELPER_PATH, status.st_uid, status.st_gid, status.st_mode & 07777);
	else if (statvfs(HELPER_PATH, &system) == 0 && (system.f_flag & ST_NOSUID))
		bad(finding, "install it on a file system without that option",
		    "%s is on a file system that is mounted nosuid", HELPER_PATH);
	else
		good(finding, "%s, root:lodger, 4750", HELPER_PATH);
}

static void agent_check(struct finding *finding)
{
	struct stat status;

	// Without read permission a process of it is not dumpable from its start on.
	if (stat(AGENT_PATH, &status) < 0)
		bad(finding, INSTALL_ADVICE, "%s: %s", AGENT_PATH, strerror(errno));
	else if (!S_ISREG(status.st_mode) || status.st_uid != 0 || (status.st_mode & 07777) != 0711)
		bad(finding, "chown root:root, then chmod 711; or " INSTALL_ADVICE,
		    "%s has owner %u, mode %04o, instead of root, 0711", AGENT_PATH, status.st_uid,
		    status.st_mode & 07777);
	else
		good(finding, "%s, root, 0711", AGENT_PATH);
}

static void policy_check(struct finding *finding)
{
	static const char advice[] =
		"chown root, chmod go-w; make install puts a sample where there "
		"is none";
	struct stat directory, file;
	struct failure failure;
	uint32_t collected;
	bool policy;

	if (lstat(POLICY_DIRECTORY, &directory) < 0 || lstat(LODGER_POLICY, &file) < 0)
		bad(finding, advice, "%s: %s", LODGER_POLICY, strerror(errno));
	else if (!S_ISDIR(directory.st_mode) || directory.st_uid != 0 || (directory.st_mode & 022))
		bad(finding, advice, "%s is not root's alone to write", POLICY_DIRECTORY);
	else if (!S_ISREG(file.st_mode) || file.st_uid != 0 || (file.st_mode & 022))
		bad(finding, advice, "%s is not root's alone to write", LODGER_POLICY);
	else if (helper_collect(&collected, &policy, &failure))
		good(finding, "%s, accepted by the helper", LODGER_POLICY);
	else if (policy)
		bad(finding, "correct that line; lodger.conf(5) tells what there can be", "%s",
		    failure.text);
	else
		bad(finding, "see the checks above; the system log (authpriv) may say more", "%s",
		    failure.text);
}

static void state_check(struct finding *finding)
{
	struct usage_place place;
	struct session_list list;
	struct failure failure;
	struct stat status;
	unsigned int lives = 0;

	if (lstat(LODGER_RUN, &status) < 0) {
		if (errno == ENOENT)
			good(finding, "%s is not there yet: the first session makes it",
			     LODGER_RUN);
		else
			bad(finding, "look at it as root", "%s: %s", LODGER_RUN, strerror(errno));
		return;
	}
	usage_place_find(&place, CGROUP_ROOT, LODGER_POLICY);
	if (!S_ISDIR(status.st_mode) || status.st_uid != 0 || (status.st_mode & 022)) {
		bad(finding, "remove it as root, when no session lives; the helper makes it anew",
		    "%s is not a directory that is root's alone to write", LODGER_RUN);
		return;
	}
	if (!session_list_read(&list, LODGER_SESSIONS, &place, &failure)) {
		bad(finding, "look at it as root", "%s", failure.text);
		return;
	}
	for (size_t i = 0; i < list.count; i++)
		lives += list.sessions[i].liveness == SESSION_LIVES;
	good(finding, "%u live, %zu ended", lives, list.count - lives);
	session_list_free(&list);
}

// Whether a link in `directory` leads to the channel.
static bool root_among(const char *directory, const char *target)
{
	const struct dirent *entry;
	char link[PATH_MAX];
	bool found = false;
	DIR *stream = opendir(directory);

	while (stream && !found && (entry = readdir(stream))) {
		const ssize_t length =
			readlinkat(dirfd(stream), entry->d_name, link, sizeof(link) - 1);

		if (length < 0)
			continue;
		link[length] = '\0';
		found = strcmp(link, target) == 0 || strcmp(link, LODGER_CHANNEL) == 0;
	}
	if (stream)
		closedir(stream);
	return found;
}

static void channel_check(struct finding *finding)
{
	char target[PATH_MAX];
	const ssize_t length = readlink(LODGER_CHANNEL, target, sizeof(target) - 1);

	if (length < 0) {
		bad(finding, CHANNEL_ADVICE, "%s: %s", LODGER_CHANNEL, strerror(errno));
		return;
	}
	target[length] = '\0';
	if (access(target, F_OK) < 0)
		bad(finding, CHANNEL_ADVICE, "%s leads to %s: %s", LODGER_CHANNEL, target,
		    strerror(errno));
	else if (!root_among(ROOTS, target) && !root_among(ROOTS "/lodger", target) &&
		 !root_among(ROOTS "/auto", target))
		bad(finding, "or the next garbage collection removes it; " CHANNEL_ADVICE,
		    "%s is not a garbage collector's root in %s", target, ROOTS);
	else
		good(finding, "%s", target);
}

// nix-shell must be where sessions look for it, in what they see of this machine.
static void nix_check(struct finding *finding)
{
	static const char *const places[] = { "/usr/local/bin/nix-shell", "/usr/bin/nix-shell",
					      "/bin/nix-shell" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (access(places[i], X_OK) == 0) {
			good(finding, "%s", places[i]);
			return;
		}
	}
	bad(finding, "an administrator can install it: apt-get install nix-bin",
	    "nix-shell is in none of /usr/local/bin, /usr/bin, /bin");
}

const struct check install_checks[] = {
	{ "group", group_check },     { "helper", helper_check }, { "agent", agent_check },
	{ "policy", policy_check },   { "state", state_check },	  { "nix-shell", nix_check },
	{ "channel", channel_check },
};
const int install_check_count = sizeof(install_checks) / sizeof(install_checks[0]);
