// The sessions that there are (session_list.h). Runs as the caller, reads only, and trusts only
// what root alone can have written.
#include "session_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "printable.h"

#define USEC_PER_SEC 1000000U

int session_read(struct session *session, const char *directory, const struct usage_place *place,
		 uint32_t number)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%" PRIu32 "/record", directory, number) >=
	    (int)sizeof(path))
		return ENAMETOOLONG;

	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno;
	if (!record_read(fd, number, &session->record))
		return EPROTO;
	session->liveness = usage_liveness(place, number);
	return 0;
}

bool session_made(struct session *session, uint32_t number, struct failure *failure)
{
	struct usage_place place;
	char name[SESSION_NAME_SIZE];

	usage_place_find(&place, CGROUP_ROOT, LODGER_POLICY);
	const int error = session_read(session, LODGER_SESSIONS, &place, number);
	if (error == 0)
		return true;
	session_name(number, name);
	return fail(failure, "reading the record of %s: %s", name,
		    error == EPROTO ? "it is not whole" : strerror(error));
}

void session_usage_read(const struct session *session, const struct usage_place *place,
			struct usage *usage)
{
	usage_read(place, session->record.number, usage);
	if (session->liveness == SESSION_LIVES)
		usage->value[USAGE_WALL] = clock_boot_usec() - session->record.created_boot;
}

void session_usage(struct usage *usage, uint32_t number)
{
	struct usage_place place;
	struct session session;

	usage_place_find(&place, CGROUP_ROOT, LODGER_POLICY);
	if (session_read(&session, LODGER_SESSIONS, &place, number) == 0)
		session_usage_read(&session, &place, usage);
	else
		usage_read(&place, number, usage);
}

static int session_compare(const void *a, const void *b)
{
	const struct session *left = a, *right = b;

	return (left->record.number > right->record.number) -
	       (left->record.number < right->record.number);
}

// The number that a directory is named after, or 0.
static uint32_t directory_number(const char *name)
{
	char session[SESSION_NAME_SIZE];

	// session_number() knows which numbers there can be.
	if (snprintf(session, sizeof(session), "lodger-%s", name) >= (int)sizeof(session))
		return 0;
	return session_number(session);
}

static bool list_fill(struct session_list *list, DIR *stream, const char *directory,
		      const struct usage_place *place)
{
	const struct dirent *entry;
	size_t room = 0;

	while ((entry = readdir(stream))) {
		const uint32_t number = directory_number(entry->d_name);

		if (number == 0)
			continue;
		if (list->count == room) {
			struct session *more;

			room = room ? room * 2 : 64;
			more = reallocarray(list->sessions, room, sizeof(*more));
			if (!more)
				return false;
			list->sessions = more;
		}
		// One that was destroyed meanwhile, or has no record yet, is none.
		if (session_read(&list->sessions[list->count], directory, place, number) == 0)
			list->count++;
	}
	return true;
}

bool session_list_read(struct session_list *list, const char *directory,
		       const struct usage_place *place, struct failure *failure)
{
	DIR *stream = opendir(directory);

	*list = (struct session_list){ 0 };
	if (!stream) {
		// Before the first session, the helper has not made it yet.
		if (errno == ENOENT)
			return true;
		return fail(failure, "listing the sessions in %s: %s", directory, strerror(errno));
	}

	const bool filled = list_fill(list, stream, directory, place);
	closedir(stream);
	if (!filled) {
		session_list_free(list);
		return fail(failure, "listing the sessions in %s: out of memory", directory);
	}
	if (list->count > 0)
		qsort(list->sessions, list->count, sizeof(*list->sessions), session_compare);
	return true;
}

void session_list_free(struct session_list *list)
{
	free(list->sessions);
	*list = (struct session_list){ 0 };
}

const char *session_state(const struct session *session)
{
	static const char *const states[] = {
		[SESSION_LIVES] = "live",
		[SESSION_ENDED] = "ended",
		[SESSION_UNCLEAR] = "unclear",
	};

	return states[session->liveness];
}

uint64_t session_age(const struct session *session)
{
	const uint64_t now = clock_boot_usec();

	return now > session->record.created_boot
		       ? (now - session->record.created_boot) / USEC_PER_SEC
		       : 0;
}

uint64_t session_remaining(const struct session *session)
{
	const uint64_t age = session_age(session), ttl = session->record.limits[LIMIT_TTL];

	return session->liveness != SESSION_ENDED && ttl > age ? ttl - age : 0;
}

const char *user_name(uint32_t uid)
{
	static char name[64];
	const struct passwd *user = getpwuid(uid);

	if (user)
		return printable(name, sizeof(name), user->pw_name);
	snprintf(name, sizeof(name), "%" PRIu32, uid);
	return name;
}
