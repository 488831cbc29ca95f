// What a client sends to a worker of lodger-gate (client/gate/connection.h), with a daemon that answers
// well, or with errors, or in the end with nonsense. The sockets are in here (client/gate/socket.c is
// left out), and so are the derivations' files.
// Holds: the daemon hears the greeting of the one version, and then whole requests, one at a time, of
// the operations that are let through alone, with store paths that are such, no repair and no check; no
// content above its limit; of what is to be built, only what it has said to have, or what is the
// channel's. The session is never charged more than it may add.
#include <endian.h>
#include <stdio.h>

#include "connection.h"
#include "derivation.h"
#include "fuzz.h"
#include "log.h"
#include "protocol_numbers.h"

#define ITEM 3000U
#define SESSION 10000U
#define CLIENT 1
#define DAEMON 2
#define HASH "0123456789abcdfghijklmnpqrsvwxyz"
#define CHANNELS       \
	"/nix/store/1" \
	"123456789abcdfghijklmnpqrsvwxyz-channels.drv"

static const char *const canned[] = {
	"/nix/store/" HASH "-a",
	"/nix/store/" HASH "-a.drv",
	"/nix/store/" HASH "-a.drv!out",
	"/nix/store/" HASH "-a.drv!*",
	"/nix/store/" HASH "-a.drv!dev",
	"/nix/store/" HASH "-a.drv!dev,out",
	"/nix/store/" HASH "-b.drv!out",
	CHANNELS "!out",
	CHANNELS,
	"name",
	"text:sha256",
	"fixed:r:sha256",
	HASH,
	"",
	"substituters",
	"http://x",
	"/nix/store/" HASH "-a.drv!out!x",
	"../x",
};

// How the daemon is this time.
static struct {
	uint8_t salt;	  // which paths it has
	bool lies;	  // its outputs are others than the file's
	size_t nonsense;  // after that many answers it sends anything
	struct view file; // every derivation's
} daemon_is;

static struct input client_sends;
static struct input nonsense;

// What the daemon has heard and not yet answered, and what it answers.
static uint8_t heard[REQUEST_ROOM + ITEM + 4096], answer[1 << 16];
static size_t heard_size, answer_size, answer_at, answers, requests;

// Paths that it has said to keep and to have.
#define KEPT 256U
static char kept[KEPT][PATHS_MAX + 1], ensured[KEPT][PATHS_MAX + 1];
static size_t kept_count, ensured_count;

static bool stands_in(char list[KEPT][PATHS_MAX + 1], size_t count, struct view path)
{
	for (size_t i = 0; i < count; i++)
		if (view_is(path, list[i]))
			return true;
	return false;
}

static bool daemon_has(struct view path)
{
	uint8_t sum = daemon_is.salt;

	for (size_t i = 0; i < path.size; i++)
		sum = (uint8_t)(sum * 31 + (uint8_t)path.text[i]);
	return (sum & 3) != 0;
}

static void put(const void *bytes, size_t size)
{
	assert(answer_size + size <= sizeof(answer));
	memcpy(answer + answer_size, bytes, size);
	answer_size += size;
}

static void put_number(uint64_t number)
{
	const uint64_t raw = htole64(number);

	put(&raw, sizeof(raw));
}

static void put_string(struct view string)
{
	static const char zeros[8];

	put_number(string.size);
	put(string.text, string.size);
	put(zeros, (size_t)(wire_padded(string.size) - string.size));
}

static void put_words(const char *text)
{
	put_string((struct view){ text, strlen(text) });
}

static void put_error(void)
{
	put_number(SAYING_ERROR);
	put_words("Error");
	put_number(0);
	put_words("Error");
	put_words("\x1b[31mno\x1b[0m");
	put_number(0);
	put_number(1);
	put_number(0);
	put_words("trace");
}

// The request that is being looked at.
static struct input said;

static uint64_t said_number(void)
{
	uint64_t raw;

	assert(said.size >= sizeof(raw));
	memcpy(&raw, said.data, sizeof(raw));
	said.data += sizeof(raw);
	said.size -= sizeof(raw);
	return le64toh(raw);
}

static struct view said_string(void)
{
	const uint64_t size = said_number();
	const struct view string = { (const char *)said.data, (size_t)size };

	assert(size <= said.size && wire_padded(size) <= said.size);
	said.data += wire_padded(size);
	said.size -= (size_t)wire_padded(size);
	return string;
}

// A second opinion on store paths.
static struct view said_path(void)
{
	const struct view path = said_string();

	assert(path.size > 44 && path.size <= PATHS_MAX &&
	       memcmp(path.text, "/nix/store/", 11) == 0);
	assert(memchr(path.text + 11, '/', path.size - 11) == NULL);
	for (size_t i = 0; i < path.size; i++)
		assert(path.text[i] > ' ' && path.text[i] <= 'z' && path.text[i] != '!');
	return path;
}

static void output_holds(struct view drv, struct view name)
{
	struct derivation derivation;

	// The daemon's own opinion of what the outputs are: the file's, where it does not lie.
	assert(derivation_parse(daemon_is.file, &derivation) == NULL && !daemon_is.lies);
	(void)drv;
	for (size_t i = 0; i < derivation.count; i++) {
		if (!view_is(name, "*") && !view_equal(name, derivation.outputs[i].name))
			continue;
		assert(stands_in(kept, kept_count, derivation.outputs[i].path));
		assert(stands_in(ensured, ensured_count, derivation.outputs[i].path));
	}
	assert(view_is(name, "*") || derivation_output(&derivation, name) != NULL);
}

static void wanted_holds(struct view text, bool build)
{
	struct wanted wanted;
	struct view name;

	assert(paths_wanted(text, &wanted));
	if (!build)
		return;
	if (view_is(wanted.path, CHANNELS) && wanted.outputs.text != NULL)
		return;
	assert(stands_in(ensured, ensured_count, wanted.path));
	while (wanted.outputs.text != NULL && paths_next_output(&wanted.outputs, &name))
		output_holds(wanted.path, name);
}

static void wanted_answer(uint64_t operation)
{
	const uint64_t count = said_number();

	for (uint64_t i = 0; i < count; i++)
		wanted_holds(said_string(), operation != 40);
	if (operation != 40)
		assert(said_number() == 0);
	put_number(SAYING_LAST);
	if (operation == 9) {
		put_number(1);
	} else if (operation == 46) {
		put_number(1);
		put_words("x!out");
		for (int i = 0; i < 6; i++)
			put_number(0);
		put_number(1);
		put_words("sha256:0!out");
		put_words("{}");
	} else {
		for (int i = 0; i < 5; i++)
			put_number(0);
	}
}

static void add_answer(void)
{
	size_t content = 0;

	assert(paths_name(said_string()));
	(void)said_string();
	for (uint64_t count = said_number(); count > 0; count--)
		(void)said_path();
	assert(said_number() == 0);
	for (uint64_t size = said_number(); size > 0; size = said_number()) {
		assert(size <= said.size);
		said.data += size;
		said.size -= (size_t)size;
		content += (size_t)size;
	}
	assert(content <= ITEM);
	put_number(SAYING_LINE);
	put_words("a line\n");
	put_number(SAYING_LAST);
	put_words(canned[0]);
	put_words("");
	put_words("hash");
	put_number(1);
	put_words(canned[0]);
	put_number(daemon_is.salt & 1 ? 5 : UINT64_MAX);
	put_number(100);
	put_number(1);
	put_number(0);
	put_words("text:sha256:0");
}

static void outputs_answer(struct view drv)
{
	struct derivation derivation;

	(void)drv;
	put_number(SAYING_LAST);
	if (derivation_parse(daemon_is.file, &derivation) != NULL)
		derivation.count = 0;
	put_number(derivation.count);
	for (size_t i = 0; i < derivation.count; i++) {
		put_string(derivation.outputs[i].name);
		put_string(daemon_is.lies && i == 0 ? (struct view){ "/nix/store/x", 12 }
						    : derivation.outputs[i].path);
	}
}

// One path, one number.
static void path_answer(uint64_t operation)
{
	const struct view path = said_path();
	char(*list)[PATHS_MAX + 1] = operation == 11 ? kept : ensured;
	size_t *count = operation == 11 ? &kept_count : &ensured_count;

	if (operation == 10 && !daemon_has(path)) {
		put_error();
		return;
	}
	if (operation != 1 && !stands_in(list, *count, path)) {
		assert(*count < KEPT);
		snprintf(list[(*count)++], PATHS_MAX + 1, "%.*s", (int)path.size, path.text);
	}
	put_number(SAYING_LAST);
	put_number(1);
}

static void other_answer(uint64_t operation)
{
	if (operation == 26) {
		(void)said_path();
		put_number(SAYING_LAST);
		put_number(0);
	} else if (operation == 29) {
		assert(paths_hash(said_string()));
		put_number(SAYING_LAST);
		put_words("");
	} else if (operation == 43) {
		assert(paths_realisation(said_string()));
		put_number(SAYING_LAST);
		put_number(0);
	} else {
		assert(operation >= 30 && operation <= 32);
		for (uint64_t count = said_number(); count > 0; count--) {
			(void)said_path();
			if (operation == 30)
				(void)said_string();
		}
		if (operation == 31)
			assert(said_number() <= 1);
		put_number(SAYING_LAST);
		put_number(0);
	}
}

// Looks at the one request that there is, whole, and answers it.
static void daemon_answer(void)
{
	said = (struct input){ heard, heard_size };
	if (answers == 0) {
		assert(said_number() == GREETING_CLIENT);
		put_number(GREETING_DAEMON);
		put_number(VERSION(38));
	} else if (answers == 1) {
		assert(said_number() == VERSION_SPOKEN && said_number() == 0 && said_number() == 0);
		put_words("2.26");
		put_number(SAYING_LAST);
	} else {
		const uint64_t operation = said_number();

		requests++;
		if (operation == 9 || operation == 46 || operation == 40)
			wanted_answer(operation);
		else if (operation == 7)
			add_answer();
		else if (operation == 41)
			outputs_answer(said_path());
		else if (operation == 1 || operation == 10 || operation == 11)
			path_answer(operation);
		else
			other_answer(operation);
	}
	assert(said.size == 0);
	heard_size = 0;
	answers++;
}

size_t socket_receive(struct wire *wire, void *to, size_t size)
{
	struct input *from = &client_sends;
	struct input rest = { answer + answer_at, answer_size - answer_at };

	if (wire->fd == DAEMON) {
		if (rest.size == 0 && answers < daemon_is.nonsense) {
			answer_at = answer_size = 0;
			daemon_answer();
			rest = (struct input){ answer, answer_size };
		}
		from = rest.size > 0 ? &rest : &nonsense;
	}
	if (from->size == 0) {
		wire_fail(wire, "has ended the connection");
		return 0;
	}
	if (size > from->size)
		size = from->size;
	memcpy(to, from->data, size);
	from->data += size;
	from->size -= size;
	if (from == &rest)
		answer_at += size;
	return size;
}

bool socket_send(struct wire *wire, const void *from, size_t size)
{
	if (wire->fd != DAEMON)
		return true;
	assert(heard_size + size <= sizeof(heard));
	memcpy(heard + heard_size, from, size);
	heard_size += size;
	return true;
}

void socket_farewell(struct wire *wire)
{
	(void)wire;
}

const char *__wrap_derivation_read(int store, struct view path, struct derivation *derivation);
const char *__wrap_derivation_read(int store, struct view path, struct derivation *derivation)
{
	(void)store;
	assert(paths_derivation(path));
	return derivation_parse(daemon_is.file, derivation);
}

// Longer than an input on its way to the client.
static uint8_t stream[1 << 18];

static size_t stream_number(size_t used, uint64_t number)
{
	const uint64_t raw = htole64(number);

	memcpy(stream + used, &raw, sizeof(raw));
	return used + sizeof(raw);
}

static size_t stream_string(size_t used, const void *text, size_t size)
{
	used = stream_number(used, size);
	memset(stream + used, 0, wire_padded(size));
	memcpy(stream + used, text, size);
	return used + wire_padded(size);
}

// An input says briefly what the client sends: a byte below 0x40 is that number; below 0x80 a string
// of the table; below 0xc0 a string of what follows; below 0xe0 bytes of what follows, as they are; 0xe0
// a number of eight bytes; 0xe1 many zeros; 0xff the largest number.
static size_t stream_make(struct input *input, bool greets)
{
	size_t used = 0;

	if (greets) {
		used = stream_number(used, GREETING_CLIENT);
		used = stream_number(used, VERSION_SPOKEN);
		used = stream_number(stream_number(used, 0), 0);
	}
	while (input->size > 0 && used < sizeof(stream) - 8192) {
		const uint8_t code = input_byte(input);
		size_t size = code & (code < 0xc0 ? 0x3f : 0x1f);

		if (code < 0x40) {
			used = stream_number(used, code);
		} else if (code < 0x80) {
			const char *text = canned[size % (sizeof(canned) / sizeof(canned[0]))];
			used = stream_string(used, text, strlen(text));
		} else if (code < 0xe0) {
			uint8_t *taken = input_take(input, &size);

			if (code < 0xc0)
				used = stream_string(used, taken, size);
			else
				memcpy(stream + used, taken, size);
			used += code < 0xc0 ? 0 : size;
			free(taken);
		} else if (code == 0xe0) {
			size = 8;
			uint8_t *taken = input_take(input, &size);

			memcpy(stream + used, taken, size);
			used += size;
			free(taken);
		} else if (code == 0xe1) {
			memset(stream + used, 0, 4096);
			used += 4096;
		} else {
			used = stream_number(used, UINT64_MAX);
		}
	}
	return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct limits limits = { .item = ITEM, .session = SESSION, .connections = 1 };
	static struct connection connection;
	static uint8_t buffer[REQUEST_ROOM + ITEM];
	struct input input = { data, size };
	struct account account = { 0 };
	const uint8_t flags = input_byte(&input);

	daemon_is.salt = input_byte(&input);
	daemon_is.lies = (flags & 1) != 0;
	daemon_is.nonsense = (flags & 2) != 0 ? 2 + (size_t)(flags >> 4) : SIZE_MAX;
	size_t file_size = input_byte(&input) * 4U;
	uint8_t *file = input_take(&input, &file_size);
	daemon_is.file = (struct view){ (const char *)file, file_size };
	nonsense = input;
	heard_size = answer_size = answer_at = answers = requests = kept_count = ensured_count = 0;

	memset(&connection, 0, sizeof(connection));
	client_sends = (struct input){ stream, stream_make(&input, (flags & 4) == 0) };
	wire_open(&connection.client, CLIENT, -1);
	wire_open(&connection.daemon, DAEMON, CLIENT);
	request_open(&connection.request, buffer, sizeof(buffer), ITEM);
	connection.limits = &limits;
	connection.account = &account;
	connection.closure =
		(struct closure){ .lists = { { CHANNELS "\n", sizeof(CHANNELS) } }, .count = 1 };
	connection_serve(&connection);
	assert(account.added <= SESSION && connection.lines <= CONNECTION_LINES);
	free(file);
	return 0;
}
