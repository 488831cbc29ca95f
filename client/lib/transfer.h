// Files into a session and out of it, as a tar stream that the session's own tar reads or writes.
// What comes out is hostile: names, types, sizes and links are checked here, and nothing is written
// but below the directory that the caller named, without ever following a link there.
#pragma once

#include <archive.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"

struct transfer {
	uint32_t number;      // of the session
	uint64_t budget;      // bytes that may still be moved; each entry costs TRANSFER_ENTRY more
	uint64_t max;	      // what the budget was, for messages
	uint64_t deadline;    // clock_boot_usec() at which it must be done
	unsigned int skipped; // entries that were left out, with a notice
};

#define TRANSFER_ENTRY 4096U
#define TRANSFER_DEPTH 128

// Copies `sources` of the caller's into the session: into the directory `target`, or, one source
// alone, to that name. Sockets, FIFOs and devices are skipped.
bool transfer_put(struct transfer *transfer, char *const sources[], size_t count,
		  const char *target, struct failure *failure);

// Copies `sources` of the session's to the caller's directory or name `target`.
bool transfer_get(struct transfer *transfer, char *const sources[], size_t count,
		  const char *target, struct failure *failure);

// What both share -------------------------------------------------------------------------------

// A tar that runs in the session, with a pipe to or from it.
struct tar {
	struct transfer *transfer;
	int connection;
	int data;	// our end of its standard input or output, O_NONBLOCK
	int messages;	// our end of its standard error
	bool input;	// whether `data` is its standard input
	char said[512]; // the first of what it wrote to its standard error
	size_t said_length;
	bool ended;   // it ended while we wrote
	bool late;    // the deadline passed
	uint64_t raw; // bytes that may still come, of any kind
};

// Starts `argv` in the session.
bool tar_start(struct tar *tar, struct transfer *transfer, char *argv[], bool input,
	       struct failure *failure);

// Waits for its end. A failed tar is a failure, in its own words.
bool tar_finish(struct tar *tar, const char *doing, struct failure *failure);

void tar_close(struct tar *tar);

// Waits until `data` can be read or written. False: it is too late, or tar has ended.
bool tar_await(struct tar *tar);

// Takes `size` bytes and one entry off the budget. False: it is used up.
bool transfer_charge(struct transfer *transfer, uint64_t size);

// Says that `name` was skipped, and why; after the first twenty it only counts.
void transfer_skip(struct transfer *transfer, const char *name, const char *why);

// The last component of `path`, without slashes behind it, and what stands before it ("." when
// there is nothing). Both are to be freed. False when the last component is missing, "." or "..".
bool path_split(const char *path, char **directory, char **name);

// One entry out of an archive --------------------------------------------------------------------

// Where entries are unpacked to.
struct unpack {
	struct transfer *transfer;
	int directory;	    // the caller's, held open
	const char *source; // the first component that every entry must have
	const char *name;   // what it is called in `directory`
	mode_t mask;	    // the caller's umask
};

// Unpacks all of `archive`. Needs no session: for the tests too.
bool unpack_archive(struct unpack *unpack, struct archive *archive, struct failure *failure);
