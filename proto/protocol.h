// Numbers and paths that helper, agent and client agree on. No code.
#pragma once

#include <stdint.h>

// Versions of the two protocols. A side that meets another number refuses and says both.
#define HELPER_PROTOCOL_VERSION 1U
#define AGENT_PROTOCOL_VERSION 1U

// Longest payload of a frame between client and helper. Not above PIPE_BUF less the header, so
// that a reply is one write(2) that never blocks half way (pipe(7)).
#define HELPER_FRAME_MAX 4092U
// Longest packet to and from the agent.
#define AGENT_PACKET_MAX (128U * 1024U)

// Sessions are numbered 1 … SESSION_NUMBER_MAX; lodger-N has uid and gid SESSION_UID_BASE + N.
// Systemd's allocators leave 0x70000000 … 0x7fffffff alone (its UIDS-GIDS document).
#ifndef SESSION_UID_BASE
#define SESSION_UID_BASE 0x70000000U
#endif
#define SESSION_NUMBER_MAX 65535U
// Who the parser child becomes; just below the range, and nobody else's.
#define PARSER_UID (SESSION_UID_BASE - 1U)

#define LODGER_RUN "/run/lodger"
#define LODGER_SESSIONS LODGER_RUN "/sessions"
#define LODGER_POLICY "/etc/lodger/lodger.conf"
// Root's own directory with the daemon's socket directory in it: nobody else gets through, only a
// session, to which the inner directory is mounted at PACKAGES_TARGET.
#define LODGER_PACKAGES LODGER_RUN "/packages/daemon-socket"
#define PACKAGES_TARGET "/nix/var/nix/daemon-socket"
// In that directory, where the host has a proxy for its sessions: the socket that leads to it. The
// agent listens for the session on its loopback, at the port that such proxies usually have.
#define PROXY_SOCKET "proxy"
#define PROXY_PORT 3128
// A link to the channel's store path.
#define LODGER_CHANNEL "/var/lib/lodger/channel"

// What a session looks programs up in. The client puts the channel's CHANNEL_COMMANDS behind it.
#define SESSION_PATH "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
#define CHANNEL_COMMANDS "/commands"
// With the value 0, lodger-packages names the packages that have a program instead of running it.
#define AUTO_VARIABLE "LODGER_AUTO"

// Descriptors that lodger-agent is started with.
enum {
	AGENT_FD_TIE =
		0, // read end of the creating client's request pipe: end of file ends the session
	AGENT_FD_LISTEN = 3, // the listening SOCK_SEQPACKET socket
	AGENT_FD_LOCK = 4,   // the session's lock: held while the agent lives
};

// How the helper ends when it cannot answer, because what it was given as descriptor 1 is not a
// pipe, or nobody reads it.
enum {
	HELPER_EXIT_REPLIED = 0,     // a Reply was written, whatever it says
	HELPER_EXIT_ARGUMENTS = 3,   // argv is not exactly {"lodger-helper"}
	HELPER_EXIT_DESCRIPTORS = 4, // descriptors 0 and 1 are not pipes, or 2 is closed
	HELPER_EXIT_UNHEARD = 5,     // the Reply could not be written
};
