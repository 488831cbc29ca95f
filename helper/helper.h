// Everything that the files of the helper share, file by file. Each declaration says what it takes,
// returns and refuses; "refuses" means: answers the caller with a code and a sentence, and exits.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"
#include "frame.h"
#include "helper.pb-c.h"
#include "policy.h"
#include "request.h"
#include "session.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CODE(name) LODGER__HELPER__CODE__CODE_##name
#define NETWORK(name) LODGER__HELPER__NETWORK__NETWORK_##name
// How root opens things: no link is followed, nothing is left open across execve(2).
#define OPEN_SAFE (O_NOFOLLOW | O_CLOEXEC)
#define OPEN_DIRECTORY (O_RDONLY | O_DIRECTORY | OPEN_SAFE)

// report.c ---------------------------------------------------------------------------------------

// For the log: on whose behalf, and what is being done.
extern uid_t report_caller;
extern uint32_t report_operation; // enum operation
// Where a session leader tells its parent what went wrong; -1 in every other process.
extern int report_parent;
// Called once before a refusal is answered.
extern void (*report_undo)(void);

// One line to syslog: who, what and `detail`.
void report_log(bool refused, const char *detail);

// Logs the message unless it is empty, answers with `code` and exits; if that is neither OK nor ALREADY_GONE, a refusal, undoes
// first. `field` names what in the request or policy is to blame, or is "".
_Noreturn void report(Lodger__Helper__Code code, const char *field, uint32_t session,
		      uint32_t collected, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
#define refuse(code, field, ...) report(code, field, 0, 0, __VA_ARGS__)

// refuse(CODE(SYSTEM)) for a failed call: "doing object: what errno says".
_Noreturn void die(const char *doing, const char *object);

// guard.c ----------------------------------------------------------------------------------------

// Steps 1 and 2 of DESIGN.md section 2: checks how the helper was called, then takes away all that
// a caller can hand down through execve(2). Fills `caller`. Refuses, or exits with a
// HELPER_EXIT_ status while there is nobody who could be answered.
void guard_start(int argc, char *const argv[], struct caller *caller);

// Step 3: real uid 0, a session of its own, a normal scheduling class.
void guard_detach(void);

// privilege.c ------------------------------------------------------------------------------------

#define CAPABILITY(name) (1ULL << (name))

// Step 4: keeps permitted what the table in privilege.c lists, drops the rest for good (bounding
// and inheritable sets too; the ambient one is emptied by a set-user-ID exec) and leaves the effective set empty.
void capability_keep(void);

// Makes `set`, an "or" of CAPABILITY(…), the effective set. Refuses when the kernel does not.
void capability_use(uint64_t set);

// Refuses unless real, effective and saved uid and gid are all `id` and no other group is left:
// what a successful setresuid(2) claims is read back.
void identity_check(uid_t id);

// Gives up for good all permitted capabilities but those in `set`.
void capability_only(uint64_t set);

// Becomes uid and gid `id` for good: no group, no capability in any set, securebits locked.
void identity_become(uid_t id);

// filter.c ---------------------------------------------------------------------------------------

// Denies this process, and with it every session, what neither has any use for.
void filter_start(void);

// For when nothing is left to be started: leaves CAP_KILL and a short list of calls; any other call
// ends the process.
void filter_last(void);

// policy.c ---------------------------------------------------------------------------------------

// Reads and parses the file. Refuses with CODE_POLICY when it is missing, unsafe or wrong.
void policy_load(struct policy *policy, const struct caller *caller);

// cgroup.c ---------------------------------------------------------------------------------------

#define CGROUP_HIERARCHIES 4

// One session's cgroup: a held directory per hierarchy, so that no later look-up by name can end
// in another session's. -1 where the machine has no such hierarchy.
struct cgroup {
	int directory[CGROUP_HIERARCHIES];
};

// Finds the hierarchies and moves this process from its caller's cgroups, where it could be
// frozen, into the helper's own: `base`/helper of each. Makes what is missing of `base`.
void cgroup_enter_own(const char *base);

// Makes the cgroup of session `number` with `limits`. Refuses, naming the controller, when the
// machine cannot enforce one that is not `optional`.
struct cgroup cgroup_create(uint32_t number, const uint64_t limits[LIMIT_COUNT],
			    const bool optional[OPTIONAL_COUNT]);

// Opens the cgroup of session `number`; directories that are gone are -1.
struct cgroup cgroup_open(uint32_t number);

// Moves the calling process into `cgroup`.
void cgroup_enter(const struct cgroup *cgroup);

// Forbids new processes, kills all and waits until none is left, for two seconds at most.
// Returns whether none is left.
bool cgroup_kill(const struct cgroup *cgroup);

// Removes the session's cgroup. Returns false when it is still in use.
bool cgroup_remove(uint32_t number);

// sessions.c -------------------------------------------------------------------------------------

// An empty directory on which a session's root stands while it is built, in the session's own mount
// namespace: outside nothing is ever seen there.
#define SESSIONS_STAGE LODGER_RUN "/root"

// Opens directory `name` in `at`, made with `mode` if it was not there. Refuses when it is not root's,
// or others could write there.
int root_directory_open(int at, const char *name, mode_t mode);

// Opens /run/lodger and what is in it, making it if need be. Refuses when others could write there.
void sessions_open(void);

// Takes the next free number for the record's owner: makes its directory, its held lock and its
// listening socket, all under the allocation lock. Refuses when a count of the policy is reached.
// Fills in the record's number, as soon as the directory is there, and the two descriptors.
void sessions_claim(const struct policy *policy, struct record *record, int *lock, int *listener);

// Writes the record, and the name under which nss-systemd shows the lodger.
void sessions_record(const struct record *record);

// Reads the record of session `number`.
// Returns CODE_OK; CODE_ALREADY_GONE when there is no such session; CODE_BUSY when it has no
// record, yet or any more.
Lodger__Helper__Code sessions_lookup(uint32_t number, struct record *record);

enum { SESSION_ALIVE = -1, SESSION_GONE = -2 };

// Tries to take the lock of session `number`; never waits for a living session.
// Returns the descriptor that holds it, SESSION_ALIVE or SESSION_GONE.
int sessions_lock(uint32_t number);

// Removes all that is left of session `number`, whose lock the caller holds: processes, cgroup,
// name, directory. Returns false, and leaves the number in use, when something of it cannot die
// yet.
bool sessions_remove(uint32_t number);

// Removes every session that is dead. Returns how many.
uint32_t sessions_collect(void);

// names.c ----------------------------------------------------------------------------------------

// Adds or removes the user and group records of session `number` in /run/userdb (nss-systemd(8),
// JSON User Records), so that ps, top and getent show lodger-N. A session whose records cannot be
// written is only without a name.
void names_add(uint32_t number);
void names_remove(uint32_t number);

// parse.c ----------------------------------------------------------------------------------------

// Step 5: has one request read from standard input and decoded by a child without any privilege,
// checks the numbers once more, returns them. Refuses with CODE_REQUEST or CODE_VERSION. Bounded in
// time and memory.
void request_read(struct request *request);

// root.c -----------------------------------------------------------------------------------------

// Builds the session's root directory in the calling process's own new mount namespace and enters
// it. The caller must be the first process of its pid namespace, for /proc.
void root_build(const struct policy *policy, const struct record *record);

// create.c, destroy.c ----------------------------------------------------------------------------

// Makes a session for `caller` and answers.
_Noreturn void session_create(const struct request *request, const struct policy *policy,
			      const struct caller *caller);

// Ends session `number` if `caller` owns it or is root, and answers.
_Noreturn void session_destroy(uint32_t number, const struct caller *caller);
