// Names and records of sessions (session.h). Pure but for one read(2) and one clock; linked into
// the helper and into the client.
#include "session.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "frame.h"

static const char prefix[] = "lodger-";

void session_name(uint32_t number, char name[SESSION_NAME_SIZE])
{
	snprintf(name, SESSION_NAME_SIZE, "%s%u", prefix, number % (SESSION_NUMBER_MAX + 1));
}

const char *session_digits(uint32_t number)
{
	static char digits[16];

	snprintf(digits, sizeof(digits), "%u", number);
	return digits;
}

uint32_t session_number(const char *name)
{
	uint32_t number = 0;

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return 0;
	name += sizeof(prefix) - 1;
	if (*name < '1' || *name > '9')
		return 0;
	for (; *name >= '0' && *name <= '9'; name++) {
		number = number * 10 + (uint32_t)(*name - '0');
		if (number > SESSION_NUMBER_MAX)
			return 0;
	}
	return *name == '\0' ? number : 0;
}

bool record_read(int fd, uint32_t number, struct record *record)
{
	return frame_read_full(fd, record, sizeof(*record)) == sizeof(*record) &&
	       record->magic == RECORD_MAGIC && record->number == number &&
	       record->uid == SESSION_UID_BASE + number;
}

uint64_t clock_boot_usec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000U + (uint64_t)now.tv_nsec / 1000U;
}
