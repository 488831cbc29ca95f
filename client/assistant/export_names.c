// The caller's names and paths (export_names.h). Runs as the caller; reads the user database.
#include "export_names.h"

#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cleanup.h"

#define LOGIN "user"
#define REAL "Person"
#define HOME "/home/" LOGIN
#define WORK "/work"
#define HOST "host"
#define SESSION "lodger-1"
#define PART_LEAST 3 // of a real name: shorter ones are initials, and words

// Nobody's own.
static const char *const common[] = { "root", "nobody", "localhost", "/root", "/nonexistent" };

void names_add(struct names *names, const char *kind, const char *from, const char *to,
	       bool any_case)
{
	struct name *name = &names->list[names->count];

	if (*from == '\0' || strcmp(from, to) == 0 || names->count == NAMES_MAX)
		return;
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (strcmp(common[i], from) == 0)
			return;
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->list[i].from, from) == 0)
			return;
	*name = (struct name){ kind, strdup(from), strdup(to), any_case };
	names->replaced[names->count] = 0;
	names->count++;
	if (!name->from || !name->to)
		names->lost = true;
}

void names_add_login(struct names *names, const char *login)
{
	names_add(names, "login name", login, LOGIN, false);
}

void names_add_real(struct names *names, const char *gecos)
{
	// GECOS: the name, then commas and what else there is of its bearer.
	autofree char *name = strndup(gecos, strcspn(gecos, ","));
	char *rest, *part;

	if (!name || strcmp(name, "root") == 0) {
		names->lost = names->lost || !name;
		return;
	}
	names_add(names, "real name", name, REAL, true);
	for (part = strtok_r(name, " .\t", &rest); part; part = strtok_r(NULL, " .\t", &rest))
		if (strlen(part) >= PART_LEAST)
			names_add(names, "real name", part, REAL, false);
}

// Whether `path` lies in no directory but those that every machine has.
static bool path_common(const char *path)
{
	return *path != '/' || !strchr(path + 1, '/');
}

void names_add_directories(struct names *names, const char *home, const char *working)
{
	const size_t length = strlen(home);
	const bool at_home = length > 1 && strncmp(working, home, length) == 0;

	if (length > 1)
		names_add(names, "home directory", home, HOME, false);
	if (!path_common(working) && strcmp(working, home) != 0)
		names_add(names, "working directory", working,
			  at_home && working[length] == '/' ? HOME WORK : WORK, false);
}

void names_add_host(struct names *names, const char *host)
{
	autofree char *label = strndup(host, strcspn(host, "."));

	names_add(names, "host name", host, HOST, true);
	if (label)
		names_add(names, "host name", label, HOST, true);
	names->lost = names->lost || !label;
}

void names_find(struct names *names)
{
	const struct passwd *user = getpwuid(getuid());
	autofree char *working = getcwd(NULL, 0);
	autofree char *home = user ? realpath(user->pw_dir, NULL) : NULL;
	const char *shell_working = getenv("PWD");
	struct utsname machine;

	// The first of two that are the same is the one that counts.
	if (user) {
		names_add_directories(names, user->pw_dir, working ? working : "/");
		names_add_directories(names, home ? home : "/", working ? working : "/");
		names_add_directories(names, user->pw_dir, shell_working ? shell_working : "/");
		names_add_login(names, user->pw_name);
		names_add_real(names, user->pw_gecos);
	}
	if (uname(&machine) == 0)
		names_add_host(names, machine.nodename);
}

void names_free(struct names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		free(names->list[i].from);
		free(names->list[i].to);
	}
	*names = (struct names){ 0 };
}

static bool word_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

// Whether `name` stands at `at` of `text`. Returns its length, or 0.
static size_t name_fits(const struct name *name, const struct text *text, size_t at)
{
	const size_t length = strlen(name->from);
	const char *here = text->data + at;

	if (length > text->size - at || (name->any_case ? strncasecmp(here, name->from, length)
							: strncmp(here, name->from, length)) != 0)
		return 0;
	if (at > 0 && word_byte(name->from[0]) && word_byte(here[-1]))
		return 0;
	if (at + length < text->size && word_byte(name->from[length - 1]) &&
	    word_byte(here[length]))
		return 0;
	return length;
}

// Marks the bytes that a name can begin with.
static void names_begin(const struct names *names, bool begins[UCHAR_MAX + 1])
{
	memset(begins, false, UCHAR_MAX + 1);
	for (size_t i = 0; i < names->count; i++) {
		const unsigned char first = (unsigned char)names->list[i].from[0];

		begins[first] = true;
		if (names->list[i].any_case && word_byte((char)first) && first >= 'A')
			begins[first ^ ('a' ^ 'A')] = true;
	}
}

// Finds the longest name at `at`. Returns its length, or 0.
static size_t longest_fits(const struct names *names, const struct text *text, size_t at,
			   size_t *which)
{
	size_t longest = 0;

	for (size_t i = 0; i < names->count; i++) {
		const size_t length = name_fits(&names->list[i], text, at);

		if (length > longest) {
			longest = length;
			*which = i;
		}
	}
	return longest;
}

void names_replace(struct names *names, struct text *text)
{
	bool begins[UCHAR_MAX + 1];
	struct text result = { 0 };
	size_t begin = 0, at = 0, which = 0;
	bool found = false;

	if (names->lost || names->count == 0)
		return;
	names_begin(names, begins);
	while (at < text->size) {
		const size_t length = begins[(unsigned char)text->data[at]]
					      ? longest_fits(names, text, at, &which)
					      : 0;

		if (length == 0) {
			at++;
			continue;
		}
		text_add(&result, text->data + begin, at - begin);
		text_string(&result, names->list[which].to);
		names->replaced[which]++;
		begin = at += length;
		found = true;
	}
	if (!found)
		return;
	text_add(&result, text->data + begin, at - begin);
	result.lost = result.lost || text->lost;
	text_free(text);
	*text = result;
}

static void replace(void *context, struct text *text)
{
	names_replace(context, text);
}

void names_replace_all(struct names *names, struct conversation *conversation)
{
	const size_t own = names->count;
	struct name *session = &names->list[own];
	autofree char *name = strdup(text_get(&conversation->session));

	if (!name) {
		names->lost = true;
		return;
	}
	// In its place as long as this conversation's texts are looked at.
	if (own < NAMES_MAX)
		names_add(names, "session", name, SESSION, false);
	text_free(&conversation->session);
	text_string(&conversation->session, SESSION);
	conversation_texts(conversation, replace, names);
	if (names->count == own)
		return;
	names->sessions += names->replaced[own];
	free(session->from);
	free(session->to);
	names->count = own;
}

void names_report(const struct names *names, struct text *text)
{
	for (size_t i = 0; i <= names->count; i++) {
		const char *kind = i < names->count ? names->list[i].kind : "session";
		size_t count = i < names->count ? 0 : names->sessions;
		bool seen = false;

		for (size_t j = 0; j < names->count && i < names->count; j++) {
			if (strcmp(names->list[j].kind, kind) != 0)
				continue;
			seen = seen || j < i;
			count += names->replaced[j];
		}
		if (!seen && count > 0)
			text_printf(text, "%s%s %zu", text->size > 0 ? ", " : "", kind, count);
	}
}
