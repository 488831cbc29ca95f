// Identifiers that are made of what they stand for: the same conversation has the same in every
// export. Pure.
#pragma once

#include <stddef.h>
#include <sys/types.h>
// After types.h, which it needs.
#include <sha2.h>

#include "export_text.h"

#define UUID_SIZE 37
#define CALL_ID_SIZE 30

// SHA-256 of what was added until now.
struct identity {
	SHA2_CTX state;
};

void identity_begin(struct identity *identity, const char *what);
// Adds a part, with its size, so that two parts are never the same as one.
void identity_add(struct identity *identity, const void *data, size_t size);
void identity_add_text(struct identity *identity, const struct text *text);

// As a UUID of version 8 (RFC 9562), and as "call_" and 24 digits. More can be added afterwards.
void identity_uuid(const struct identity *identity, char uuid[UUID_SIZE]);
void identity_call(const struct identity *identity, char id[CALL_ID_SIZE]);
