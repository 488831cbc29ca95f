// Arguments of put and get (copy.h). Runs as the caller.
#include "copy.h"

#include "names.h"

#define MAX_DEFAULT (1ULL << 30)
#define TIMEOUT_DEFAULT 3600U
#define EXIT_SKIPPED 1

int copy_run(const struct options *options, copier *copy, struct failure *failure)
{
	const int last = options->argument_count - 1;
	const uint64_t max = options->max ? options->max : MAX_DEFAULT;
	const uint64_t timeout = options->timeout ? options->timeout : TIMEOUT_DEFAULT;
	struct transfer transfer = {
		.number = session_parse(options->arguments[0], failure),
		.budget = max,
		.max = max,
		.deadline = clock_boot_usec() + timeout * 1000000U,
	};

	if (transfer.number == 0)
		return FAILED;
	for (int i = 1; i <= last; i++) {
		if (*options->arguments[i] == '\0') {
			fail(failure, "copying: an empty file name");
			return FAILED;
		}
	}
	if (!copy(&transfer, options->arguments + 1, (size_t)last - 1, options->arguments[last],
		  failure))
		return FAILED;
	if (transfer.skipped == 0)
		return 0;
	notice("%u skipped in all", transfer.skipped);
	return EXIT_SKIPPED;
}
