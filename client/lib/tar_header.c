// Tar headers (tar_header.h). Pure.
#include "tar_header.h"

#include <stdio.h>
#include <string.h>

#define LONG_MAX_SIZE 4096U
#define OCTAL_MAX 077777777777ULL

struct block {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8];
	char type;
	char link[100];
	char magic[8]; // "ustar", two blanks and a NUL: GNU's
	char rest[247];
};

_Static_assert(sizeof(struct block) == TAR_BLOCK, "a tar header is one block");

// Numbers too large for eleven octal digits stand in base 256, with the first bit set.
static void number_put(char field[12], uint64_t value)
{
	char digits[13];

	if (value <= OCTAL_MAX) {
		snprintf(digits, sizeof(digits), "%011llo", (unsigned long long)value);
		memcpy(field, digits, 12);
		return;
	}
	field[0] = (char)0x80;
	for (int i = 11; i > 0; i--, value >>= 8)
		field[i] = (char)(value & 0xff);
}

static void block_finish(struct block *block, char type, uint64_t size, uint64_t mtime,
			 unsigned int mode)
{
	const uint8_t *bytes = (const uint8_t *)block;
	char digits[16];
	unsigned int sum = 0;

	snprintf(digits, sizeof(digits), "%07o", mode & 07777U);
	memcpy(block->mode, digits, sizeof(block->mode));
	memcpy(block->uid, "0000000", sizeof(block->uid));
	memcpy(block->gid, "0000000", sizeof(block->gid));
	number_put(block->size, size);
	number_put(block->mtime, mtime);
	block->type = type;
	memcpy(block->magic, "ustar  ", sizeof(block->magic));

	// The sum is taken with blanks in its own place.
	memset(block->checksum, ' ', sizeof(block->checksum));
	for (size_t i = 0; i < sizeof(*block); i++)
		sum += bytes[i];
	snprintf(digits, sizeof(digits), "%06o", sum & 0777777U);
	memcpy(block->checksum, digits, 7);
}

// Puts `text` into a field, or, if it is longer, before the header in an entry of its own.
static size_t text_put(uint8_t *room, char type, const char *text, char field[100])
{
	const size_t length = strlen(text), padded = length + 1 + tar_padding(length + 1);
	struct block block = { .name = "././@LongLink" };

	if (length <= 100) {
		memcpy(field, text, length);
		return 0;
	}
	memcpy(field, text, 100);
	block_finish(&block, type, length + 1, 0, 0644);
	memcpy(room, &block, sizeof(block));
	memset(room + sizeof(block), 0, padded);
	memcpy(room + sizeof(block), text, length);
	return sizeof(block) + padded;
}

size_t tar_padding(uint64_t size)
{
	return (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
}

size_t tar_header(uint8_t room[TAR_HEADER_MAX], const char *path, const struct stat *status,
		  const char *link)
{
	const char type = S_ISDIR(status->st_mode) ? '5' : S_ISLNK(status->st_mode) ? '2' : '0';
	const uint64_t size = S_ISREG(status->st_mode) ? (uint64_t)status->st_size : 0;
	const uint64_t mtime = status->st_mtime > 0 ? (uint64_t)status->st_mtime : 0;
	struct block block = { 0 };
	size_t used = 0;

	if (strlen(path) >= LONG_MAX_SIZE || (link && strlen(link) >= LONG_MAX_SIZE))
		return 0;
	if (link)
		used += text_put(room, 'K', link, block.link);
	used += text_put(room + used, 'L', path, block.name);
	block_finish(&block, type, size, mtime, status->st_mode & 0777);
	memcpy(room + used, &block, sizeof(block));
	return used + sizeof(block);
}
