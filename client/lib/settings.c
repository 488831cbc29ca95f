// What the policy says to the client (settings.h). Runs as the caller, reads only.
#include "settings.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "cleanup.h"
#include "frame.h"
#include "policy.h"

bool settings_auto_off(const char *path)
{
	struct caller caller = { .uid = geteuid(), .gid = getegid() };
	const char *problem;

	autofree struct policy *policy = calloc(1, sizeof(*policy));
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	caller.group_count =
		getgroups(sizeof(caller.groups) / sizeof(caller.groups[0]), caller.groups);
	return policy && fd >= 0 && caller.group_count >= 0 &&
	       frame_read_full(fd, policy->text, POLICY_SIZE_MAX) >= 0 &&
	       policy_parse(policy, &caller, &problem) == 0 && policy->auto_off;
}
