// Commands on demand: in a session, the last directory of PATH holds a link for each program of the
// channel's index, and all of them lead to lodger-packages (share/channel/channel.sh).
#pragma once

#include <stdbool.h>

#include "failure.h"

// Whether this program was started by such a link: by a path that ends in another name than its file's.
bool on_demand_called(void);

// Becomes the program that the link is called as, with the words behind argv[0]. Returns only when
// that failed: FAILED.
int on_demand_called_run(char *argv[], struct failure *failure);
