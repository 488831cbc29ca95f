// One client's connection as its worker holds it, and how the worker speaks to both sides.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "budget.h"
#include "client_request.h"
#include "closure.h"
#include "session.h"
#include "wire.h"

// Longest string of the daemon's in a reply; what it says to people is cut there.
#define CONNECTION_TEXT 65536U
// Longest thing that it may say.
#define CONNECTION_SAYING (16U * 1024U * 1024U)
// Most lines of log for one connection.
#define CONNECTION_LINES 20U
// Most paths that one connection has the daemon keep from the garbage collector. It notes each in a
// file, again and again (LocalStore::addTempRoot of gc.cc), which is gone with the connection.
#define CONNECTION_ROOTS 16384U
// Longest sentence of the gate's own.
#define CONNECTION_SENTENCE 2048U

struct limits {
	uint64_t item;	      // bytes of one object
	uint64_t session;     // bytes that a session adds in all
	uint64_t connections; // of one session at once
};

struct connection {
	struct wire client, daemon;
	const struct limits *limits;
	uid_t uid;
	char name[SESSION_NAME_SIZE]; // "lodger-N", or empty
	struct account *account;
	struct request request;
	struct closure closure;
	int store; // descriptor of its directory, or -1
	// Why the client gets no service, for people; NULL: it does.
	const char *turned_away;
	unsigned int lines; // of log
	unsigned int roots;
	bool settings_told;
	bool midway;	     // something of the daemon's has reached the client in part
	uint64_t registered; // when what was last added was registered, seconds
	char text[CONNECTION_TEXT];
};

// To the client. All return false when the connection is over.

// "lodger: …", as an error that ends what it asked for and nothing else.
bool answer_error(struct connection *connection, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
// The same, and a line in the log.
bool answer_refusal(struct connection *connection, const char *operation, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
// The same to a client that sends what cannot be made sense of: the last that it hears. Always false.
bool answer_last(struct connection *connection, const char *operation, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
// A line that the client prints before it has its answer.
bool answer_line(struct connection *connection, const char *line);
// Success, without a result or with the number 1.
bool answer_done(struct connection *connection);
bool answer_one(struct connection *connection);
// What there is to say when the daemon has trouble. Always false.
bool answer_trouble(struct connection *connection);

// Greets both sides (handshake.c). Returns false when it has come to nothing and all is said.
bool handshake(struct connection *connection);

// From the daemon (relay.c).

enum relay {
	RELAY_DONE,
	RELAY_ERROR, // the daemon's answer was an error
	RELAY_LOST,  // either side has trouble
};

// Passes on what the daemon says until it is done. An error of its own goes on to the client, or to
// `error` if that is not NULL; the end goes on to the client if `end` says so.
enum relay relay_sayings(struct connection *connection, bool end, char *error, size_t size);
// Passes on sayings and then a reply of that shape.
enum relay relay_reply(struct connection *connection, const char *shape);

// The operations that are more than passing on. All return false when the connection is over.
bool add_serve(struct connection *connection, const struct operation *operation);
bool build_serve(struct connection *connection, const struct operation *operation);
bool settings_serve(struct connection *connection);

// Serves a connection to its end: greets, then request by request (worker.c). What it needs is in
// `connection`; the daemon's wire has trouble from the start if there is no daemon.
void connection_serve(struct connection *connection);
