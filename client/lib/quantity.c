// Quantities (quantity.h). Pure. The forms are checked here before any library function sees the
// word, since those skip blanks and take signs.
#include "quantity.h"

#include <bsd/libutil.h>
#include <bsd/stdlib.h>
#include <stdio.h>
#include <string.h>

#define COUNT_MAX (1LL << 40)
#define DIGITS "0123456789"

// Whether `word` is digits and then at most one letter out of `units`.
static bool form_check(const char *word, const char *units)
{
	const size_t digits = strspn(word, DIGITS);
	const char *unit = word + digits;

	return digits > 0 && digits < 20 &&
	       (*unit == '\0' || (strchr(units, *unit) != NULL && unit[1] == '\0'));
}

bool size_parse(const char *what, const char *word, uint64_t *bytes, struct failure *failure)
{
	if (!form_check(word, "KMGTPEkmgtpe") || expand_number(word, bytes) < 0 ||
	    *bytes > INT64_MAX)
		return fail(failure,
			    "%s: '%s' is not a size; write bytes, or a number and one of "
			    "K, M, G, T, as in 512M",
			    what, word);
	if (*bytes == 0)
		return fail(failure, "%s: the size must be more than 0", what);
	return true;
}

bool duration_parse(const char *what, const char *word, uint64_t *seconds, struct failure *failure)
{
	const size_t digits = strspn(word, DIGITS);
	char number[20];
	const char *error;

	if (!form_check(word, "smhd"))
		return fail(failure,
			    "%s: '%s' is not a time; write seconds, or a number and one of "
			    "s, m, h, d, as in 15m",
			    what, word);
	memcpy(number, word, digits);
	number[digits] = '\0';

	const uint64_t unit = word[digits] == 'm'   ? 60
			      : word[digits] == 'h' ? 3600
			      : word[digits] == 'd' ? 86400
						    : 1;
	const long long value = strtonum(number, 1, (long long)(DURATION_MAX / unit), &error);
	if (error)
		return fail(failure, "%s: '%s' is %s; a time is at least 1s and at most 3650d",
			    what, word, error);
	*seconds = (uint64_t)value * unit;
	return true;
}

bool percent_parse(const char *what, const char *word, uint64_t *percent, struct failure *failure)
{
	const size_t digits = strspn(word, DIGITS);
	char number[20];
	const char *error;

	if (!form_check(word, "%"))
		return fail(failure,
			    "%s: '%s' is not a percentage; write 50 or 50%% for half of one "
			    "CPU, 200 for two",
			    what, word);
	memcpy(number, word, digits);
	number[digits] = '\0';

	const long long value = strtonum(number, 1, PERCENT_MAX, &error);
	if (error)
		return fail(failure, "%s: '%s' is %s; it is 1 to %u percent of one CPU", what, word,
			    error, PERCENT_MAX);
	*percent = (uint64_t)value;
	return true;
}

bool count_parse(const char *what, const char *word, uint64_t *count, struct failure *failure)
{
	const char *error;

	if (!form_check(word, ""))
		return fail(failure, "%s: '%s' is not a number; write digits alone", what, word);

	const long long value = strtonum(word, 1, COUNT_MAX, &error);
	if (error)
		return fail(failure, "%s: '%s' is %s; it is 1 to %lld", what, word, error,
			    COUNT_MAX);
	*count = (uint64_t)value;
	return true;
}

char *size_format(char text[QUANTITY_SIZE], uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	unsigned int unit = 0;
	uint64_t whole = bytes, rest = 0;

	while (whole >= 1024) {
		rest = whole % 1024;
		whole /= 1024;
		unit++;
	}
	if (unit == 0)
		snprintf(text, QUANTITY_SIZE, "%u", (unsigned int)whole);
	else if (rest == 0 || whole >= 100)
		snprintf(text, QUANTITY_SIZE, "%u%c", (unsigned int)whole, units[unit]);
	else
		snprintf(text, QUANTITY_SIZE, "%u.%u%c", (unsigned int)whole,
			 (unsigned int)(rest * 10 / 1024), units[unit]);
	return text;
}

char *duration_format(char text[QUANTITY_SIZE], uint64_t seconds)
{
	const unsigned int minute = seconds / 60 % 60, hour = seconds / 3600 % 24;

	if (seconds < 60)
		snprintf(text, QUANTITY_SIZE, "%us", (unsigned int)seconds);
	else if (seconds < 3600)
		snprintf(text, QUANTITY_SIZE, "%um%02us", minute, (unsigned int)(seconds % 60));
	else if (seconds < 86400)
		snprintf(text, QUANTITY_SIZE, "%uh%02um", hour, minute);
	else
		snprintf(text, QUANTITY_SIZE, "%llud%02uh", (unsigned long long)seconds / 86400,
			 hour);
	return text;
}
