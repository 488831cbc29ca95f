// lodger show (command.h). Runs as the caller; asks the session's agent what only its owner may
// know.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent_call.h"
#include "cleanup.h"
#include "command.h"
#include "json_output.h"
#include "names.h"
#include "quantity.h"
#include "session_list.h"

// What the agent says. False: the session is another's, or has ended, or does not answer, which is
// no failure here.
static bool state_ask(const struct session *session, struct agent_reply *state)
{
	struct failure ignored;

	if (session->record.owner != getuid() || session->liveness == SESSION_ENDED)
		return false;
	autoclose int connection = agent_connect(session->record.number, &ignored);
	return connection >= 0 && agent_status(connection, state, &ignored);
}

static void size_print(const char *name, uint64_t bytes)
{
	char text[QUANTITY_SIZE];

	if (bytes == USAGE_UNKNOWN)
		printf("%-16s not kept by this kernel\n", name);
	else
		printf("%-16s %s\n", name, size_format(text, bytes));
}

static void number_print(const char *name, uint64_t number, const char *unit)
{
	if (number == USAGE_UNKNOWN)
		printf("%-16s not kept by this kernel\n", name);
	else
		printf("%-16s %" PRIu64 "%s\n", name, number, unit);
}

static void usage_print(const struct usage *usage)
{
	const uint64_t cpu = usage->value[USAGE_CPU];

	if (cpu == USAGE_UNKNOWN)
		number_print("cpu time", cpu, "");
	else
		printf("%-16s %" PRIu64 ".%03us\n", "cpu time", cpu / 1000000,
		       (unsigned int)(cpu / 1000 % 1000));
	size_print("memory now", usage->value[USAGE_MEMORY]);
	size_print("memory peak", usage->value[USAGE_MEMORY_PEAK]);
	number_print("memory kills", usage->value[USAGE_OOM_KILLS], "");
	number_print("processes now", usage->value[USAGE_PIDS], "");
	number_print("processes peak", usage->value[USAGE_PIDS_PEAK], "");
}

static void session_print(const struct session *session, const struct usage *usage,
			  const struct agent_reply *state)
{
	const struct record *record = &session->record;
	const time_t created = (time_t)record->created_wall;
	char name[SESSION_NAME_SIZE], text[QUANTITY_SIZE], when[40] = "?";
	struct tm local;

	session_name(record->number, name);
	if (localtime_r(&created, &local))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S %z", &local);
	printf("%-16s %s\n", "session", name);
	printf("%-16s %" PRIu32 "\n", "uid", record->uid);
	printf("%-16s %s (%" PRIu32 ")\n", "owner", user_name(record->owner), record->owner);
	printf("%-16s %s%s\n", "state", session_state(session),
	       session->liveness == SESSION_ENDED ? " (lodger collect removes the rest)" : "");
	printf("%-16s %s\n", "created", when);
	printf("%-16s %s\n", "age", duration_format(text, session_age(session)));
	printf("%-16s %s\n", "ttl left", duration_format(text, session_remaining(session)));
	if (state) {
		printf("%-16s %" PRIu32 "\n", "jobs", state->jobs);
		printf("%-16s %s\n", "tied", state->tied ? "yes, it ends with its creator" : "no");
	}
	printf("%-16s %s\n", "network", record->network ? "host" : "none");
	size_print("memory limit", record->limits[LIMIT_MEMORY]);
	number_print("process limit", record->limits[LIMIT_PIDS], "");
	number_print("cpu limit", record->limits[LIMIT_CPU], "%");
	size_print("disk limit", record->limits[LIMIT_DISK]);
	number_print("inode limit", record->limits[LIMIT_INODES], "");
	printf("%-16s %s\n", "ttl", duration_format(text, record->limits[LIMIT_TTL]));
	usage_print(usage);
}

int show_run(const struct options *options, struct failure *failure)
{
	const uint32_t number = session_parse(options->arguments[0], failure);
	struct usage_place place;
	struct session session;
	struct usage usage;
	struct agent_reply state;

	if (number == 0)
		return FAILED;
	usage_place_find(&place, CGROUP_ROOT, LODGER_POLICY);
	const int error = session_read(&session, LODGER_SESSIONS, &place, number);
	if (error) {
		fail(failure, "showing %s: %s", options->arguments[0],
		     error == ENOENT   ? "there is no such session; lodger list shows yours"
		     : error == EPROTO ? "it is just being made, or was never finished; try again"
				       : strerror(error));
		return FAILED;
	}
	session_usage_read(&session, &place, &usage);

	const bool asked = state_ask(&session, &state);
	if (!options->json) {
		session_print(&session, &usage, asked ? &state : NULL);
		return 0;
	}

	// As in list, and what the agent says: null when it was not asked.
	json_t *object = json_session(&session, &usage);
	json_object_set_new(object, "jobs", asked ? json_integer(state.jobs) : json_null());
	json_object_set_new(object, "tied", asked ? json_boolean(state.tied) : json_null());
	return json_print(object, failure) ? 0 : FAILED;
}
