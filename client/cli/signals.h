// Signal dispositions that lodger changes for itself, and gives back before it becomes another program.
#pragma once

// SIGPIPE is ignored (a write fails instead), SIGCHLD is not.
void signals_take(void);

// As the caller had them.
void signals_restore(void);
