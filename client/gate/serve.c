// A connection from greeting to end (connection.h): request by request, each read whole, judged, and
// answered before the next. Runs in workers.
#include "connection.h"

static bool pass(struct connection *connection, const struct operation *operation)
{
	if (connection->request.problem != NULL)
		return answer_refusal(connection, operation->name, "%s is refused: %s: '%s'",
				      operation->name, connection->request.problem,
				      connection->request.quoted);
	if (operation->number == OPERATION_ADD_TEMP_ROOT && ++connection->roots > CONNECTION_ROOTS)
		return answer_refusal(connection, operation->name,
				      "keeping more than %u paths for one connection is refused",
				      CONNECTION_ROOTS);
	if (!request_write(&connection->request, operation, &connection->daemon) ||
	    relay_reply(connection, operation->reply) == RELAY_LOST)
		return answer_trouble(connection);
	return true;
}

static bool decide(struct connection *connection, const struct operation *operation)
{
	switch (operation->policy) {
	case POLICY_PASS:
		return pass(connection, operation);
	case POLICY_ADD:
		return add_serve(connection, operation);
	case POLICY_BUILD:
		return build_serve(connection, operation);
	case POLICY_SETTINGS:
		return settings_serve(connection);
	case POLICY_PRETEND:
		return answer_one(connection);
	case POLICY_REFUSE:
		break;
	}
	return answer_refusal(connection, operation->name, "%s is refused: %s", operation->asked,
			      operation->why) &&
	       request_drain(&connection->request, &connection->client);
}

static bool serve_one(struct connection *connection, uint64_t number)
{
	const struct operation *operation = operation_find(number);

	// How long its request is, nobody knows.
	if (operation == NULL)
		return answer_last(connection, "operation",
				   "operation %llu is refused: it is none that Nix 2.8 or 2.26 has",
				   (unsigned long long)number);
	switch (request_read(&connection->request, &connection->client, operation)) {
	case REQUEST_READ:
		return decide(connection, operation);
	case REQUEST_UNREADABLE:
		return answer_last(connection, operation->name, "%s is refused: %s",
				   operation->name, connection->request.problem);
	default:
		return false;
	}
}

void connection_serve(struct connection *connection)
{
	uint64_t number;

	if (!handshake(connection))
		return;
	while (wire_read_number(&connection->client, &number)) {
		if (!serve_one(connection, number))
			return;
	}
}
