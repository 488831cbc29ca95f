// proto/policy.c on every text. Eva keeps no relation between where a pointer is and how far its
// string goes, so the functions that cut and measure strings stand for what they promise. Each
// line, and each word, is a string of its own that begins where its array does; the first word of
// a line has nothing before it, the others have what separated them. What that leaves out of
// number_parse() is done with words of each exact length.
#include "driver.h"

#include <bsd/libutil.h>

char *strsep(char **rest, const char *delimiters);

#include "../../../proto/policy.c"

static char line_text[POLICY_SIZE_MAX + 1];
// Many arrays, not one of many: Eva would not mind a step from one row into the one before it.
#define WORD_SIZE (POLICY_SIZE_MAX + 1)
static char word_0[WORD_SIZE], word_1[WORD_SIZE], word_2[WORD_SIZE], word_3[WORD_SIZE],
	word_4[WORD_SIZE], word_5[WORD_SIZE], word_6[WORD_SIZE];
// One more than there is room for.
static char *const word_text[7] = { word_0, word_1, word_2, word_3, word_4, word_5, word_6 };
// Eva looks at each value of these two on its own: how many words there are, and whether the last
// call gave one.
static int words_taken, word_new;
// How many digits strspn(3) is to find; -1: as many as there could be.
static int span = -1;

size_t strspn(const char *text, const char *accepted)
{
	size_t length = strlen(text);

	return span >= 0 && accepted[0] == '0' ? (size_t)span : (size_t)any(0, (int)length);
}

size_t strcspn(const char *text, const char *refused)
{
	size_t length = strlen(text);

	(void)strlen(refused);
	return (size_t)any(0, (int)length);
}

// libbsd's; it goes no further than the string.
int expand_number(const char *text, uint64_t *value)
{
	size_t length = strlen(text);

	(void)length;
	if (any(0, 1))
		return -1;
	fill(value, sizeof(*value));
	return 0;
}

// The text is cut at newlines into lines, and a line at blanks into words.
char *strsep(char **rest, const char *delimiters)
{
	char *start = *rest;

	word_new = 0;
	if (!start)
		return NULL;
	if (any(0, 1))
		*rest = NULL;
	if (delimiters[0] == '\n') {
		words_taken = 0;
		fill(line_text, POLICY_SIZE_MAX);
		line_text[POLICY_SIZE_MAX] = '\0';
		return line_text;
	}
	if (words_taken == 7 || any(0, 1))
		return ""; // two delimiters side by side
	char *word = words_taken == 0 ? word_text[0] : word_text[words_taken] + 1 - BEYOND;
	fill(word, POLICY_SIZE_MAX - 1);
	word[0] = (char)any(1, 127);
	word_text[words_taken][POLICY_SIZE_MAX] = '\0';
	words_taken++;
	word_new = 1;
	return word;
}

static struct policy policy;
static struct caller caller;

// Words of each length up to where number_parse() looks no further, with each number of digits at
// their beginning, up against the array's end.
static void numbers(void)
{
	//@ loop unroll 24;
	for (int size = 1; size <= 24; size++) {
		//@ loop unroll 24;
		for (span = 0; span < size; span++) {
			char word[24];
			char *start = word + sizeof(word) - size;
			uint64_t value = 0;

			fill(word, sizeof(word) - 1);
			if (span < size - 1)
				start[span] = (char)any('A', 'z');
			word[sizeof(word) - 1] = '\0';
			number_parse(start, &value);
		}
	}
	span = -1;
}

// Whatever was asked for, against whatever a policy says: what is granted is within its bounds, each
// limit by itself.
static void limits(void)
{
	uint64_t asked[LIMIT_COUNT];

	fill(&policy.defaults, sizeof(policy.defaults));
	fill(&policy.maxima, sizeof(policy.maxima));
	fill(asked, sizeof(asked));
	const int i = policy_apply(&policy, asked);
	//@ assert index: 0 <= i <= LIMIT_COUNT;
	if (i < LIMIT_COUNT)
		asked[i] = policy.maxima[i];
}

int main(void)
{
	const char *problem;

	//@ widen_hints global:"all", 64;
	fill(&caller, sizeof(caller));
	caller.group_count = any(0, 256);
	if (!BEYOND)
		numbers();
	policy_parse(&policy, &caller, &problem);
	//@ assert paths: policy.path_count <= POLICY_PATHS_MAX;
	limits();
	return 0;
}
