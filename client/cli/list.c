// lodger list (command.h). Runs as the caller, from what everybody may read.
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "command.h"
#include "json_output.h"
#include "quantity.h"
#include "session_list.h"

// "3/128"; "?" for what is not known.
static char *figure(char text[2 * QUANTITY_SIZE], uint64_t used, uint64_t limit, bool bytes)
{
	char left[QUANTITY_SIZE] = "?", right[QUANTITY_SIZE];

	if (bytes) {
		if (used != USAGE_UNKNOWN)
			size_format(left, used);
		size_format(right, limit);
	} else {
		if (used != USAGE_UNKNOWN)
			snprintf(left, sizeof(left), "%" PRIu64, used);
		snprintf(right, sizeof(right), "%" PRIu64, limit);
	}
	snprintf(text, 2 * QUANTITY_SIZE, "%s/%s", left, right);
	return text;
}

static void row_print(const struct session *session, const struct usage *usage)
{
	const struct record *record = &session->record;
	char name[SESSION_NAME_SIZE], age[QUANTITY_SIZE], left[QUANTITY_SIZE];
	char memory[2 * QUANTITY_SIZE], pids[2 * QUANTITY_SIZE];

	session_name(record->number, name);
	printf("%-12s  %-14s  %10" PRIu32 "  %-7s  %7s  %8s  %12s  %9s\n", name,
	       user_name(record->owner), record->uid, session_state(session),
	       duration_format(age, session_age(session)),
	       duration_format(left, session_remaining(session)),
	       figure(memory, usage->value[USAGE_MEMORY], record->limits[LIMIT_MEMORY], true),
	       figure(pids, usage->value[USAGE_PIDS], record->limits[LIMIT_PIDS], false));
}

int list_run(const struct options *options, struct failure *failure)
{
	struct usage_place place;
	struct session_list list;
	json_t *array = options->json ? json_array() : NULL;
	unsigned int ended = 0;

	usage_place_find(&place, CGROUP_ROOT, LODGER_POLICY);
	if (!session_list_read(&list, LODGER_SESSIONS, &place, failure))
		return FAILED;
	if (!options->json)
		printf("%-12s  %-14s  %10s  %-7s  %7s  %8s  %12s  %9s\n", "SESSION", "OWNER", "UID",
		       "STATE", "AGE", "TTL-LEFT", "MEMORY", "PIDS");
	for (size_t i = 0; i < list.count; i++) {
		struct usage usage;

		if (!options->all && list.sessions[i].record.owner != getuid())
			continue;
		ended += list.sessions[i].liveness == SESSION_ENDED;
		session_usage_read(&list.sessions[i], &place, &usage);
		if (options->json)
			json_array_append_new(array, json_session(&list.sessions[i], &usage));
		else
			row_print(&list.sessions[i], &usage);
	}
	session_list_free(&list);
	if (options->json)
		return json_print(array, failure) ? 0 : FAILED;
	if (!output_check(failure))
		return FAILED;
	if (ended > 0)
		notice("%u of them ended by themselves; lodger collect removes what is left of them",
		       ended);
	return 0;
}
