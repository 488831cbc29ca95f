// Capabilities and identity. Every change is read back: a kernel filter or module may let a call
// "succeed" that did nothing.
#include "helper.h"

#include <grp.h>
#include <linux/securebits.h>

// All that the helper uses after start-up, and what for.
static uint64_t kept = CAPABILITY(CAP_SYS_ADMIN)    // namespaces, mounts, host name
		       | CAPABILITY(CAP_SETUID)	    // becoming the lodger or the parser
		       | CAPABILITY(CAP_SETGID)	    // the same
		       | CAPABILITY(CAP_SETPCAP)    // emptying the bounding set, securebits
		       | CAPABILITY(CAP_CHOWN)	    // socket to the caller, home to the lodger
		       | CAPABILITY(CAP_KILL)	    // ending the session's processes
		       | CAPABILITY(CAP_NET_ADMIN); // loopback up in the new namespace

static void capability_set(uint64_t permitted, uint64_t effective)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = {
		{ (uint32_t)effective, (uint32_t)permitted, 0 },
		{ (uint32_t)(effective >> 32), (uint32_t)(permitted >> 32), 0 },
	};
	struct __user_cap_data_struct now[2];

	if (capset(&header, data) < 0 || capget(&header, now) < 0)
		die("setting", "capabilities");
	if (memcmp(now, data, sizeof(data)) != 0)
		refuse(CODE(SYSTEM), "", "setting capabilities: the kernel reports others");
}

static void bounding_keep(uint64_t set)
{
	int bound;

	// -1: the kernel knows no more.
	for (cap_value_t value = 0; (bound = cap_get_bound(value)) >= 0; value++)
		if (bound && !(set & CAPABILITY(value)) && cap_drop_bound(value) < 0)
			die("emptying", "the capability bounding set");
}

void capability_keep(void)
{
	bounding_keep(kept);
	capability_set(kept, 0);
}

void capability_use(uint64_t set)
{
	capability_set(kept, set);
}

void capability_only(uint64_t set)
{
	kept = set;
	capability_set(set, 0);
}

void identity_check(uid_t id)
{
	uid_t uid[3];
	gid_t gid[3];

	if (getresuid(&uid[0], &uid[1], &uid[2]) < 0 || getresgid(&gid[0], &gid[1], &gid[2]) < 0)
		die("reading back", "the identity");
	for (int i = 0; i < 3; i++)
		if (uid[i] != id || gid[i] != id || getgroups(0, NULL) != 0)
			refuse(CODE(SYSTEM), "", "becoming uid %u: the kernel reports another", id);
}

void identity_become(uid_t id)
{
	const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |
				   SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
				   SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	capability_use(CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID) | CAPABILITY(CAP_SETPCAP));
	bounding_keep(0);
	if (prctl(PR_SET_SECUREBITS, bits) < 0)
		die("locking", "securebits");
	if (setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)
		die("becoming", "an unprivileged user");
	identity_check(id);
	// Leaving uid 0 has emptied these already (capabilities(7)); this makes sure and checks.
	capability_set(0, 0);
}
