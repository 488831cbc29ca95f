// Checks of names (names.h). Pure.
#include "names.h"

#include <string.h>

#include "session.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define PACKAGE_MAX 256

uint32_t session_parse(const char *word, struct failure *failure)
{
	const uint32_t number = session_number(word);

	if (number == 0)
		fail(failure,
		     "'%s' is not the name of a session; they are called lodger-N, and "
		     "lodger list shows yours",
		     word);
	return number;
}

bool package_check(const char *word, struct failure *failure)
{
	const char *part = word;

	for (;;) {
		// An attribute: a letter or underscore, then also digits, ' and -.
		if (*part == '\0' || strchr(LETTERS "_", *part) == NULL)
			break;
		part += strspn(part, LETTERS DIGITS "_'-");
		if (*part == '\0' && (size_t)(part - word) <= PACKAGE_MAX)
			return true;
		if (*part++ != '.')
			break;
	}
	return fail(failure,
		    "'%s' is not the name of a package; write an attribute of nixpkgs, as jq "
		    "or python3Packages.sympy",
		    word);
}

bool variable_check(const char *word, struct failure *failure)
{
	const size_t name = strspn(word, LETTERS DIGITS "_");

	if (name == 0 || strchr(DIGITS, word[0]) != NULL || word[name] != '=')
		return fail(failure,
			    "--env: '%s' is not NAME=VALUE, with a name of letters, digits "
			    "and underscores",
			    word);
	return true;
}

bool terminal_name_valid(const char *word)
{
	const size_t length = strspn(word, LETTERS DIGITS "._+-");

	return length > 0 && length <= 64 && word[length] == '\0';
}
