// Conversations as scripts for lodger assistant --replay: recordings without times and figures.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "export_conversation.h"
#include "failure.h"

// Writes the events of `conversation`, one a line.
bool script_write(FILE *file, const struct conversation *conversation, struct failure *failure);
