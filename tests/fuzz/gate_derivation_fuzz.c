// What a derivation's file begins with (client/gate/derivation.h).
// Holds: what is taken is, written down again, exactly what was read up to the end of its outputs; they
// have names and store paths, no name twice. Refused is refused with a sentence. Of a text that is
// taken, none that is cut short is.
#include <stdio.h>

#include "derivation.h"
#include "fuzz.h"

static size_t written(char *to, size_t room, const struct derivation *derivation,
		      const struct view text)
{
	size_t used = (size_t)snprintf(to, room, "Derive([");
	const char *at = text.text + used;

	for (size_t i = 0; i < derivation->count; i++) {
		const struct output *output = &derivation->outputs[i];
		const int head =
			snprintf(to + used, room - used, "%s(\"%.*s\",\"%.*s\",\"",
				 i > 0 ? "," : "", (int)output->name.size, output->name.text,
				 (int)output->path.size, output->path.text);

		used += (size_t)head;
		at = text.text + used;
		// The other two strings have none in them.
		while (*at != ')') {
			to[used++] = *at++;
			assert(used < room);
		}
		to[used++] = ')';
	}
	memcpy(to + used, "],[", 3);
	return used + 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct derivation derivation, cut;
	const struct view text = { (const char *)data, size };
	const char *problem = derivation_parse(text, &derivation);

	if (problem != NULL) {
		assert(problem[0] != '\0');
		return 0;
	}
	assert(derivation.count > 0 && derivation.count <= DERIVATION_OUTPUTS);
	for (size_t i = 0; i < derivation.count; i++) {
		const struct output *output = &derivation.outputs[i];

		assert(paths_output(output->name) && paths_store(output->path));
		assert(derivation_output(&derivation, output->name) == output);
	}
	// At its shortest, and one less.
	size_t least = size;
	while (least > 0 && derivation_parse((struct view){ text.text, least }, &cut) == NULL)
		least--;
	least++;
	assert(memcmp(text.text + least - 3, "],[", 3) == 0);
	char *again = malloc(least + 8);
	assert(again);
	assert(written(again, least + 8, &derivation, text) == least);
	assert(memcmp(again, text.text, least) == 0);
	free(again);
	return 0;
}
