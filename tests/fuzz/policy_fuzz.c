// The text of the policy file (proto/policy.h), for a caller of two groups.
// Holds: what is refused names a line of the text; what is accepted has numbers that no product of
// the helper's overflows and absolute paths of plain components alone; written down again in the
// plainest form it means the same; and a line for a group that the caller is not in changes nothing.
#include "fuzz.h"

#include <ctype.h>
#include <stdio.h>

#include "policy.h"

static const struct caller caller = {
	.uid = 1000, .gid = 1000, .group_count = 1, .groups = { 27 }
};

static void path_holds(const char *path)
{
	assert(*path == '/');
	while (*path) {
		assert(*path++ == '/' && *path != '.');
		const char *start = path;
		for (; *path && *path != '/'; path++)
			assert(isalnum((unsigned char)*path) || strchr("._+-", *path));
		assert(path > start);
	}
}

// A number is digits, and of the letters behind it only those that lodger.conf(5) lists.
static void numbers_hold(char *text)
{
	for (char *line; (line = strsep(&text, "\n"));) {
		char *value = NULL;
		bool number = false;

		line[strcspn(line, "#")] = '\0';
		for (char *word; (word = strsep(&line, " \t"));) {
			number = number || strcmp(word, "default") == 0 ||
				 strcmp(word, "maximum") == 0;
			value = *word ? word : value;
		}
		if (!number)
			continue;
		value += strspn(value, "0123456789");
		assert(*value == '\0' || (strchr("KMGTkmgt", *value) && value[1] == '\0'));
	}
}

static void accepted_holds(const struct policy *policy)
{
	char absolute[POLICY_SIZE_MAX + 2];

	for (int i = 0; i < MAXIMUM_COUNT; i++)
		assert(policy->defaults[i] <= 1ULL << 40 && policy->maxima[i] <= 1ULL << 40);
	assert(policy->path_count <= POLICY_PATHS_MAX);
	for (size_t i = 0; i < policy->path_count; i++)
		path_holds(policy->paths[i].path);
	snprintf(absolute, sizeof(absolute), "/%s", policy->cgroup);
	path_holds(absolute);
}

static bool same(const struct policy *a, const struct policy *b)
{
	if (memcmp(a->defaults, b->defaults, sizeof(a->defaults)) != 0 ||
	    memcmp(a->maxima, b->maxima, sizeof(a->maxima)) != 0 ||
	    a->network_host != b->network_host ||
	    memcmp(a->optional, b->optional, sizeof(a->optional)) != 0 ||
	    strcmp(a->cgroup, b->cgroup) != 0 || a->path_count != b->path_count)
		return false;
	for (size_t i = 0; i < a->path_count; i++)
		if (a->paths[i].device != b->paths[i].device ||
		    strcmp(a->paths[i].path, b->paths[i].path) != 0)
			return false;
	return true;
}

// Writes down what `policy` says, and between the lines what is for another group.
static void plainest(const struct policy *policy, struct policy *to)
{
	FILE *text = fmemopen(to->text, sizeof(to->text), "w");

	assert(text);
	fprintf(text, "cgroup %s\ngroup 28 allow network-host\n", policy->cgroup);
	for (int i = 0; i < MAXIMUM_COUNT; i++) {
		if (i < LIMIT_COUNT)
			fprintf(text, "default %s %llu\n", policy_keys[i].name,
				(unsigned long long)policy->defaults[i]);
		fprintf(text, "group 27 maximum %s %llu # as a group that the caller is in\n",
			policy_keys[i].name, (unsigned long long)policy->maxima[i]);
		fprintf(text, "group 28 maximum %s 0\n", policy_keys[i].name);
	}
	for (int i = 0; i < OPTIONAL_COUNT; i++)
		if (policy->optional[i])
			fprintf(text, "optional %s\n", policy_optional_names[i]);
	for (size_t i = 0; i < policy->path_count; i++)
		fprintf(text, "\t%s   %s\n", policy->paths[i].device ? "device" : "expose",
			policy->paths[i].path);
	if (policy->network_host)
		fprintf(text, "allow network-host");
	fclose(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy *policy = calloc(1, sizeof(*policy)), *second = calloc(1, sizeof(*second));
	const char *problem = NULL;
	unsigned int lines = 1;
	char *copy = calloc(1, size + 1);

	assert(policy && second && copy);
	// As policy_load of the helper, which refuses both.
	if (size > POLICY_SIZE_MAX || memchr(data, '\0', size))
		size = 0;
	memcpy(policy->text, data, size);
	memcpy(copy, data, size);
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';

	const unsigned int wrong = policy_parse(policy, &caller, &problem);
	assert(wrong <= lines && (wrong == 0) == (problem == NULL));
	if (wrong == 0) {
		accepted_holds(policy);
		numbers_hold(copy);
		// A path is at least three bytes shorter than its line: the text has room enough, but
		// for one that is nearly as long as it may be.
		plainest(policy, second);
		if (strlen(second->text) < POLICY_SIZE_MAX - 1) {
			assert(policy_parse(second, &caller, &problem) == 0);
			assert(same(policy, second));
		}
	}
	free(policy);
	free(second);
	free(copy);
	return 0;
}
