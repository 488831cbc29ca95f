// Names that a caller gives: sessions, packages, variables. Pure.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "failure.h"

// Takes exactly "lodger-N". Returns N, or 0 with `failure`.
uint32_t session_parse(const char *word, struct failure *failure);

// Refuses what is not an attribute path of nixpkgs, as python3Packages.sympy: nix-shell pastes
// packages into a program text, so anything else would be code.
bool package_check(const char *word, struct failure *failure);

// Refuses what is not NAME=VALUE with a name that a shell could have.
bool variable_check(const char *word, struct failure *failure);

// Whether `word` can be the name of a kind of terminal ($TERM).
bool terminal_name_valid(const char *word);
