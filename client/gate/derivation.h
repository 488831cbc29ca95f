// The outputs that a derivation's file in the store says it makes.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "paths.h"

// Most outputs; nixpkgs has derivations of a dozen.
#define DERIVATION_OUTPUTS 64U
// How far the list of outputs, which a file begins with, may reach.
#define DERIVATION_HEAD 65536U

struct output {
	struct view name;
	struct view path;
	bool fixed; // its content is fixed beforehand: to build it is to fetch it
};

struct derivation {
	struct output outputs[DERIVATION_OUTPUTS];
	size_t count;
};

// Parses what a .drv file begins with: `Derive([("NAME","PATH","",""),…],[`. Strictly: what Nix
// would read in another way, or takes without writing it (escapes, missing commas, a name twice), is
// refused. So is an output without a path, which no cache can be asked for. `derivation` points into
// `text`. Returns NULL, or what is wrong, for people.
const char *derivation_parse(struct view text, struct derivation *derivation);

// Reads the file of a store path (which paths_derivation holds for) below the descriptor of the
// store, through no link, and parses it. `derivation` points into static memory until the next call.
// Returns as above.
const char *derivation_read(int store, struct view path, struct derivation *derivation);

// Returns the output of that name, or NULL.
const struct output *derivation_output(const struct derivation *derivation, struct view name);
