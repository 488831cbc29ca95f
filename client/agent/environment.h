// The environment that jobs start with.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "order.h"

// Makes the environment of a job in session `number` from nothing but the session's own variables
// and the order's, which win over the former and over earlier ones of their own. Returns a
// NULL-terminated list in static memory until the next call; it borrows the order's strings.
char **environment_make(uint32_t number, const struct exec_order *exec);

// From now on, in this process and those that it forks: jobs are to have no commands on demand.
void environment_auto_off(void);

// The same for: the session has the host's proxy, and programs are to use it.
void environment_proxy_on(void);

// The lodger's home: "/home/lodger-N" in static memory.
const char *environment_home(uint32_t number);
