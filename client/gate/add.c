// Content for the store (connection.h). Runs in workers.
//
// What a session adds outlives it until the next garbage collection, so it is limited: each object,
// and all that one session adds. An object is read whole first, so that nothing half sent ever
// reaches the daemon.
#include <time.h>

#include "connection.h"
#include "quantity.h"

// Where they stand in the shape of AddToStore.
enum { PART_NAME = 0, PART_REPAIR = 3 };

static const char name_of_it[] = "AddToStore";

// Reads the rest of what has been refused. The client hears of the refusal while it still sends, and
// then sends no more.
static bool drain(struct connection *connection)
{
	return request_drain(&connection->request, &connection->client);
}

static bool refuse_too_large(struct connection *connection)
{
	char most[QUANTITY_SIZE];

	size_format(most, connection->limits->item);
	return answer_refusal(connection, name_of_it,
			      "adding to the store is refused: it is larger than the %s that a "
			      "session may add at once; keep large files in the session's home",
			      most) &&
	       drain(connection);
}

static bool refuse_full(struct connection *connection, uint64_t size)
{
	char wanted[QUANTITY_SIZE], most[QUANTITY_SIZE], used[QUANTITY_SIZE];

	size_format(wanted, size);
	size_format(most, connection->limits->session);
	size_format(used, atomic_load(&connection->account->added));
	return answer_refusal(connection, name_of_it,
			      "adding %s to the store is refused: a session may add %s in all, and "
			      "this one has added %s; a new session starts at nothing",
			      wanted, most, used);
}

// Nix evaluates the same things again and again, and adds each derivation each time. What was there
// before, as the time tells at which it was registered, has cost nothing.
static bool serve(struct connection *connection, const struct operation *operation, uint64_t size)
{
	const time_t before = time(NULL);

	connection->registered = UINT64_MAX;
	if (!request_write(&connection->request, operation, &connection->daemon))
		return answer_trouble(connection);
	switch (relay_reply(connection, operation->reply)) {
	case RELAY_DONE:
		if (connection->registered < (uint64_t)before)
			budget_return(connection->account, size);
		return true;
	case RELAY_ERROR:
		return true;
	default:
		return answer_trouble(connection);
	}
}

bool add_serve(struct connection *connection, const struct operation *operation)
{
	struct request *request = &connection->request;
	struct cursor name = request_part(request, PART_NAME);
	struct cursor repair = request_part(request, PART_REPAIR);

	if (request->problem != NULL)
		return answer_refusal(connection, name_of_it,
				      "adding to the store is refused: %s: '%s'", request->problem,
				      request->quoted) &&
		       drain(connection);
	if (cursor_number(&repair) != 0)
		return answer_refusal(connection, name_of_it,
				      "repairing the store is refused: the store is everybody's, "
				      "and the administrator looks after it") &&
		       drain(connection);
	switch (request_frames(request, &connection->client)) {
	case FRAMES_READ:
		break;
	case FRAMES_TOO_LARGE:
		return refuse_too_large(connection);
	default:
		return false;
	}

	const uint64_t size = request->content + cursor_string(&name).size + BUDGET_OBJECT;
	if (!budget_take(connection->account, size, connection->limits->session))
		return refuse_full(connection, size);
	return serve(connection, operation, size);
}
