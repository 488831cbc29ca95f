// Identifiers by SHA-256 (export_identity.h). Pure; runs as the caller.
#include "export_identity.h"

#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void identity_begin(struct identity *identity, const char *what)
{
	SHA256Init(&identity->state);
	identity_add(identity, what, strlen(what));
}

void identity_add(struct identity *identity, const void *data, size_t size)
{
	const uint64_t length = htole64(size);

	SHA256Update(&identity->state, (const uint8_t *)&length, sizeof(length));
	SHA256Update(&identity->state, data, size);
}

void identity_add_text(struct identity *identity, const struct text *text)
{
	identity_add(identity, text_get(text), text->size);
}

static void digest(const struct identity *identity, uint8_t bytes[SHA256_DIGEST_LENGTH])
{
	struct identity copy = *identity;

	SHA256Final(bytes, &copy.state);
}

void identity_uuid(const struct identity *identity, char uuid[UUID_SIZE])
{
	uint8_t b[SHA256_DIGEST_LENGTH];

	digest(identity, b);
	b[6] = (uint8_t)(0x80 | (b[6] & 0x0f)); // version 8
	b[8] = (uint8_t)(0x80 | (b[8] & 0x3f)); // variant
	snprintf(uuid, UUID_SIZE,
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
		 b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
		 b[15]);
}

void identity_call(const struct identity *identity, char id[CALL_ID_SIZE])
{
	uint8_t b[SHA256_DIGEST_LENGTH];
	int used = snprintf(id, CALL_ID_SIZE, "call_");

	digest(identity, b);
	for (size_t i = 0; i < 12; i++)
		used += snprintf(id + used, CALL_ID_SIZE - (size_t)used, "%02x", b[i]);
}
