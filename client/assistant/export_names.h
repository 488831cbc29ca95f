// The names and paths of the caller and of sessions, which an export has neutral ones for.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "export_conversation.h"
#include "export_text.h"

#define NAMES_MAX 24

struct name {
	const char *kind; // "login name", for the report
	char *from, *to;
	bool any_case; // A to Z and a to z are the same
};

struct names {
	struct name list[NAMES_MAX];
	size_t count;
	size_t replaced[NAMES_MAX]; // how often
	size_t sessions;	    // and how often names of sessions
	bool lost;		    // memory was not to be had
};

// Finds the names of this process's user and machine, and the directory it is called in. What is
// nobody's own (root, /tmp, localhost) is left out.
void names_find(struct names *names);
void names_free(struct names *names);

// Adds one. What is empty, or has become the same as what it would be replaced by, is left out.
void names_add(struct names *names, const char *kind, const char *from, const char *to,
	       bool any_case);

// Adds login, real name (as in GECOS, whole and its parts), home, working directory, host name.
void names_add_login(struct names *names, const char *login);
void names_add_real(struct names *names, const char *gecos);
void names_add_directories(struct names *names, const char *home, const char *working);
void names_add_host(struct names *names, const char *host);

// Replaces all of them in `text`, the longest first, where no letter, digit or underscore stands
// beside them. What begins with a slash may also continue a longer path.
void names_replace(struct names *names, struct text *text);

// Replaces them in all texts of `conversation`, and the name of its session.
void names_replace_all(struct names *names, struct conversation *conversation);

// Writes "login name 3, home directory 1"; "" when nothing was replaced.
void names_report(const struct names *names, struct text *text);
