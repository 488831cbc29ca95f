// Data for programs. The forms are described in lodger(1).
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "failure.h"
#include "session_list.h"
#include "usage.h"

// {"memory": BYTES, "pids": N, "cpu": PERCENT, "disk": BYTES, "inodes": N, "ttl": SECONDS}
json_t *json_limits(const uint64_t limits[LIMIT_COUNT]);

// The figures by their names (usage_names); null: this kernel does not keep it.
json_t *json_usage(const struct usage *usage);

// {"session": "lodger-7", "uid": UID, "owner": NAME, "owner_uid": UID, "state":
// "live|ended|unclear",
//  "created": SECONDS SINCE 1970, "age": SECONDS, "remaining": SECONDS, "network": "none|host",
//  "limits": …, "usage": …}
json_t *json_session(const struct session *session, const struct usage *usage);

// Prints `value` on standard output and gives it back.
bool json_print(json_t *value, struct failure *failure);

// Whether all that was printed on standard output has got there.
bool output_check(struct failure *failure);
