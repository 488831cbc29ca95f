// Figures from the cgroup file system (usage.h). Runs as the caller, reads only. The files are the
// kernel's (Documentation/admin-guide/cgroup-v2.rst; cgroup-v1/{memory,cpuacct,pids}.rst).
#include "usage.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "frame.h"

#define TEXT_SIZE 4096
#define POLICY_SIZE 16384

const char *const usage_names[USAGE_COUNT] = {
	[USAGE_CPU] = "cpu_usec",
	[USAGE_WALL] = "wall_usec",
	[USAGE_MEMORY_PEAK] = "memory_peak",
	[USAGE_PIDS_PEAK] = "pids_peak",
	[USAGE_MEMORY] = "memory",
	[USAGE_PIDS] = "pids",
	[USAGE_OOM_KILLS] = "oom_kills",
};

// Where a figure is kept. `key` is the word before it in a file of many; a v1 file is in the
// hierarchy of its controller.
static const struct source {
	enum usage_index index;
	const char *v2_file, *v2_key;
	const char *v1_controller, *v1_file, *v1_key;
	unsigned int v1_divisor;
} sources[] = {
	{ USAGE_CPU, "cpu.stat", "usage_usec", "cpuacct", "cpuacct.usage", NULL, 1000 },
	{ USAGE_MEMORY, "memory.current", NULL, "memory", "memory.usage_in_bytes", NULL, 1 },
	{ USAGE_MEMORY_PEAK, "memory.peak", NULL, "memory", "memory.max_usage_in_bytes", NULL, 1 },
	{ USAGE_OOM_KILLS, "memory.events", "oom_kill", "memory", "memory.oom_control", "oom_kill",
	  1 },
	{ USAGE_PIDS, "pids.current", NULL, "pids", "pids.current", NULL, 1 },
	{ USAGE_PIDS_PEAK, "pids.peak", NULL, "pids", "pids.peak", NULL, 1 },
};

// Reads a short file whole. Returns its length, or -1.
static ssize_t text_read(const char *path, char *text, size_t size)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t length = fd < 0 ? -1 : frame_read_full(fd, text, size - 1);

	text[length < 0 ? 0 : length] = '\0';
	return length;
}

void usage_place_find(struct usage_place *place, const char *root, const char *policy)
{
	char text[POLICY_SIZE + 1], *rest = text, *line;

	snprintf(place->root, sizeof(place->root), "%s", root);
	snprintf(place->base, sizeof(place->base), "lodger");
	if (text_read(policy, text, sizeof(text)) < 0)
		return;
	while ((line = strsep(&rest, "\n"))) {
		line[strcspn(line, "#")] = '\0';

		char *save, *word = strtok_r(line, " \t", &save);
		if (!word || strcmp(word, "cgroup") != 0)
			continue;
		word = strtok_r(NULL, " \t", &save);
		if (word)
			snprintf(place->base, sizeof(place->base), "%s", word);
	}
}

static bool unified(const struct usage_place *place)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/cgroup.controllers", place->root) <
		       (int)sizeof(path) &&
	       access(path, F_OK) == 0;
}

// Reads `file` of session `number`; `controller` is NULL in the unified hierarchy.
static ssize_t cgroup_read(const struct usage_place *place, uint32_t number, const char *controller,
			   const char *file, char text[TEXT_SIZE])
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s/%s/%" PRIu32 "/%s", place->root,
		     controller ? controller : "", place->base, number, file) >= (int)sizeof(path))
		return -1;
	return text_read(path, text, TEXT_SIZE);
}

// The number in `text`, or behind the line that begins with `key`.
static uint64_t figure_find(const char *text, const char *key)
{
	const size_t length = key ? strlen(key) : 0;
	uint64_t value;

	while (key && (strncmp(text, key, length) != 0 || text[length] != ' ')) {
		text = strchr(text, '\n');
		if (!text++)
			return USAGE_UNKNOWN;
	}
	return sscanf(text + length, "%" SCNu64, &value) == 1 ? value : USAGE_UNKNOWN;
}

void usage_read(const struct usage_place *place, uint32_t number, struct usage *usage)
{
	const bool v2 = unified(place);
	char text[TEXT_SIZE];

	for (int i = 0; i < USAGE_COUNT; i++)
		usage->value[i] = USAGE_UNKNOWN;
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		const struct source *source = &sources[i];

		if (cgroup_read(place, number, v2 ? NULL : source->v1_controller,
				v2 ? source->v2_file : source->v1_file, text) < 0)
			continue;

		uint64_t value = figure_find(text, v2 ? source->v2_key : source->v1_key);
		if (value != USAGE_UNKNOWN && !v2)
			value /= source->v1_divisor;
		usage->value[source->index] = value;
	}
}

// Whether the place where sessions have their cgroups is there in this hierarchy.
static bool base_exists(const struct usage_place *place, const char *controller)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s/%s", place->root, controller, place->base) <
		       (int)sizeof(path) &&
	       access(path, F_OK) == 0;
}

enum liveness usage_liveness(const struct usage_place *place, uint32_t number)
{
	static const char *const controllers[] = { "pids", "memory", "cpu", "cpuacct" };
	enum liveness liveness = SESSION_UNCLEAR;
	char text[TEXT_SIZE];

	if (unified(place)) {
		if (cgroup_read(place, number, NULL, "cgroup.events", text) >= 0)
			return figure_find(text, "populated") == 1 ? SESSION_LIVES : SESSION_ENDED;
		return base_exists(place, "") ? SESSION_ENDED : SESSION_UNCLEAR;
	}
	for (size_t i = 0; i < sizeof(controllers) / sizeof(controllers[0]); i++) {
		// A process outside of this pid namespace shows as "0": not empty either.
		const ssize_t length =
			cgroup_read(place, number, controllers[i], "cgroup.procs", text);

		if (length >= 0)
			return length > 0 ? SESSION_LIVES : SESSION_ENDED;
		if (base_exists(place, controllers[i]))
			liveness = SESSION_ENDED;
	}
	return liveness;
}
