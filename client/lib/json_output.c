// JSON (json_output.h). Runs as the caller.
#include "json_output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// As the options are called.
static const char *const limit_names[LIMIT_COUNT] = {
	[LIMIT_MEMORY] = "memory", [LIMIT_PIDS] = "pids",     [LIMIT_CPU] = "cpu",
	[LIMIT_DISK] = "disk",	   [LIMIT_INODES] = "inodes", [LIMIT_TTL] = "ttl",
};

static json_t *number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *json_limits(const uint64_t limits[LIMIT_COUNT])
{
	json_t *object = json_object();

	for (int i = 0; i < LIMIT_COUNT; i++)
		json_object_set_new(object, limit_names[i], number(limits[i]));
	return object;
}

json_t *json_usage(const struct usage *usage)
{
	json_t *object = json_object();

	for (int i = 0; i < USAGE_COUNT; i++)
		json_object_set_new(object, usage_names[i],
				    usage->value[i] == USAGE_UNKNOWN ? json_null()
								     : number(usage->value[i]));
	return object;
}

json_t *json_session(const struct session *session, const struct usage *usage)
{
	const struct record *record = &session->record;
	json_t *object = json_object();
	char name[SESSION_NAME_SIZE];

	session_name(record->number, name);
	json_object_set_new(object, "session", json_string(name));
	json_object_set_new(object, "uid", number(record->uid));
	json_object_set_new(object, "owner", json_string(user_name(record->owner)));
	json_object_set_new(object, "owner_uid", number(record->owner));
	json_object_set_new(object, "state", json_string(session_state(session)));
	json_object_set_new(object, "created", number(record->created_wall));
	json_object_set_new(object, "age", number(session_age(session)));
	json_object_set_new(object, "remaining", number(session_remaining(session)));
	json_object_set_new(object, "network", json_string(record->network ? "host" : "none"));
	json_object_set_new(object, "limits", json_limits(record->limits));
	json_object_set_new(object, "usage", json_usage(usage));
	return object;
}

bool json_print(json_t *value, struct failure *failure)
{
	const bool good = value && json_dumpf(value, stdout, JSON_INDENT(2)) == 0;

	json_decref(value);
	if (good && putchar('\n') != EOF)
		return output_check(failure);
	return fail(failure, "writing to standard output: %s", strerror(errno));
}

bool output_check(struct failure *failure)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	return fail(failure, "writing to standard output: %s", strerror(errno));
}
