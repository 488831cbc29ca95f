// proto/session.c on every name, number and file of a record.
#include "driver.h"

#include "../../../proto/session.c"

ssize_t frame_read_full(int fd, void *buffer, size_t size)
{
	(void)fd;
	fill(buffer, size + BEYOND);
	return any(-1, (int)size);
}

// It does not fail for a clock that there is and a place to write to (clock_gettime(2)).
int clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	now->tv_sec = any(0, INT_MAX);
	now->tv_nsec = any(0, 999999999);
	return 0;
}

// By its body: that equal beginnings are as long as asked for is not in its specification.
int strncmp(const char *one, const char *other, size_t size)
{
	//@ loop unroll 16;
	for (size_t i = 0; i < size; i++) {
		if (one[i] != other[i])
			return one[i] < other[i] ? -1 : 1;
		if (one[i] == '\0')
			break;
	}
	return 0;
}

int main(void)
{
	static struct record record;
	char name[SESSION_NAME_SIZE], asked[32];
	uint32_t number = (uint32_t)any(INT_MIN, INT_MAX);

	session_name(number, name);
	session_digits(number);
	// Each length, up against the array's end. Longer ones end at their sixth digit or sooner.
	//@ loop unroll 32;
	for (size_t size = 1; size <= sizeof(asked); size++) {
		char *start = asked + sizeof(asked) - size;

		fill(start, size - 1);
		asked[sizeof(asked) - 1] = '\0';
		number = session_number(start);
		//@ assert number: number <= 65535;
	}
	record_read(0, number, &record);
	clock_boot_usec();
	return 0;
}
