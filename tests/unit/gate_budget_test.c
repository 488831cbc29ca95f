// client/gate/budget.c: accounts, also of many processes at once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs those above.
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "budget.h"

static void take(void **state)
{
	struct account account = { 0 };

	(void)state;
	assert_true(budget_take(&account, 60, 100));
	assert_false(budget_take(&account, 41, 100));
	assert_true(budget_take(&account, 40, 100));
	assert_true(budget_take(&account, 0, 100));
	assert_false(budget_take(&account, 1, 100));
	assert_false(budget_take(&account, UINT64_MAX, 100));
	// The limit is lower than it was when the gate was started before.
	assert_false(budget_take(&account, 0, 50));
	budget_return(&account, 30);
	assert_true(budget_take(&account, 30, 100));
	budget_return(&account, 1000);
	assert_int_equal(account.added, 0);
}

static void lines(void **state)
{
	struct account account = { 0 };

	(void)state;
	for (unsigned int i = 0; i < BUDGET_LINES; i++)
		assert_true(budget_line(&account, 600 + i % 60));
	assert_false(budget_line(&account, 659));
	assert_true(budget_line(&account, 660));
	assert_true(budget_line(&account, 0));
}

// Four processes take until there is nothing left: together exactly as much as there was.
static void shared(void **state)
{
	struct account *table = budget_open();
	unsigned int taken = 0;
	int status;

	(void)state;
	assert_non_null(table);
	for (int i = 0; i < 4; i++) {
		if (fork() == 0) {
			unsigned int own = 0;

			while (own < 200 && budget_take(&table[SESSION_NUMBER_MAX], 7, 7 * 150))
				own++;
			_exit((int)own);
		}
	}
	for (int i = 0; i < 4; i++) {
		assert_true(wait(&status) > 0 && WIFEXITED(status));
		taken += (unsigned int)WEXITSTATUS(status);
	}
	assert_int_equal(taken, 150);
	assert_int_equal(table[SESSION_NUMBER_MAX].added, 7 * 150);
	assert_int_equal(table[SESSION_NUMBER_MAX - 1].added, 0);
}

static void record(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);

	assert_true(fd >= 0 && close(fd) == 0);
}

static void renew(void **state)
{
	struct account *table = budget_open();
	char directory[] = "/tmp/gate_budget_test.XXXXXX", inner[64], path[80];

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(inner, sizeof(inner), "%s/7", directory);
	snprintf(path, sizeof(path), "%s/record", inner);
	assert_int_equal(mkdir(inner, 0755), 0);

	assert_true(budget_take(&table[7], 5, 10));
	budget_renew(table, directory, 7);
	assert_int_equal(table[7].added, 5);
	record(path);
	budget_renew(table, directory, 7);
	assert_int_equal(table[7].added, 0);
	assert_true(budget_take(&table[7], 5, 10));
	budget_renew(table, directory, 7);
	assert_int_equal(table[7].added, 5);
	// Gone, and nobody has come yet.
	assert_int_equal(unlink(path), 0);
	budget_renew(table, directory, 7);
	assert_int_equal(table[7].added, 5);
	// Time stamps of files are coarse.
	usleep(20000);
	record(path);
	budget_renew(table, directory, 7);
	assert_int_equal(table[7].added, 0);
	assert_int_equal(unlink(path) + rmdir(inner) + rmdir(directory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(take),
		cmocka_unit_test(lines),
		cmocka_unit_test(shared),
		cmocka_unit_test(renew),
	};

	return cmocka_run_group_tests_name("gate_budget", tests, NULL, NULL);
}
