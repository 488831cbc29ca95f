// CREATE. The root process claims a number, starts the session leader in new namespaces and lets it
// go only when everything that DESTROY and COLLECT need is written. If it dies before, the leader
// reads end of file and exits: nothing of the lodger's ever ran.
#include "helper.h"

#include <linux/keyctl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>

#define AGENT LODGER_LIBEXEC "/lodger-agent"

// What the two halves and the undo share.
static struct record record;
static pid_t leader;

// A refused CREATE leaves nothing. The leader's end is all that is wanted; nobody is to be told of
// a failure, and what cannot be removed now is left to COLLECT.
static void undo(void)
{
	capability_use(CAPABILITY(CAP_KILL));
	if (leader > 0 && kill(leader, SIGKILL) == 0)
		waitpid(leader, NULL, 0);
	capability_use(0);
	if (record.number)
		sessions_remove(record.number);
}

static void loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		die("bringing up", "the session's loopback");
}

// Becomes the agent. Its descriptors are AGENT_FD_TIE, which is in place, two on /dev/null,
// AGENT_FD_LISTEN and AGENT_FD_LOCK.
static _Noreturn void agent_execute(int agent, int listener, int lock)
{
	char number[16], owner[16], deadline[24];
	char *const arguments[] = { "lodger-agent", number, owner, deadline, NULL };
	char *const environment[] = { NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	snprintf(number, sizeof(number), "%u", record.number);
	snprintf(owner, sizeof(owner), "%u", record.owner);
	snprintf(deadline, sizeof(deadline), "%lu",
		 record.created_boot + record.limits[LIMIT_TTL] * 1000000);
	// Close-on-exec is the rule everywhere; close_range(2) holds even for what was forgotten.
	if (dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
	    dup2(listener, AGENT_FD_LISTEN) < 0 || dup2(lock, AGENT_FD_LOCK) < 0 ||
	    close_range(AGENT_FD_LOCK + 1, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		die("arranging", "the agent's descriptors");
	identity_become(record.uid);
	// By descriptor: the agent's file is not in the session's root. Its mode 0711 keeps the
	// process non-dumpable from here on (execve(2), prctl(2) PR_SET_DUMPABLE).
	syscall(SYS_execveat, agent, "", arguments, environment, AT_EMPTY_PATH);
	die("starting", AGENT);
}

// The child's half, up to the parent's word. End of file: the parent died, and so does this.
static void leader_prepare(const struct policy *policy, const struct cgroup *cgroup, int parent)
{
	char name[SESSION_NAME_SIZE], go;

	report_parent = parent;
	capability_use(CAPABILITY(CAP_SYS_ADMIN) | CAPABILITY(CAP_NET_ADMIN) |
		       CAPABILITY(CAP_CHOWN));
	cgroup_enter(cgroup);
	// Only now, so that the session's own cgroup is the root of what it can see of cgroups.
	if (unshare(CLONE_NEWCGROUP) < 0)
		die("making", "the session's cgroup namespace");
	session_name(record.number, name);
	if (sethostname(name, strlen(name)) < 0)
		die("setting", "the session's host name");
	if (record.network == NETWORK(NONE))
		loopback_up();
	root_build(policy, &record);
	// The caller's keys must not come along (keyrings(7)); ENOSYS: a kernel without keys.
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS)
		die("leaving", "the caller's keyring");
	if (read(parent, &go, 1) != 1)
		_exit(1);
}

// Lets the leader go and waits until it has become the agent: its end of the pair, which is
// close-on-exec, is closed and it said nothing.
static void leader_release(int pair)
{
	char message[512];

	if (send(pair, "g", 1, MSG_NOSIGNAL) != 1)
		die("starting", "the session leader");
	ssize_t n = read(pair, message, sizeof(message));
	if (n != 0)
		refuse(CODE(SYSTEM), "", "%.*s", n < 0 ? 0 : (int)n, message);
}

void session_create(const struct request *request, const struct policy *policy,
		    const struct caller *caller)
{
	// New, but for the caller's network where it may have it (clone(2)).
	unsigned long flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | SIGCHLD;
	int lock, listener, pair[2];

	if (request->network == NETWORK(NONE))
		flags |= CLONE_NEWNET;
	else if (!policy->network_host)
		refuse(CODE(PERMISSION), "network",
		       "the policy does not allow you the host's network");
	memcpy(record.limits, request->limits, sizeof(record.limits));
	int limit = policy_apply(policy, record.limits);
	if (limit < LIMIT_COUNT)
		refuse(CODE(LIMIT), policy_keys[limit].name,
		       "%s of %lu asked for; the policy allows %lu to %lu", policy_keys[limit].name,
		       record.limits[limit], policy_keys[limit].least, policy->maxima[limit]);
	int agent = open(AGENT, O_PATH | OPEN_SAFE);
	if (agent < 0)
		die("opening", AGENT);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		die("making", "the socket pair to the session leader");

	report_undo = undo;
	record.owner = caller->uid;
	sessions_claim(policy, &record, &lock, &listener);
	struct cgroup cgroup = cgroup_create(record.number, record.limits, policy->optional);
	record.magic = RECORD_MAGIC;
	record.uid = SESSION_UID_BASE + record.number;
	record.created_boot = clock_boot_usec();
	record.created_wall = (uint64_t)time(NULL);
	record.network = request->network;

	capability_use(CAPABILITY(CAP_SYS_ADMIN));
	leader = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
	if (leader < 0)
		die("starting", "the session leader");
	if (leader == 0) {
		close(pair[0]);
		leader_prepare(policy, &cgroup, pair[1]);
		agent_execute(agent, listener, lock);
	}
	filter_last();
	close(pair[1]);
	sessions_record(&record);
	leader_release(pair[0]);
	const uint64_t *limits = record.limits;
	report(CODE(OK), "", record.number, 0,
	       "lodger-%u, memory %lu, pids %lu, cpu %lu, disk %lu, inodes %lu, ttl %lu, network %s",
	       record.number, limits[LIMIT_MEMORY], limits[LIMIT_PIDS], limits[LIMIT_CPU],
	       limits[LIMIT_DISK], limits[LIMIT_INODES], limits[LIMIT_TTL],
	       record.network == NETWORK(HOST) ? "host" : "none");
}
