// lodger collect (command.h). Runs as the caller; the helper does it.
#include <stdio.h>

#include "command.h"
#include "helper_call.h"
#include "json_output.h"

int collect_run(const struct options *options, struct failure *failure)
{
	uint32_t count;

	if (!helper_collect(&count, NULL, failure))
		return FAILED;
	if (options->json) {
		// {"collected": N}
		json_t *object = json_object();

		json_object_set_new(object, "collected", json_integer(count));
		return json_print(object, failure) ? 0 : FAILED;
	}
	printf("%u dead session%s removed\n", count, count == 1 ? "" : "s");
	return 0;
}
