// The parts of lodger-talk.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "hand_protocol.h"

// Fills in where the hand's socket is: below the home of the lodger whose uid this is, wherever HOME
// leads. False: this is no session.
bool socket_place(struct sockaddr_un *place);

// Each is a whole program: arguments behind its own name, and the exit code.
int listen_main(void);
int tell_main(char *words[]);
int hand_main(const char *nonce);

// Whether something in the foreground of the terminal of process `shell` reads it.
enum hand_probe probe(int shell);

// As read(2) and write(2), but all of it. False: it failed, or the end came.
bool full_read(int fd, void *data, size_t size);
bool full_write(int fd, const void *data, size_t size);
