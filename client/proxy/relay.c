// Connections of sessions to squid (relay.h). Runs as user lodger-proxy, without privilege. It may not let
// in anybody but sessions, nor one session in the place of the others, nor anybody without the key's line.
#include "relay.h"

#include <arpa/inet.h>
#include <bsd/stdlib.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocol.h"
#include "pump.h"

// Of all sessions, and of one. An agent keeps to a little less (client/agent/proxy.c).
#define CONNECTIONS 2048
#define CONNECTIONS_EACH 48U

static struct {
	struct sockaddr_in squid;
	struct relay_key key;
	uint16_t counts[SESSION_NUMBER_MAX + 1];
} relay;

bool relay_key_parse(const char *text, struct relay_key *key)
{
	char address[INET_ADDRSTRLEN];
	const char *blank = strchr(text, ' '), *problem = NULL;
	const size_t length = blank != NULL ? (size_t)(blank - text) : 0;
	char port[8];

	if (length == 0 || length >= sizeof(address) || strlen(blank + 1) >= sizeof(port))
		return false;
	memcpy(address, text, length);
	address[length] = '\0';
	strcpy(port, blank + 1);
	port[strcspn(port, "\n")] = '\0';
	// strtonum alone would take a sign and spaces.
	if (port[strspn(port, "0123456789")] != '\0')
		return false;
	key->port = (uint16_t)strtonum(port, 1, UINT16_MAX, &problem);
	return problem == NULL && inet_pton(AF_INET, address, &key->address) == 1;
}

int relay_line(char line[RELAY_LINE], const struct relay_key *key, uint32_t number)
{
	char address[INET_ADDRSTRLEN];

	// The client's address is no part of the key: squid asks the DNS for its name.
	inet_ntop(AF_INET, &key->address, address, sizeof(address));
	return snprintf(line, RELAY_LINE, "PROXY TCP4 127.0.0.1 %s %u %u\r\n", address, number,
			key->port);
}

// The session at the other end, or 0.
static uint32_t session_of(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 ||
	    peer.uid <= SESSION_UID_BASE || peer.uid > SESSION_UID_BASE + SESSION_NUMBER_MAX)
		return 0;
	return peer.uid - SESSION_UID_BASE;
}

static bool squid_connect(struct pump_pair *pair)
{
	const uint32_t number = session_of(pair->fds[0]);

	if (number == 0 || relay.counts[number] >= CONNECTIONS_EACH)
		return false;
	pair->fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (pair->fds[1] < 0)
		return false;
	if (connect(pair->fds[1], (const struct sockaddr *)&relay.squid, sizeof(relay.squid)) < 0 &&
	    errno != EINPROGRESS) {
		close(pair->fds[1]);
		return false;
	}
	pair->flows[0].end = (size_t)relay_line((char *)pair->flows[0].data, &relay.key, number);
	pair->owner = number;
	relay.counts[number]++;
	return true;
}

static void squid_close(const struct pump_pair *pair)
{
	relay.counts[pair->owner]--;
}

PUMP(pump, CONNECTIONS, squid_connect, squid_close);

void relay_run(int listener, uint16_t port, const struct relay_key *key)
{
	relay.key = *key;
	relay.squid = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	pump.listener = listener;
	pump_prepare(&pump);
	while (pump_turn(&pump, -1))
		continue;
}
