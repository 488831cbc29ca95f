// Words for bash: nix-shell --run takes a program text, not a list of words.
#pragma once

// Joins `words` (NULL-terminated) with blanks, each quoted so that bash reads exactly that word
// back, whatever bytes are in it. Returns memory to be freed, or NULL when there is none.
char *shellquote(char *const words[]);
