// lodger doctor (command.h): runs the checks and prints what they found. Runs as the caller and
// changes nothing but that it makes a session of its own and destroys it.
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "cleanup.h"
#include "command.h"
#include "frame.h"
#include "json_output.h"
#include "printable.h"

static const char *const outcome_names[] = {
	[OUTCOME_GOOD] = "ok",
	[OUTCOME_FAILED] = "FAILED",
	[OUTCOME_SKIPPED] = "skipped",
	[OUTCOME_INFO] = "info",
};

static void fill(struct finding *finding, enum outcome outcome, const char *format,
		 va_list arguments)
{
	char raw[sizeof(finding->detail)];

	vsnprintf(raw, sizeof(raw), format, arguments);
	printable(finding->detail, sizeof(finding->detail), raw);
	finding->outcome = outcome;
}

#define FILL(finding, outcome, format)                     \
	do {                                               \
		va_list arguments;                         \
                                                           \
		va_start(arguments, format);               \
		fill(finding, outcome, format, arguments); \
		va_end(arguments);                         \
	} while (0)

void good(struct finding *finding, const char *format, ...)
{
	FILL(finding, OUTCOME_GOOD, format);
}

void skipped(struct finding *finding, const char *format, ...)
{
	FILL(finding, OUTCOME_SKIPPED, format);
}

void info(struct finding *finding, const char *format, ...)
{
	FILL(finding, OUTCOME_INFO, format);
}

void bad(struct finding *finding, const char *advice, const char *format, ...)
{
	snprintf(finding->advice, sizeof(finding->advice), "%s", advice);
	FILL(finding, OUTCOME_FAILED, format);
}

bool doctor_read(const char *path, char *text, size_t size)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const ssize_t length = fd < 0 ? -1 : frame_read_full(fd, text, size - 1);

	text[length < 0 ? 0 : length] = '\0';
	return length >= 0;
}

bool doctor_has_word(const char *text, const char *word)
{
	const size_t length = strlen(word);

	while (*text) {
		const size_t here = strcspn(text, " \n\t");

		if (here == length && strncmp(text, word, length) == 0)
			return true;
		text += here + strspn(text + here, " \n\t");
	}
	return false;
}

bool doctor_execute(char *const argv[], char *text, size_t size)
{
	posix_spawn_file_actions_t actions;
	int ends[2], status = -1;
	pid_t pid;

	*text = '\0';
	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	autoclose int ours = ends[0];
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	const int error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (error) {
		snprintf(text, size, "%s: %s", argv[0], strerror(error));
		return false;
	}
	const ssize_t length = frame_read_full(ours, text, size - 1);
	text[length < 0 ? 0 : length] = '\0';
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Runs `count` checks. Returns how many failed.
static int checks_run(const struct check *checks, int count, json_t *array)
{
	int failed = 0;

	for (int i = 0; i < count; i++) {
		struct finding finding = { .outcome = OUTCOME_SKIPPED };

		checks[i].run(&finding);
		failed += finding.outcome == OUTCOME_FAILED;
		if (array) {
			json_t *object = json_object();

			json_object_set_new(object, "name", json_string(checks[i].name));
			json_object_set_new(object, "outcome",
					    json_string(finding.outcome == OUTCOME_FAILED
								? "failed"
								: outcome_names[finding.outcome]));
			json_object_set_new(object, "detail", json_string(finding.detail));
			json_object_set_new(object, "advice",
					    *finding.advice ? json_string(finding.advice)
							    : json_null());
			json_array_append_new(array, object);
			continue;
		}
		printf("%-8s %-16s %s\n", outcome_names[finding.outcome], checks[i].name,
		       finding.detail);
		if (*finding.advice)
			printf("%-8s %-16s -> %s\n", "", "", finding.advice);
		// The later ones take a while.
		fflush(stdout);
	}
	return failed;
}

// {"ok": BOOL, "checks": [{"name", "outcome": "ok|failed|skipped|info", "detail", "advice"}]}
int doctor_run(const struct options *options, struct failure *failure)
{
	json_t *array = options->json ? json_array() : NULL;
	const int failed = checks_run(machine_checks, machine_check_count, array) +
			   checks_run(install_checks, install_check_count, array) +
			   checks_run(systemd_checks, systemd_check_count, array) +
			   checks_run(session_checks, session_check_count, array);

	if (array) {
		json_t *object = json_object();

		json_object_set_new(object, "ok", json_boolean(failed == 0));
		json_object_set_new(object, "checks", array);
		if (!json_print(object, failure))
			return FAILED;
	} else if (failed > 0) {
		printf("\n%d check%s failed.\n", failed, failed == 1 ? "" : "s");
	} else {
		printf("\nAll that is needed is there.\n");
	}
	return failed > 0 ? 1 : 0;
}
