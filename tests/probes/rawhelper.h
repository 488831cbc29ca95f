// The helper's messages by hand, for rawhelper and tests/fault: what no library would encode can be encoded here.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "varint.h"

struct message {
	uint64_t version; // 0: the field is left out
	uint8_t body[65000];
	size_t size;
	uint8_t after[4096];
	size_t after_size;
	bool length_given, cut_given;
	uint32_t length;
	size_t cut;
};

static size_t put_hex(uint8_t *to, const char *text)
{
	size_t size = 0;
	unsigned int byte;

	for (; sscanf(text, "%2x", &byte) == 1; text += 2)
		to[size++] = (uint8_t)byte;
	return size;
}

// A field of wire type 2 that holds `size` bytes.
static size_t put_bytes(uint8_t *to, unsigned int field, const uint8_t *bytes, size_t size)
{
	size_t at = put_varint(to, field << 3 | 2);

	at += put_varint(to + at, size);
	memcpy(to + at, bytes, size);
	return at + size;
}

// "memory=N,pids=N,network=N" as a Create message. Numbers may be up to 2^64-1.
static size_t put_create(uint8_t *to, char *text)
{
	static const char *const names[] = { "memory", "pids", "cpu", "disk", "inodes", "ttl" };
	uint8_t limits[256];
	size_t limits_size = 0, size = 0;

	for (char *word = text ? strtok(text, ",") : NULL; word; word = strtok(NULL, ",")) {
		uint64_t value = strtoull(strchr(word, '=') + 1, NULL, 10);

		for (unsigned int i = 0; i < 6; i++)
			if (strncmp(word, names[i], strlen(names[i])) == 0) {
				limits_size += put_varint(limits + limits_size, (i + 1) << 3);
				limits_size += put_varint(limits + limits_size, value);
			}
		if (strncmp(word, "network", 7) == 0) {
			size += put_varint(to + size, 2 << 3);
			size += put_varint(to + size, value);
		}
	}
	if (limits_size > 0)
		size += put_bytes(to + size, 1, limits, limits_size);
	return size;
}

static void message_option(struct message *message, int option, char *value)
{
	uint8_t inner[512];
	size_t size = 0;

	switch (option) {
	case 'c':
		size = put_create(inner, value);
		message->size += put_bytes(message->body + message->size, 2, inner, size);
		break;
	case 'd':
		size = put_varint(inner, 1 << 3);
		size += put_varint(inner + size, strtoull(value, NULL, 10));
		message->size += put_bytes(message->body + message->size, 3, inner, size);
		break;
	case 'o':
		message->size += put_bytes(message->body + message->size, 4, inner, 0);
		break;
	case 'x':
		// The payload and nothing else.
		message->version = 0;
		message->size += put_hex(message->body + message->size, value);
		break;
	case 's':
		message->size += put_hex(message->body + message->size, value);
		break;
	case 'v':
		message->version = strtoull(value, NULL, 10);
		break;
	case 'a':
		message->after_size = put_hex(message->after, value);
		break;
	case 'l':
		message->length_given = true;
		message->length = (uint32_t)strtoul(value, NULL, 10);
		break;
	case 'k':
		message->cut_given = true;
		message->cut = strtoul(value, NULL, 10);
		break;
	}
}

// The whole frame, version first. Returns its size.
static size_t message_frame(const struct message *message, uint8_t *frame, size_t room)
{
	size_t at = 4;

	if (message->version > 0) {
		at += put_varint(frame + at, 1 << 3);
		at += put_varint(frame + at, message->version);
	}
	memcpy(frame + at, message->body, message->size);
	at += message->size;
	uint32_t length = message->length_given ? message->length : (uint32_t)(at - 4);
	for (int i = 0; i < 4; i++)
		frame[i] = (uint8_t)(length >> 8 * i);
	memcpy(frame + at, message->after, message->after_size);
	at += message->after_size;
	if (at > room)
		abort();
	return message->cut_given && message->cut < at ? message->cut : at;
}

static uint64_t get_varint(const uint8_t **at, const uint8_t *end)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			break;
	}
	return value;
}

// Prints a Reply frame, which is short and the helper's own: see helper.proto.
static inline void reply_print(const uint8_t *frame, size_t size)
{
	static const char *const codes[] = {
		"NONE",	  "OK",	   "ALREADY_GONE", "CALLER", "REQUEST", "VERSION",
		"POLICY", "LIMIT", "PERMISSION",   "BUSY",   "SYSTEM",
	};
	const uint8_t *at = frame + 4, *end = frame + size;
	uint64_t numbers[16] = { 0 };
	char field[256] = "", text[1024] = "";

	if (size < 4 || (frame[0] | (size_t)frame[1] << 8) != size - 4) {
		printf("no reply (%zu bytes)\n", size);
		return;
	}
	while (at < end) {
		uint64_t key = get_varint(&at, end), value = get_varint(&at, end);
		const uint8_t *inner = at;

		if ((key & 7) == 0) {
			numbers[key >> 3 & 15] = value;
			continue;
		}
		if ((key & 7) != 2 || value > (size_t)(end - at))
			break;
		at += value;
		if (key >> 3 == 3)
			snprintf(field, sizeof(field), "%.*s", (int)value, (const char *)inner);
		if (key >> 3 == 4)
			snprintf(text, sizeof(text), "%.*s", (int)value, (const char *)inner);
	}
	printf("code %s field %s session %lu\n%s\n", numbers[2] < 11 ? codes[numbers[2]] : "?",
	       *field ? field : "-", numbers[5], text);
}
