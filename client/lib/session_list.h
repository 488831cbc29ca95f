// The sessions of this machine, from what everybody may read: their records, which only root can
// write, and their cgroups.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"
#include "session.h"
#include "usage.h"

struct session {
	struct record record;
	enum liveness liveness;
};

struct session_list {
	struct session *sessions; // by number, ascending
	size_t count;
};

// Reads all sessions below `directory` (LODGER_SESSIONS) that have a whole record. No directory:
// no sessions. session_list_free gives the memory back.
bool session_list_read(struct session_list *list, const char *directory,
		       const struct usage_place *place, struct failure *failure);
void session_list_free(struct session_list *list);

// Reads one session below `directory`. Returns 0, or the errno: ENOENT there is none, EPROTO its
// record is not whole (it is just being made, or was never finished).
int session_read(struct session *session, const char *directory, const struct usage_place *place,
		 uint32_t number);

// Reads the session that this process has just had made. False, with `failure`.
bool session_made(struct session *session, uint32_t number, struct failure *failure);

// Reads what a session has used until now; while it lives, with the time since it was created.
void session_usage_read(const struct session *session, const struct usage_place *place,
			struct usage *usage);

// The same by number alone; all USAGE_UNKNOWN when it is gone.
void session_usage(struct usage *usage, uint32_t number);

// "live", "ended", "unclear".
const char *session_state(const struct session *session);

// Seconds since it was created, and until its time to live is over (0: it is over).
uint64_t session_age(const struct session *session);
uint64_t session_remaining(const struct session *session);

// The name of user `uid`, printable; its number when it has none. Static, until the next call.
const char *user_name(uint32_t uid);
