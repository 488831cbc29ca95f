// Accounts of sessions (budget.h).
#include "budget.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "session.h"

// What tells one record from a later one in its place: a file that is made gets another time, also
// where it gets the same inode.
struct identity {
	ino_t inode;
	struct timespec changed;
};

static struct identity known[SESSION_NUMBER_MAX + 1];

struct account *budget_open(void)
{
	void *table = mmap(NULL, (SESSION_NUMBER_MAX + 1) * sizeof(struct account),
			   PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return table == MAP_FAILED ? NULL : table;
}

bool budget_take(struct account *account, uint64_t size, uint64_t most)
{
	uint64_t before = atomic_load(&account->added);

	do {
		if (before > most || size > most - before)
			return false;
	} while (!atomic_compare_exchange_weak(&account->added, &before, before + size));
	return true;
}

void budget_return(struct account *account, uint64_t size)
{
	uint64_t before = atomic_load(&account->added);

	// The entry may have been started anew meanwhile.
	while (!atomic_compare_exchange_weak(&account->added, &before,
					     before > size ? before - size : 0))
		continue;
}

bool budget_line(struct account *account, uint64_t seconds)
{
	const uint64_t minute = seconds / 60 << 16;
	uint64_t before = atomic_load(&account->lines), after;

	do {
		const uint64_t count = before >> 16 << 16 == minute ? before & 0xffff : 0;

		if (count >= BUDGET_LINES)
			return false;
		after = minute | (count + 1);
	} while (!atomic_compare_exchange_weak(&account->lines, &before, after));
	return true;
}

void budget_renew(struct account *table, const char *sessions, uint32_t number)
{
	struct identity *before = &known[number];
	struct stat now;
	char path[256];

	snprintf(path, sizeof(path), "%s/%s/record", sessions, session_digits(number));
	// No record, no session: then nobody has come instead either.
	if (lstat(path, &now) < 0)
		return;
	if (before->inode == now.st_ino && before->changed.tv_sec == now.st_ctim.tv_sec &&
	    before->changed.tv_nsec == now.st_ctim.tv_nsec)
		return;
	*before = (struct identity){ now.st_ino, now.st_ctim };
	atomic_store(&table[number].added, 0);
}
