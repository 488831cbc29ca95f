// Tries every row of the agent's seccomp filter (client/agent/filter.c) against the kernel, in
// children that carry the filter, and beside it what must keep working. Needs no privilege; with
// root's, the children give it up first, so that a hole in the filter harms nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs those above.
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter.h"

#define NOBODY 65534

// What one call came to: 0 when it succeeded, else its errno. SIGNALLED + n: signal n ended it.
#define SIGNALLED 1000

static void become_nobody(void)
{
	if (getuid() == 0 &&
	    (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0))
		_exit(255);
}

static void load(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || filter_load() < 0)
		_exit(255);
}

static int outcome_of(pid_t child)
{
	int status;

	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status))
		return SIGNALLED + WTERMSIG(status);
	assert_int_not_equal(WEXITSTATUS(status), 255);
	return WEXITSTATUS(status);
}

// Makes the call in a child.
static int call_outcome(bool filtered, long number, const uint64_t a[6])
{
	const struct rlimit none = { 0, 0 };
	pid_t child = fork();

	if (child == 0) {
		become_nobody();
		setrlimit(RLIMIT_CORE, &none);
		if (filtered)
			load();
		const pid_t self = getpid();
		long result = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
		const int error = result < 0 ? errno : 0;
		// The new process, should the call have made one.
		if (getpid() != self)
			_exit(0);
		_exit(error > 250 ? 250 : error);
	}
	return outcome_of(child);
}

// The values for which `test` holds: one for each bit, or the one and the same with an upper half
// that the kernel does not look at. Returns how many; 1 for no test at all.
static size_t test_values(const struct filter_test *test, uint64_t values[32])
{
	const uint64_t upper = UINT64_C(0x5a5a) << 32;

	// The upper half of a pointer, whose lower half shows nothing.
	if (test->compare == FILTER_DIFFERS && test->argument >= UPPER(0)) {
		values[0] = upper;
		return 1;
	}

	const uint64_t value = test->compare == FILTER_DIFFERS ? test->value + 1 : test->value;
	size_t count = 0;

	if (test->compare == FILTER_ANY_BIT) {
		for (unsigned bit = 0; bit < 32; bit++) {
			if ((test->value & (UINT32_C(1) << bit)) != 0)
				values[count++] = (UINT64_C(1) << bit) | upper;
		}
		return count;
	}
	values[count++] = value;
	if (test->compare != FILTER_NONE)
		values[count++] = value | upper;
	return count;
}

// One row with one value for each of its tests, with the filter and without. Returns whether the
// kernel by itself answers anything else.
static bool row_denies(const struct filter_rule *rule, const uint64_t values[FILTER_TESTS])
{
	const int expected = (int)(rule->verdict & SECCOMP_RET_DATA);
	// Nothing valid anywhere: a call that got through would fail in another way.
	uint64_t a[6] = { -2, -2, -2, -2, -2, -2 };

	for (size_t i = 0; i < FILTER_TESTS; i++) {
		if (rule->tests[i].compare != FILTER_NONE)
			a[rule->tests[i].argument % UPPER(0)] = values[i];
	}
	const int got = call_outcome(true, rule->number, a);
	if (got != expected)
		fail_msg("%s (%s): got %d, not %d", rule->call, rule->reason, got, expected);
	return call_outcome(false, rule->number, a) != got;
}

static void every_row_denies(void **state)
{
	unsigned tries = 0, telling = 0;

	(void)state;
	for (size_t i = 0; i < filter_rule_count; i++) {
		const struct filter_rule *rule = &filter_rules[i];
		uint64_t values[FILTER_TESTS][32];
		const size_t counts[FILTER_TESTS] = { test_values(&rule->tests[0], values[0]),
						      test_values(&rule->tests[1], values[1]) };

		if (rule->verdict == SECCOMP_RET_ALLOW)
			continue;
		for (size_t first = 0; first < counts[0]; first++) {
			for (size_t second = 0; second < counts[1]; second++) {
				telling +=
					row_denies(rule, (const uint64_t[]){ values[0][first],
									     values[1][second] });
				tries++;
			}
		}
	}
	// Where the kernel itself refuses nobody in the same way, the try proves little.
	print_message("%u tries, %u told apart from the kernel's own refusal\n", tries, telling);
	assert_true(telling * 2 > tries);
}

// Of two rows for one call and one verdict the second would never be reached if the first had no
// test: a slip that the above cannot see.
static void no_row_is_dead(void **state)
{
	(void)state;
	for (size_t i = 0; i < filter_rule_count; i++) {
		for (size_t j = i + 1; j < filter_rule_count; j++) {
			if (filter_rules[i].number == filter_rules[j].number &&
			    filter_rules[i].tests[0].compare == FILTER_NONE)
				fail_msg("%s (%s) is never reached", filter_rules[j].call,
					 filter_rules[j].reason);
		}
		assert_true(filter_rules[i].number <= FILTER_LAST_CALL);
		assert_true(filter_rules[i].reason[0] != '\0');
	}
}

static void unknown_calls_do_not_exist(void **state)
{
	static const long numbers[] = {
		FILTER_LAST_CALL + 1,
		1000,
		0x3fffffff,
		INT32_MAX,
		0x40000000 + 39,  // getpid by its x32 number
		0x40000000 + 16,  // ioctl
		0x40000000 + 514, // x32's own ioctl
		-1,
		INT32_MIN,
	};
	const uint64_t a[6] = { 0, TIOCSTI, 0, 0, 0, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		assert_int_equal(call_outcome(true, numbers[i], a), ENOSYS);
}

#ifdef __x86_64__
static int int80_outcome(bool filtered)
{
	const struct rlimit none = { 0, 0 };
	pid_t child = fork();

	if (child == 0) {
		long result;

		// cmocka's own handler would take it for a failed test.
		signal(SIGSEGV, SIG_DFL);
		setrlimit(RLIMIT_CORE, &none);
		if (filtered)
			load();
		__asm__ volatile("int $0x80"
				 : "=a"(result)
				 : "a"(20L)
				 : "memory", "r8", "r9", "r10",
				   "r11"); // getpid(2) of i386
		_exit(result == getpid() ? 0 : 1);
	}
	return outcome_of(child);
}

static void other_machines_calls_kill(void **state)
{
	(void)state;
	// A kernel without IA32_EMULATION answers with SIGSEGV by itself.
	const int kernel = int80_outcome(false);
	assert_true(kernel == 0 || kernel == SIGNALLED + SIGSEGV);
	if (kernel == 0)
		assert_int_equal(int80_outcome(true), SIGNALLED + SIGSYS);
}
#endif

static void *thread(void *unused)
{
	return unused;
}

static bool socket_works(int family, int type, int protocol)
{
	int fd = socket(family, type | SOCK_CLOEXEC, protocol);

	// A kernel may lack IPv6.
	if (fd < 0)
		return family == AF_INET6 && errno == EAFNOSUPPORT;
	return close(fd) == 0;
}

static bool files_work(void)
{
	char name[] = "/tmp/agent_filter_test.XXXXXX";
	int fd = mkstemp(name);
	bool works = fd >= 0 && fchmod(fd, 0755) == 0 && chmod(name, 0700 | S_ISVTX) == 0;

	// Without O_CREAT the last argument is not a mode.
	const long again = syscall(SYS_openat, AT_FDCWD, name, O_RDONLY, 06755);
	works = works && again >= 0 && close((int)again) == 0 && unlink(name) == 0 &&
		mkdir(name, 0777) == 0 && rmdir(name) == 0;
	return close(fd) == 0 && works;
}

static bool processes_work(void)
{
	pthread_t other;
	pid_t child;

	if (pthread_create(&other, NULL, thread, NULL) != 0 || pthread_join(other, NULL) != 0)
		return false;
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(7);
	}
	int status;
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_CONT, child, 0, 0) < 0 || waitpid(child, &status, 0) != child)
		return false;
	return WEXITSTATUS(status) == 7 && unshare(CLONE_FILES | CLONE_FS) == 0 &&
	       system("exit 9") == 9 << 8;
}

static void ordinary_programs_work(void **state)
{
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		struct winsize size;
		int pair[2];

		become_nobody();
		load();
		if (!socket_works(AF_UNIX, SOCK_STREAM, 0) ||
		    !socket_works(AF_INET, SOCK_STREAM, IPPROTO_TCP) ||
		    !socket_works(AF_INET, SOCK_DGRAM, 0) ||
		    !socket_works(AF_INET6, SOCK_STREAM, 0) ||
		    !socket_works(AF_INET6, SOCK_DGRAM, IPPROTO_UDP) ||
		    !socket_works(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE) ||
		    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
			_exit(1);
		if (!files_work())
			_exit(2);
		if (!processes_work())
			_exit(3);
		if (ioctl(pair[0], TIOCGWINSZ, &size) == 0 || errno != ENOTTY)
			_exit(4);
		if (personality(0xffffffff) < 0 || personality(ADDR_NO_RANDOMIZE) < 0 ||
		    personality(PER_LINUX) < 0)
			_exit(5);
		_exit(0);
	}
	assert_int_equal(outcome_of(child), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_denies),	      cmocka_unit_test(no_row_is_dead),
		cmocka_unit_test(unknown_calls_do_not_exist),
#ifdef __x86_64__
		cmocka_unit_test(other_machines_calls_kill),
#endif
		cmocka_unit_test(ordinary_programs_work),
	};

	return cmocka_run_group_tests_name("agent_filter", tests, NULL, NULL);
}
