// The greeting of both sides (connection.h), at 1.34. Runs in workers.
//
// A client of 2.8 sends the greeting and waits; one of 2.26 sends its version along. Either takes the
// lower of both versions, keeps to it, and sends two numbers of old: whether a CPU is to be kept to,
// and whether space is to be reserved. It gets the daemon's version as text, and from then on sayings
// (initConnection of remote-store.cc, processConnection of daemon.cc). Features come with 1.38, and
// whether the daemon trusts the client with 1.35: not here.
#include <stdio.h>
#include <string.h>

#include "connection.h"
#include "protocol_numbers.h"

#define SPOKEN_MINOR 34U
// From these versions on there is more to the greeting.
#define MINOR_SPACE 11U
#define MINOR_CPU 14U
#define MINOR_ERRORS 26U
#define MINOR_TEXT 33U

static const char version_text[] = LODGER_VERSION " (lodger-gate)";

// Reads the client's greeting to its end. Returns false when it is none.
static bool client_greet(struct wire *client, uint64_t *version)
{
	uint64_t number;

	if (!wire_read_number(client, &number) || number != GREETING_CLIENT ||
	    !wire_write_number(client, GREETING_DAEMON) ||
	    !wire_write_number(client, VERSION_SPOKEN) || !wire_flush(client) ||
	    !wire_read_number(client, version))
		return false;

	const uint64_t minor = *version & 0xff;
	if (minor >= MINOR_CPU && (!wire_read_number(client, &number) ||
				   (number != 0 && !wire_read_number(client, &number))))
		return false;
	if (minor >= MINOR_SPACE && !wire_read_number(client, &number))
		return false;
	return minor < MINOR_TEXT ||
	       wire_write_string(client, version_text, sizeof(version_text) - 1);
}

// For a client that knows errors only as a text and a number, too.
static bool client_too_old(struct connection *connection, uint64_t version)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "this nix speaks version %u.%u of the daemon's protocol, and sessions need 1.34: "
		 "Nix 2.8 or later",
		 (unsigned int)(version >> 8 & 0xff), (unsigned int)(version & 0xff));
	if ((version & 0xff) >= MINOR_ERRORS)
		return answer_last(connection, "connection", "%s", text);
	wire_write_number(&connection->client, SAYING_ERROR);
	wire_write_string(&connection->client, text, strlen(text));
	wire_write_number(&connection->client, 1);
	if (wire_flush(&connection->client))
		socket_farewell(&connection->client);
	return false;
}

static bool daemon_greet(struct wire *daemon)
{
	char text[128];
	uint64_t number, version;
	size_t size;

	if (!wire_write_number(daemon, GREETING_CLIENT) || !wire_flush(daemon) ||
	    !wire_read_number(daemon, &number))
		return false;
	if (number != GREETING_DAEMON)
		return wire_fail(daemon, "is no nix-daemon");
	if (!wire_read_number(daemon, &version))
		return false;
	if (VERSION_MAJOR(version) != VERSION_MAJOR(VERSION_SPOKEN) ||
	    (version & 0xff) < SPOKEN_MINOR)
		return wire_fail(daemon, "is too old: Nix 2.8 or later is needed");
	return wire_write_number(daemon, VERSION_SPOKEN) && wire_write_number(daemon, 0) &&
	       wire_write_number(daemon, 0) && wire_flush(daemon) &&
	       wire_read_text(daemon, text, sizeof(text), CONNECTION_TEXT, &size);
}

bool handshake(struct connection *connection)
{
	uint64_t version;

	if (!client_greet(&connection->client, &version))
		return false;
	if (VERSION_MAJOR(version) != VERSION_MAJOR(VERSION_SPOKEN) ||
	    (version & 0xff) < SPOKEN_MINOR)
		return client_too_old(connection, version);
	if (connection->turned_away != NULL)
		return answer_last(connection, "connection", "%s", connection->turned_away);
	if (!daemon_greet(&connection->daemon))
		return answer_trouble(connection);

	// The daemon may have an error of its own instead: it does not serve everybody.
	const enum relay result = relay_sayings(connection, true, NULL, 0);
	if (result == RELAY_LOST)
		return answer_trouble(connection);
	return wire_flush(&connection->client) && result == RELAY_DONE;
}
