// The index of a channel's programs (program_index.h). Runs as the caller, or in a session as the
// lodger; reads only. The table is NixOS's, as its command-not-found has it:
// Programs(name, system, package).
#include "program_index.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

// Names of store paths may have a '?', which is no part of a file's name in an address; nothing else
// in them is special there.
static void address_make(char *address, size_t size, const char *channel)
{
	size_t used = (size_t)snprintf(address, size, "file:");

	for (; *channel && used + 3 < size; channel++)
		used += (size_t)snprintf(address + used, size - used,
					 *channel == '?' ? "%%3f" : "%c", *channel);
	// Nobody changes it: no locks, and no journal to look for.
	snprintf(address + used, size - used, "/programs.sqlite?immutable=1");
}

// What nix calls this kind of machine, as x86_64-linux.
static void system_name(char *name, size_t size)
{
	struct utsname machine;

	uname(&machine);
	snprintf(name, size, "%s-linux", machine.machine);
}

static bool rows_take(sqlite3_stmt *query, index_taker *take, void *context, int *result)
{
	while ((*result = sqlite3_step(query)) == SQLITE_ROW) {
		const unsigned char *attribute = sqlite3_column_text(query, 0);

		if (attribute && !take(context, (const char *)attribute))
			return false;
	}
	return *result == SQLITE_DONE;
}

bool program_index_look_up(const char *channel, const char *name, index_taker *take, void *context,
			   struct failure *failure)
{
	static const char text[] =
		"select package from Programs where name = ?1 and system = ?2 order by package";
	char address[PATH_MAX], system[100];
	sqlite3 *index = NULL;
	sqlite3_stmt *query = NULL;

	address_make(address, sizeof(address), channel);
	system_name(system, sizeof(system));
	int result = sqlite3_open_v2(address, &index, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
	if (result == SQLITE_OK)
		result = sqlite3_prepare_v2(index, text, -1, &query, NULL);
	if (result == SQLITE_OK)
		result = sqlite3_bind_text(query, 1, name, -1, SQLITE_STATIC);
	if (result == SQLITE_OK)
		result = sqlite3_bind_text(query, 2, system, -1, SQLITE_STATIC);

	const bool good = result == SQLITE_OK && rows_take(query, take, context, &result);
	if (!good)
		fail(failure, "looking for '%.255s' in %s/programs.sqlite: %s", name, channel,
		     result == SQLITE_CANTOPEN ? "the channel has no index of its programs; an "
						 "administrator can make it anew with "
						 "lodger-channel"
		     : result == SQLITE_ROW    ? "out of memory"
					       : sqlite3_errstr(result));
	sqlite3_finalize(query);
	sqlite3_close(index);
	return good;
}
