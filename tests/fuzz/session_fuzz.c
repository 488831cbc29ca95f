// Names and records of sessions (proto/session.h).
// Holds: a word is a session's name exactly when it is what session_name makes of its number, and a
// record is taken exactly when it is whole and is of the session whose number is asked for.
#include "fuzz.h"

#include "session.h"

static void name_holds(const char *word)
{
	const uint32_t number = session_number(word);
	char name[SESSION_NAME_SIZE];

	assert(number <= SESSION_NUMBER_MAX);
	if (number != 0) {
		session_name(number, name);
		assert(strcmp(word, name) == 0);
		assert(strcmp(word + strlen("lodger-"), session_digits(number)) == 0);
		return;
	}
	// The number that it looks like is not written so.
	if (strncmp(word, "lodger-", 7) == 0) {
		const unsigned long like = strtoul(word + 7, NULL, 10);

		if (like >= 1 && like <= SESSION_NUMBER_MAX) {
			session_name((uint32_t)like, name);
			assert(strcmp(word, name) != 0);
		}
	}
}

static void record_holds(uint32_t number, const uint8_t *bytes, size_t size)
{
	struct record record, expected = { 0 };
	int pipes[2];

	assert(pipe2(pipes, O_CLOEXEC) == 0);
	assert(write(pipes[1], bytes, size) == (ssize_t)size);
	close(pipes[1]);
	const bool taken = record_read(pipes[0], number, &record);
	close(pipes[0]);

	memcpy(&expected, bytes, size < sizeof(expected) ? size : sizeof(expected));
	assert(taken == (size >= sizeof(expected) && expected.magic == RECORD_MAGIC &&
			 expected.number == number && expected.uid == SESSION_UID_BASE + number));
	if (taken)
		assert(memcmp(&record, &expected, sizeof(record)) == 0);
}

// An input: 0 and a name; or 1, the number that is asked for (two bytes), and a record.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	if (input_byte(&input) & 1) {
		const uint32_t number = input_byte(&input) | (uint32_t)input_byte(&input) << 8;

		record_holds(number, input.data, input.size);
	} else {
		char *word = input_text(&input, '\0');

		name_holds(word);
		free(word);
	}
	return 0;
}
