// lodger create (command.h): a session that stays. Runs as the caller.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "agent_call.h"
#include "cleanup.h"
#include "command.h"
#include "helper_call.h"
#include "json_output.h"
#include "session_list.h"

// Prints the name: {"session": "lodger-7", "uid": UID, "network": "none|host", "limits": …}
static bool created_print(const struct created *created, const struct options *options,
			  struct failure *failure)
{
	char name[SESSION_NAME_SIZE];

	session_name(created->number, name);
	if (!options->json) {
		printf("%s\n", name);
		return output_check(failure);
	}

	struct session session;
	if (!session_made(&session, created->number, failure))
		return false;

	json_t *object = json_object();
	json_object_set_new(object, "session", json_string(name));
	json_object_set_new(object, "uid", json_integer(session.record.uid));
	json_object_set_new(object, "network",
			    json_string(options->network_host ? "host" : "none"));
	json_object_set_new(object, "limits", json_limits(session.record.limits));
	return json_print(object, failure);
}

static bool session_keep(const struct created *created, bool auto_off, struct failure *failure)
{
	autoclose int connection = agent_connect(created->number, failure);

	return connection >= 0 && agent_keep(connection, auto_off, failure);
}

int create_run(const struct options *options, struct failure *failure)
{
	struct created created;
	struct failure another;
	sigset_t ends, old;
	bool gone;

	if (!helper_create(options->limits, options->network_host, &created, failure))
		return FAILED;

	// Between being kept and being named, a session that nobody knows would be left behind.
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &old);
	const bool good = session_keep(&created, options->auto_off, failure) &&
			  created_print(&created, options, failure);
	close(created.tie);
	if (!good && !helper_destroy(created.number, &gone, &another))
		notice("%s", another.text);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return good ? 0 : FAILED;
}
