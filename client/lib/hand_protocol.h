// What lodger-assistant and its hand in a session (lodger-talk) say to each other over two pipes, and
// the hand with assistant_listen and assistant_tell over a socket. One machine: native byte order.
#pragma once

#include <stdint.h>

// Frames over the pipes: this, then `length` bytes.
struct hand_header {
	uint32_t type;
	uint32_t id; // of a connection to the hand's socket, where there is one
	uint32_t length;
};

// Longest command, and longest message or line of the conversation.
#define HAND_COMMAND_MAX (1024U * 1024U)
#define HAND_MESSAGE_MAX (64U * 1024U)

// To the hand.
#define HAND_COMMAND 'C' // text for the shell: becomes HAND_COMMAND_FILE
#define HAND_PROBE 'P'	 // the shell's process id in the payload, as text
#define HAND_LINE 'L'	 // the person's line, for a listener
#define HAND_END 'E'	 // there will be no more lines: a sentence that says why
#define HAND_TOLD 'T'	 // a message has been taken

// From it.
#define HAND_WRITTEN 'w' // empty, or what went wrong
#define HAND_PROBED 'p'	 // one of enum hand_probe, as a byte
#define HAND_LISTEN 'l'
#define HAND_CANCELLED 'x' // the listener is gone; its line has not reached it
#define HAND_DELIVERED 'd' // its line has
#define HAND_GONE 'g'	   // never sent: the hand has ended, and all that was open with it
#define HAND_TELL 't'	   // a message

enum hand_probe {
	PROBE_BUSY,    // something works in the foreground, or cannot be looked at
	PROBE_WAITING, // something in the foreground reads the terminal
	PROBE_SHELL,   // that is the shell itself, and it reads its next command
};

// In the session. In /tmp, so that an error message about it is the same in every session.
#define HAND_COMMAND_FILE "/tmp/.command"
// Below the lodger's home.
#define HAND_DIRECTORY ".assistant"
#define HAND_SOCKET "talk"
// With a number behind it: what NIX_BUILD_SHELL names, a link to Lodger's own.
#define HAND_NIX_SHELL "nix-shell-"
