// The daemon's protocol in numbers (Nix's worker-protocol.hh), at the one version that the gate speaks.
#pragma once

#define GREETING_CLIENT 0x6e697863U
#define GREETING_DAEMON 0x6478696fU

// 1.34: what Nix 2.8 speaks, and 2.26 still does. Later ones have options of which the gate knows
// nothing, so neither side learns that the other could speak them.
#define VERSION(minor) (1U << 8 | (minor))
#define VERSION_SPOKEN VERSION(34U)
#define VERSION_MAJOR(version) ((version)&0xff00U)

enum saying {
	SAYING_LINE = 0x6f6c6d67,     // STDERR_NEXT
	SAYING_READ = 0x64617461,     // the daemon wants bytes: not in what is passed on
	SAYING_WRITE = 0x64617416,    // the daemon has bytes: the same
	SAYING_LAST = 0x616c7473,     // done
	SAYING_ERROR = 0x63787470,    // failed
	SAYING_START = 0x53545254,    // STDERR_START_ACTIVITY
	SAYING_STOP = 0x53544f50,     // STDERR_STOP_ACTIVITY
	SAYING_PROGRESS = 0x52534c54, // STDERR_RESULT
};

// Kinds of an activity's fields.
enum field {
	FIELD_NUMBER = 0,
	FIELD_STRING = 1,
};
