// The text of the policy file (policy.h). Pure. In the helper root runs it, on a file that only
// root can write; a line that is not understood is refused: nothing of a policy is ever guessed.
// The grammar is in share/lodger.conf.sample and lodger.conf(5).
#include "policy.h"

#include <bsd/libutil.h>
#include <limits.h>
#include <string.h>

// Keeps every later sum and product (microseconds, CPU quota) inside 64 bits.
#define VALUE_MAX (1ULL << 40)
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._+-"

const struct policy_key policy_keys[MAXIMUM_COUNT] = {
	[LIMIT_MEMORY] = { "memory", 1UL << 30, 8UL << 20 },
	[LIMIT_PIDS] = { "pids", 128, 4 },
	[LIMIT_CPU] = { "cpu", 100, 1 },
	[LIMIT_DISK] = { "disk", 1UL << 30, 1UL << 20 },
	[LIMIT_INODES] = { "inodes", 100000, 256 },
	[LIMIT_TTL] = { "ttl", 28800, 1 },
	[MAXIMUM_SESSIONS] = { "sessions", 256, 0 },
	[MAXIMUM_PER_CALLER] = { "sessions-per-caller", 16, 0 },
};

const char *const policy_optional_names[OPTIONAL_COUNT] = { "memory", "swap", "pids", "cpu" };

// Digits and perhaps one letter of K, M, G, T. expand_number(3) of libbsd alone would take other
// letters too, more of them behind the first, and a sign.
static bool number_parse(const char *word, uint64_t *value)
{
	size_t digits = strspn(word, "0123456789");
	size_t letters = strspn(word + digits, "KMGTkmgt");

	return digits > 0 && digits < 16 && letters <= 1 && word[digits + letters] == '\0' &&
	       expand_number(word, value) == 0 && *value <= VALUE_MAX;
}

// An absolute path of plain components: no "..", no "//", nothing that needs quoting.
static bool path_check(const char *path)
{
	size_t length = strlen(path);

	return path[0] == '/' && length > 1 && length < PATH_MAX && path[length - 1] != '/' &&
	       path[strspn(path, LETTERS)] == '\0' && !strstr(path, "//") && !strstr(path, "/.");
}

static bool group_has(const struct caller *caller, uint64_t gid)
{
	for (int i = 0; i < caller->group_count; i++)
		if (caller->groups[i] == gid)
			return true;
	return caller->gid == gid;
}

// "default KEY VALUE" and "maximum KEY VALUE".
static const char *limit_line(uint64_t values[], int count, char *const words[])
{
	for (int i = 0; i < count; i++)
		if (strcmp(words[1], policy_keys[i].name) == 0)
			return number_parse(words[2], &values[i])
				       ? NULL
				       : "the value is not a number (that may end in K, M, G or T)";
	return "no such limit";
}

// "allow network-host", "auto yes" and "auto no".
static bool switch_line(struct policy *policy, char *const words[])
{
	const bool no = strcmp(words[1], "no") == 0;

	if (strcmp(words[0], "allow") == 0 && strcmp(words[1], "network-host") == 0)
		return policy->network_host = true;
	if (strcmp(words[0], "auto") != 0 || (!no && strcmp(words[1], "yes") != 0))
		return false;
	policy->auto_off = no;
	return true;
}

static const char *line_parse(struct policy *policy, const struct caller *caller, char **words,
			      size_t count)
{
	struct policy *target = policy;
	bool grouped = strcmp(words[0], "group") == 0;
	static struct policy ignored;
	uint64_t gid;

	if (grouped) {
		if (count < 4 || !number_parse(words[1], &gid))
			return "group is followed by a numeric gid and a line that is for it alone";
		// Checked even when it does not apply.
		if (!group_has(caller, gid))
			target = &ignored;
		words += 2;
		count -= 2;
	}
	if (count == 3 && strcmp(words[0], "default") == 0)
		return limit_line(target->defaults, LIMIT_COUNT, words);
	if (count == 3 && strcmp(words[0], "maximum") == 0)
		return limit_line(target->maxima, MAXIMUM_COUNT, words);
	if (count == 2 && switch_line(target, words))
		return NULL;
	if (grouped || count != 2)
		return "not a line of a policy";
	for (int i = 0; i < OPTIONAL_COUNT && strcmp(words[0], "optional") == 0; i++) {
		if (strcmp(words[1], policy_optional_names[i]) == 0) {
			policy->optional[i] = true;
			return NULL;
		}
	}
	if (strcmp(words[0], "cgroup") == 0) {
		// Checked as the absolute path that it will be part of; the blank before it is
		// ours.
		words[1][-1] = '/';
		policy->cgroup = words[1];
		return path_check(words[1] - 1) ? NULL : "not a path of plain components";
	}
	if (strcmp(words[0], "expose") != 0 && strcmp(words[0], "device") != 0)
		return "not a line of a policy";
	if (!path_check(words[1]) || policy->path_count == POLICY_PATHS_MAX)
		return "not an absolute path of plain components, or one too many";
	policy->paths[policy->path_count].device = words[0][0] == 'd';
	policy->paths[policy->path_count++].path = words[1];
	return NULL;
}

unsigned int policy_parse(struct policy *policy, const struct caller *caller, const char **problem)
{
	char *rest = policy->text, *line, *word, *words[6];
	unsigned int number = 0;

	for (int i = 0; i < MAXIMUM_COUNT; i++)
		policy->defaults[i] = policy->maxima[i] = policy_keys[i].builtin;
	policy->cgroup = "lodger";

	while ((line = strsep(&rest, "\n"))) {
		size_t count = 0;

		number++;
		line[strcspn(line, "#")] = '\0';
		while (count < sizeof(words) / sizeof(words[0]) && (word = strsep(&line, " \t")))
			if (*word)
				words[count++] = word;
		if (count == 0)
			continue;
		*problem = line_parse(policy, caller, words, count);
		if (*problem)
			return number;
	}
	return 0;
}

int policy_apply(const struct policy *policy, uint64_t limits[LIMIT_COUNT])
{
	int i;

	for (i = 0; i < LIMIT_COUNT; i++) {
		const uint64_t most = policy->maxima[i];

		if (limits[i] == 0)
			limits[i] = policy->defaults[i] < most ? policy->defaults[i] : most;
		if (limits[i] > most || limits[i] < policy_keys[i].least)
			break;
	}
	return i;
}
