// DESTROY and COLLECT. Whom a session belongs to is read from its record alone, whether it lives is
// told by its lock alone; both are root's. There is no tree to delete: what a lodger wrote was in
// the session's own tmpfs and died with it.
#include "helper.h"

// Longer than hundreds of destroys at once take, and well within guard.c's alarm.
#define DESTROY_USEC 20000000U
#define PAUSE_LONG 50000U

void session_destroy(uint32_t number, const struct caller *caller)
{
	const uint64_t end = clock_boot_usec() + DESTROY_USEC;
	struct record record;
	bool seen = false;

	// Another helper may be making or destroying the same session. The pause grows with the time
	// waited, so that many of those who wait leave the CPU to those who work: fewer than fifty
	// rounds, whose descriptors stay open.
	for (useconds_t pause = 200; clock_boot_usec() < end; usleep(pause), pause += pause / 4) {
		// Opened first, looked up second: a cgroup is removed before its session's
		// directory and made after it, so while that record stands, the open cgroup is
		// this session's or no more.
		struct cgroup cgroup = cgroup_open(number);
		Lodger__Helper__Code code = sessions_lookup(number, &record);
		if (code == CODE(ALREADY_GONE))
			report(seen ? CODE(OK) : code, "", number, 0, "lodger-%u, already gone",
			       number);
		if (code != CODE(OK)) {
			// Nobody comes back for what a killed helper left half made.
			if (pause > PAUSE_LONG)
				sessions_collect();
			continue;
		}
		if (caller->uid != 0 && caller->uid != record.owner)
			refuse(CODE(PERMISSION), "session",
			       "lodger-%u belongs to uid %u, not to you", number, record.owner);
		seen = true;
		cgroup_kill(&cgroup);
		autoclose int lock = sessions_lock(number);
		// Looked up again: without its record this is half of another one's new session.
		if (lock >= 0 && sessions_lookup(number, &record) == CODE(OK) &&
		    sessions_remove(number))
			report(CODE(OK), "", number, 0, "lodger-%u of uid %u", number,
			       record.owner);
	}
	refuse(CODE(BUSY), "session",
	       "lodger-%u has not ended: another helper is at it, or the kernel still holds a "
	       "process of it; it keeps its number until lodger collect finds it gone",
	       number);
}
