// Settings that a client brings along (connection.h). Runs in workers.
//
// They are not passed on, nor replaced by others: SetOptions carries number of builds, cores,
// timeouts and substitution whether the client has an opinion or not, and what it carries overrides
// the administrator's nix.conf in the daemon (ClientSettings::apply of daemon.cc). A daemon that
// gets no SetOptions keeps to its nix.conf, in 2.8 as in 2.26.
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "connection.h"

// Where the overrides stand in the shape of SetOptions.
#define PART_OVERRIDES 12U

// Settings whose giver would expect something of the daemon: what the daemon heeds from anybody, and
// what is to open it up. All others say nothing about it. Patterns as of fnmatch(3).
static const char *const told[] = {
	"*substituter*", "*hook*",     "*builders*",	  "trusted-*", "*public-keys",
	"sandbox*",	 "extra-*",    "*require-sigs",	  "allowed-*", "build-users-group",
	"*repeat",	 "*timeout",   "max-silent-time", "store",     "system-features",
	"plugin-files",	 "netrc-file", "poll-interval",	  "keep-*",    "post-*",
	"secret-key*",	 "ssl-cert-*", "max-free",	  "min-free",  "auto-optimise-store",
};

// What /etc/nix/nix.conf of Debian 12 has, and what is the default anyway.
static bool usual(struct view name, struct view value)
{
	return view_is(name, "sandbox") && (view_is(value, "false") || view_is(value, "true"));
}

static bool is_told(struct view name, struct view value, char word[64])
{
	if (name.size == 0 || name.size >= 64 || usual(name, value))
		return false;
	for (size_t i = 0; i < name.size; i++) {
		if (!((name.text[i] >= 'a' && name.text[i] <= 'z') || name.text[i] == '-'))
			return false;
	}
	memcpy(word, name.text, name.size);
	word[name.size] = '\0';
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		if (fnmatch(told[i], word, 0) == 0)
			return true;
	}
	return false;
}

bool settings_serve(struct connection *connection)
{
	struct cursor cursor = request_part(&connection->request, PART_OVERRIDES);
	uint64_t count = cursor_number(&cursor);
	char names[400] = "", line[500], word[64];
	size_t used = 0;

	for (; count > 0 && !connection->settings_told; count--) {
		const struct view name = cursor_string(&cursor);
		const struct view value = cursor_string(&cursor);

		if (!is_told(name, value, word) || used + strlen(word) + 6 > sizeof(names))
			continue;
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
					 used > 0 ? ", " : "", word);
	}
	if (used > 0) {
		snprintf(line, sizeof(line),
			 "lodger: ignored settings: %s; they are the administrator's\n", names);
		connection->settings_told = true;
		if (!answer_line(connection, line))
			return false;
	}
	return answer_done(connection);
}
