// What the daemon says and answers, on its way to the client (connection.h). Runs in workers. The
// daemon is trusted, but may be another version than is thought: everything has its shape and bounds.
#include <string.h>

#include "connection.h"
#include "protocol_numbers.h"

// Most fields of an activity, and most traces of an error.
#define FIELDS 64U
#define TRACES 1024U
// Most entries of a list in a reply.
#define ENTRIES (1U << 20)

static bool number_pass(struct connection *connection, uint64_t *number)
{
	return wire_read_number(&connection->daemon, number) &&
	       wire_write_number(&connection->client, *number);
}

// A string that must arrive as it is.
static bool string_pass(struct connection *connection)
{
	size_t size;

	return wire_read_string(&connection->daemon, connection->text, sizeof(connection->text),
				&size) &&
	       wire_write_string(&connection->client, connection->text, size);
}

static bool text_read(struct connection *connection, size_t *size)
{
	return wire_read_text(&connection->daemon, connection->text, sizeof(connection->text),
			      CONNECTION_SAYING, size);
}

// A string for people.
static bool text_pass(struct connection *connection)
{
	size_t size;

	return text_read(connection, &size) &&
	       wire_write_string(&connection->client, connection->text, size);
}

static bool fields_pass(struct connection *connection)
{
	uint64_t count, kind, number;

	if (!number_pass(connection, &count))
		return false;
	if (count > FIELDS)
		return wire_fail(&connection->daemon, "says too much of what it does");
	for (; count > 0; count--) {
		if (!number_pass(connection, &kind))
			return false;
		if (kind == FIELD_NUMBER   ? !number_pass(connection, &number)
		    : kind == FIELD_STRING ? !text_pass(connection)
					   : !wire_fail(&connection->daemon,
							"does not speak the protocol (field)"))
			return false;
	}
	return true;
}

// A line, or what it says of its work. Passed on at once, for people to see.
static bool saying_pass(struct connection *connection, uint64_t saying)
{
	uint64_t number;

	if (saying == SAYING_READ || saying == SAYING_WRITE)
		return wire_fail(&connection->daemon, "wants bytes where none are due");
	if (saying != SAYING_LINE && saying != SAYING_START && saying != SAYING_STOP &&
	    saying != SAYING_PROGRESS)
		return wire_fail(&connection->daemon, "does not speak the protocol (saying)");
	if (!wire_write_number(&connection->client, saying))
		return false;
	if (saying == SAYING_LINE)
		return text_pass(connection) && wire_flush(&connection->client);
	// Each begins with the activity's number. A start: level, kind, text, fields, parent. Progress:
	// kind, fields.
	if (!number_pass(connection, &number))
		return false;
	if (saying == SAYING_START &&
	    !(number_pass(connection, &number) && number_pass(connection, &number) &&
	      text_pass(connection) && fields_pass(connection) && number_pass(connection, &number)))
		return false;
	if (saying == SAYING_PROGRESS &&
	    !(number_pass(connection, &number) && fields_pass(connection)))
		return false;
	return wire_flush(&connection->client);
}

// The daemon's error, as in answer.c; with traces of where in an expression it came up, each a
// position, which is 0, and a text.
static bool error_pass(struct connection *connection)
{
	uint64_t number, traces;

	if (!wire_write_number(&connection->client, SAYING_ERROR) || !text_pass(connection) ||
	    !number_pass(connection, &number) || !text_pass(connection) || !text_pass(connection) ||
	    !number_pass(connection, &number) || !number_pass(connection, &traces))
		return false;
	if (traces > TRACES)
		return wire_fail(&connection->daemon, "has an error of too many traces");
	for (; traces > 0; traces--) {
		if (!number_pass(connection, &number) || !text_pass(connection))
			return false;
	}
	return wire_flush(&connection->client);
}

// Copies what the daemon says without the colours in it: ESC [ … m.
static void plain_copy(char *to, size_t room, struct view text)
{
	size_t used = 0;

	for (size_t i = 0; i < text.size && used + 1 < room; i++) {
		if (text.text[i] != '\x1b') {
			to[used++] = text.text[i];
			continue;
		}
		while (i < text.size && text.text[i] != 'm')
			i++;
	}
	to[used] = '\0';
}

// Reads the error, and keeps its text.
static bool error_keep(struct connection *connection, char *error, size_t room)
{
	struct wire *daemon = &connection->daemon;
	uint64_t number, traces;
	size_t size;

	if (!text_read(connection, &size) || !wire_read_number(daemon, &number) ||
	    !text_read(connection, &size) || !text_read(connection, &size))
		return false;
	plain_copy(error, room, (struct view){ connection->text, size });
	if (!wire_read_number(daemon, &number) || !wire_read_number(daemon, &traces))
		return false;
	if (traces > TRACES)
		return wire_fail(daemon, "has an error of too many traces");
	for (; traces > 0; traces--) {
		if (!wire_read_number(daemon, &number) || !text_read(connection, &size))
			return false;
	}
	return true;
}

enum relay relay_sayings(struct connection *connection, bool end, char *error, size_t size)
{
	uint64_t saying;

	while (wire_read_number(&connection->daemon, &saying)) {
		if (saying == SAYING_LAST) {
			if (end && !wire_write_number(&connection->client, SAYING_LAST))
				return RELAY_LOST;
			return RELAY_DONE;
		}
		if (saying == SAYING_ERROR) {
			connection->midway = error == NULL;
			const bool whole = error != NULL ? error_keep(connection, error, size)
							 : error_pass(connection);
			connection->midway &= !whole;
			return whole ? RELAY_ERROR : RELAY_LOST;
		}
		connection->midway = true;
		if (!saying_pass(connection, saying))
			return RELAY_LOST;
		connection->midway = false;
	}
	return RELAY_LOST;
}

// Passes on one part of a reply. Returns how the shape goes on: behind the part; NULL when there is
// trouble; at its end when a `?` says that there is no more.
static const char *part_pass(struct connection *connection, const char *shape)
{
	uint64_t number, count;

	switch (*shape) {
	case 'n':
	case 'r':
		if (!number_pass(connection, &number))
			return NULL;
		if (*shape == 'r')
			connection->registered = number;
		return shape + 1;
	case '?':
		if (!number_pass(connection, &number))
			return NULL;
		return number != 0 ? shape + 1 : shape + strlen(shape);
	case 's':
		return string_pass(connection) ? shape + 1 : NULL;
	default: // 'l'
		if (!number_pass(connection, &count))
			return NULL;
		if (count > ENTRIES)
			wire_fail(&connection->daemon, "has sent a list that is too long");
		for (; connection->daemon.trouble == NULL && count > 0; count--) {
			if (!string_pass(connection))
				return NULL;
		}
		return connection->daemon.trouble == NULL ? shape + 1 : NULL;
	}
}

// Where the group ends that begins behind `shape`: at its own bracket.
static const char *group_end(const char *shape)
{
	for (unsigned int depth = 1;; shape++) {
		if (*shape == '[')
			depth++;
		else if (*shape == ']' && --depth == 0)
			return shape;
	}
}

// Passes on what the shape says, up to `end`. Groups are nested twice at most (operations.c).
static bool shape_pass(struct connection *connection, const char *shape, const char *end)
{
	uint64_t count;

	while (shape != NULL && shape < end) {
		if (*shape != '[') {
			shape = part_pass(connection, shape);
			continue;
		}
		const char *close = group_end(shape + 1);

		if (!number_pass(connection, &count))
			return false;
		if (count > ENTRIES)
			return wire_fail(&connection->daemon, "has sent a list that is too long");
		for (; count > 0; count--) {
			if (!shape_pass(connection, shape + 1, close))
				return false;
		}
		shape = close + 1;
	}
	return shape != NULL;
}

enum relay relay_reply(struct connection *connection, const char *shape)
{
	const enum relay result = relay_sayings(connection, true, NULL, 0);

	if (result != RELAY_DONE)
		return result;
	connection->midway = true;
	if (!shape_pass(connection, shape, shape + strlen(shape)) ||
	    !wire_flush(&connection->client))
		return RELAY_LOST;
	connection->midway = false;
	return RELAY_DONE;
}
