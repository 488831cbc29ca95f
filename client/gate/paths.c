// Names as the daemon has them (paths.h). Runs in workers, on what clients wrote.
#include "paths.h"

#include <string.h>

static const char store[] = PATHS_STORE "/";
static const char derivation[] = ".drv";

bool view_equal(struct view one, struct view other)
{
	return one.size == other.size &&
	       (one.size == 0 || memcmp(one.text, other.text, one.size) == 0);
}

bool view_is(struct view view, const char *text)
{
	return view_equal(view, (struct view){ text, strlen(text) });
}

static bool letter(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool made_of(struct view view, const char *others)
{
	for (size_t i = 0; i < view.size; i++) {
		const char c = view.text[i];

		if (!letter(c) && (c == '\0' || strchr(others, c) == NULL))
			return false;
	}
	return true;
}

// Nix's own alphabet: no e, o, t, u.
bool paths_hash(struct view hash)
{
	if (hash.size != PATHS_HASH)
		return false;
	for (size_t i = 0; i < hash.size; i++) {
		const char c = hash.text[i];

		if (c == '\0' || strchr("0123456789abcdfghijklmnpqrsvwxyz", c) == NULL)
			return false;
	}
	return true;
}

bool paths_name(struct view name)
{
	if (name.size == 0 || name.size > PATHS_NAME_MAX || !made_of(name, "+-._?="))
		return false;
	// As 2.26 has it; 2.8 takes these too.
	if (name.text[0] != '.')
		return true;
	const size_t dots = name.size > 1 && name.text[1] == '.' ? 2 : 1;
	return name.size > dots && name.text[dots] != '-';
}

bool paths_store(struct view path)
{
	const size_t start = sizeof(store) - 1;

	if (path.size <= start + PATHS_HASH + 1 || memcmp(path.text, store, start) != 0 ||
	    path.text[start + PATHS_HASH] != '-')
		return false;
	return paths_hash((struct view){ path.text + start, PATHS_HASH }) &&
	       paths_name((struct view){ path.text + start + PATHS_HASH + 1,
					 path.size - start - PATHS_HASH - 1 });
}

bool paths_derivation(struct view path)
{
	const size_t end = sizeof(derivation) - 1;

	return paths_store(path) && memcmp(path.text + path.size - end, derivation, end) == 0;
}

bool paths_output(struct view name)
{
	return name.size > 0 && name.size <= PATHS_OUTPUT_MAX && made_of(name, "+-._?=");
}

bool paths_realisation(struct view id)
{
	static const char algorithm[] = "sha256:";
	const size_t start = sizeof(algorithm) - 1, digits = 64;

	if (id.size <= start + digits + 1 || memcmp(id.text, algorithm, start) != 0 ||
	    id.text[start + digits] != '!')
		return false;
	for (size_t i = 0; i < digits; i++) {
		const char c = id.text[start + i];

		if (c == '\0' || strchr("0123456789abcdef", c) == NULL)
			return false;
	}
	return paths_output(
		(struct view){ id.text + start + digits + 1, id.size - start - digits - 1 });
}

bool paths_wanted(struct view text, struct wanted *wanted)
{
	const char *mark = text.size > 0 ? memchr(text.text, '!', text.size) : NULL;
	struct view list, name;

	if (mark == NULL) {
		*wanted = (struct wanted){ .path = text };
		return paths_store(text);
	}
	*wanted = (struct wanted){
		.path = { text.text, (size_t)(mark - text.text) },
		.outputs = { mark + 1, text.size - (size_t)(mark - text.text) - 1 },
	};
	if (!paths_derivation(wanted->path) || wanted->outputs.size == 0)
		return false;
	if (view_is(wanted->outputs, "*"))
		return true;
	// A comma at the end would be passed over below.
	if (wanted->outputs.text[wanted->outputs.size - 1] == ',')
		return false;
	list = wanted->outputs;
	while (paths_next_output(&list, &name)) {
		if (!paths_output(name))
			return false;
	}
	return true;
}

bool paths_next_output(struct view *list, struct view *name)
{
	if (list->size == 0)
		return false;

	const char *comma = memchr(list->text, ',', list->size);
	const size_t size = comma != NULL ? (size_t)(comma - list->text) : list->size;
	const size_t taken = comma != NULL ? size + 1 : size;

	*name = (struct view){ list->text, size };
	*list = (struct view){ list->text + taken, list->size - taken };
	return true;
}
