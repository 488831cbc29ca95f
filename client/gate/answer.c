// What the gate itself tells clients (connection.h), in the frames in which the daemon would. Runs in
// workers.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "connection.h"
#include "log.h"
#include "protocol_numbers.h"

// An error has a kind, a level, a name, a text, no position and no trace (readError of serialise.cc).
static bool error_write(struct wire *client, const char *text)
{
	return wire_write_number(client, SAYING_ERROR) && wire_write_string(client, "Error", 5) &&
	       wire_write_number(client, 0) && wire_write_string(client, "Error", 5) &&
	       wire_write_string(client, text, strlen(text)) && wire_write_number(client, 0) &&
	       wire_write_number(client, 0) && wire_flush(client);
}

static bool error_say(struct connection *connection, const char *format, va_list arguments)
{
	char text[CONNECTION_SENTENCE] = "lodger: ";
	const size_t start = strlen(text);

	vsnprintf(text + start, sizeof(text) - start, format, arguments);
	return error_write(&connection->client, text);
}

static void refusal_log(struct connection *connection, const char *operation, const char *format,
			va_list arguments)
{
	char text[400];
	struct timespec now;

	if (connection->lines >= CONNECTION_LINES)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!budget_line(connection->account, (uint64_t)now.tv_sec))
		return;
	connection->lines++;
	vsnprintf(text, sizeof(text), format, arguments);
	log_line(LOG_REFUSAL, "uid %u %s%srefused %s: %s%s", connection->uid, connection->name,
		 connection->name[0] != '\0' ? " " : "", operation, text,
		 connection->lines == CONNECTION_LINES ? " (no more lines for this connection)"
						       : "");
}

bool answer_error(struct connection *connection, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	const bool open = error_say(connection, format, arguments);
	va_end(arguments);
	return open;
}

// Tells the log and the client.
static bool refusal_say(struct connection *connection, const char *operation, const char *format,
			va_list arguments)
{
	va_list again;

	va_copy(again, arguments);
	refusal_log(connection, operation, format, again);
	va_end(again);
	return error_say(connection, format, arguments);
}

bool answer_refusal(struct connection *connection, const char *operation, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	const bool open = refusal_say(connection, operation, format, arguments);
	va_end(arguments);
	return open;
}

bool answer_last(struct connection *connection, const char *operation, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (refusal_say(connection, operation, format, arguments))
		socket_farewell(&connection->client);
	va_end(arguments);
	return false;
}

bool answer_line(struct connection *connection, const char *line)
{
	return wire_write_number(&connection->client, SAYING_LINE) &&
	       wire_write_string(&connection->client, line, strlen(line));
}

bool answer_done(struct connection *connection)
{
	return wire_write_number(&connection->client, SAYING_LAST) &&
	       wire_flush(&connection->client);
}

bool answer_one(struct connection *connection)
{
	return wire_write_number(&connection->client, SAYING_LAST) &&
	       wire_write_number(&connection->client, 1) && wire_flush(&connection->client);
}

bool answer_trouble(struct connection *connection)
{
	const char *trouble = connection->daemon.trouble;

	if (trouble == NULL || connection->daemon.deserted || connection->client.trouble != NULL)
		return false;
	log_line(LOG_PROBLEM, "uid %u %s: the package daemon %s", connection->uid, connection->name,
		 trouble);
	if (connection->midway)
		return false;
	if (answer_error(connection,
			 "the package daemon %s; if that happens again, its administrator can see "
			 "why: systemctl status lodger-nix-daemon",
			 trouble))
		socket_farewell(&connection->client);
	return false;
}
