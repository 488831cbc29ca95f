// Connections of sessions to squid.
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

// What shows squid that a connection comes from here: the address and port that the connection is said
// to have been made to. 48 random bits.
struct relay_key {
	struct in_addr address;
	uint16_t port;
};

// Reads "ADDRESS PORT\n". Returns false when it is anything else.
bool relay_key_parse(const char *text, struct relay_key *key);

// The line by which squid learns of a connection of session `number`: haproxy's PROXY protocol,
// version 1. The session's number is where the client's port would be. Returns its length.
#define RELAY_LINE 108 // longest, by the protocol, and its NUL
int relay_line(char line[RELAY_LINE], const struct relay_key *key, uint32_t number);

// Serves `listener` until it cannot: hands what sessions send to 127.0.0.1, `port`.
void relay_run(int listener, uint16_t port, const struct relay_key *key);
