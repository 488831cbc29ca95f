// Names as the daemon has them: store paths, outputs, requests to build. Pure; every function takes
// text that a client wrote, of any bytes, not NUL-terminated.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The only store that Lodger knows. Its directory, and the length of the hash that names begin with.
#define PATHS_STORE "/nix/store"
#define PATHS_HASH 32U
// Longest name behind hash and dash (path.cc of Nix 2.8, path.hh of 2.26).
#define PATHS_NAME_MAX 211U
// Longest store path.
#define PATHS_MAX (sizeof(PATHS_STORE "/") - 1 + PATHS_HASH + 1 + PATHS_NAME_MAX)
// Most characters of an output's name. Nix has no limit but that of the store path it ends up in.
#define PATHS_OUTPUT_MAX PATHS_NAME_MAX

struct view {
	const char *text;
	size_t size;
};

// Whether two texts are the same, byte for byte.
bool view_equal(struct view one, struct view other);
bool view_is(struct view view, const char *text);

// Whether it is the name of a store object: the part behind hash and dash.
bool paths_name(struct view name);
// Whether it is a whole store path and nothing else: no file below it, no `..`, no other spelling.
// The daemon itself is more lenient.
bool paths_store(struct view path);
// Whether it is a hash, which store paths begin with.
bool paths_hash(struct view hash);
// Whether a store path is of a derivation.
bool paths_derivation(struct view path);
// Whether it is an output's name.
bool paths_output(struct view name);
// Whether it names one output of a derivation by hash: `sha256:HEX!NAME` (DrvOutput of Nix's
// realisation.cc).
bool paths_realisation(struct view id);

// What a client wants built: a path, or outputs of a derivation.
struct wanted {
	struct view path;
	struct view
		outputs; // between commas; "*" for all; no text at all where `path` itself is wanted
};

// Takes apart `PATH` or `DRV!OUTPUTS` (to_string_legacy of derived-path.cc; 2.26 writes the same to
// whoever speaks 1.34). Returns false for all else: derivations that are outputs of derivations
// (more than one `!`), empty lists, which the daemon takes for "all", empty names.
bool paths_wanted(struct view text, struct wanted *wanted);

// Takes the next name from a list of outputs that paths_wanted accepted. Returns false at its end.
bool paths_next_output(struct view *list, struct view *name);
