// Checks of what systemd keeps for Lodger (doctor.h): units, timer, user and directories, and the
// delegated cgroup. Runs as the caller; asks systemctl, which anybody may, and reads. Where systemd
// is not the machine's init nothing of it is used, and that is no failure.
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "doctor.h"
#include "usage.h"

#define KEEPER "lodger.service"
#define DAEMON "lodger-nix-daemon.service"
#define GATE "lodger-gate.socket"
#define TIMER "lodger-collect.timer"
#define COLLECTOR "lodger-collect.service"
#define COLLECTOR_USER "lodger-collect"
#define INSTALL_ADVICE "an administrator can run make install again"

// What systemctl tells of a unit.
enum property {
	LOAD_STATE,
	ACTIVE_STATE,
	FILE_STATE,
	RESULT,
	LAST_TRIGGER,
	CONTROL_GROUP,
	DELEGATE,
	PROPERTY_COUNT,
};

static const char *const property_names[PROPERTY_COUNT] = {
	"LoadState",	   "ActiveState",  "UnitFileState", "Result",
	"LastTriggerUSec", "ControlGroup", "Delegate",
};

struct unit {
	char text[2000];		      // systemctl's output
	const char *property[PROPERTY_COUNT]; // in it; "" for what it does not tell
};

static bool systemd_is_used(struct finding *finding)
{
	// sd_booted(3).
	if (access("/run/systemd/system", F_OK) == 0)
		return true;
	info(finding, "systemd is not used here");
	return false;
}

// Asks systemctl about `name`. Returns false with the finding made: without a message bus only root
// is answered.
static bool unit_read(struct unit *unit, const char *name, struct finding *finding)
{
	char *const argv[] = { (char[]){ "systemctl" }, (char[]){ "show" },
			       (char[]){ "--property=LoadState,ActiveState,UnitFileState,Result,"
					 "LastTriggerUSec,ControlGroup,Delegate" },
			       (char *)name, NULL };
	char *rest = unit->text, *line;

	if (!doctor_execute(argv, unit->text, sizeof(unit->text))) {
		unit->text[strcspn(unit->text, "\n")] = '\0';
		skipped(finding,
			"systemctl does not answer you (%s); root can ask: systemctl status %s",
			unit->text, name);
		return false;
	}
	for (int i = 0; i < PROPERTY_COUNT; i++)
		unit->property[i] = "";
	while ((line = strsep(&rest, "\n")))
		for (int i = 0; i < PROPERTY_COUNT; i++) {
			const size_t length = strlen(property_names[i]);

			if (strncmp(line, property_names[i], length) == 0 && line[length] == '=')
				unit->property[i] = line + length + 1;
		}
	return true;
}

static bool property_is(const struct unit *unit, enum property property, const char *value)
{
	return strcmp(unit->property[property], value) == 0;
}

// Whether the unit is installed, enabled and active. Returns false with the finding made.
static bool unit_works(struct unit *unit, const char *name, struct finding *finding)
{
	char advice[200];

	if (!unit_read(unit, name, finding))
		return false;
	if (!property_is(unit, LOAD_STATE, "loaded")) {
		bad(finding, INSTALL_ADVICE, "%s is not installed: %s", name,
		    unit->property[LOAD_STATE]);
		return false;
	}
	snprintf(advice, sizeof(advice),
		 "an administrator can do: systemctl enable --now %s; journalctl -u %s says more",
		 name, name);
	if (property_is(unit, ACTIVE_STATE, "active") && property_is(unit, FILE_STATE, "enabled"))
		return true;
	bad(finding, advice, "%s is %s and %s, instead of active and enabled", name,
	    unit->property[ACTIVE_STATE],
	    *unit->property[FILE_STATE] ? unit->property[FILE_STATE] : "of no file");
	return false;
}

static bool on_v2(void)
{
	return access(CGROUP_ROOT "/cgroup.controllers", F_OK) == 0;
}

static void units_check(struct finding *finding)
{
	struct unit unit;

	if (!systemd_is_used(finding) || (on_v2() && !unit_works(&unit, KEEPER, finding)) ||
	    !unit_works(&unit, DAEMON, finding) || !unit_works(&unit, GATE, finding))
		return;
	good(finding, "%s" DAEMON " and " GATE " enabled and active", on_v2() ? KEEPER ", " : "");
}

static void timer_check(struct finding *finding)
{
	struct unit timer, collector;

	if (!systemd_is_used(finding) || !unit_works(&timer, TIMER, finding) ||
	    !unit_read(&collector, COLLECTOR, finding))
		return;
	if (!property_is(&collector, LOAD_STATE, "loaded"))
		bad(finding, INSTALL_ADVICE, "%s is not installed: %s", COLLECTOR,
		    collector.property[LOAD_STATE]);
	else if (!property_is(&collector, RESULT, "success"))
		bad(finding, "journalctl -u " COLLECTOR " -t lodger-helper says why",
		    "the last run of %s failed: %s", COLLECTOR, collector.property[RESULT]);
	else if (*timer.property[LAST_TRIGGER] && !property_is(&timer, LAST_TRIGGER, "n/a"))
		good(finding, "%s is active, last ran at %s, and that went well", TIMER,
		     timer.property[LAST_TRIGGER]);
	else
		good(finding, "%s is active, and has not run yet", TIMER);
}

// Whether a file of this name is in a place where systemd looks for it.
static bool configured(const char *name)
{
	static const char *const places[] = { "/etc", "/run", "/usr/local/lib", "/usr/lib" };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s/lodger.conf", places[i], name);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

// Whether the collector's user is a member of group lodger.
static bool collector_is_member(void)
{
	const struct passwd *user = getpwnam(COLLECTOR_USER);
	const struct group *group = getgrnam("lodger");

	if (!user || !group)
		return false;
	for (char **member = group->gr_mem; *member; member++)
		if (strcmp(*member, COLLECTOR_USER) == 0)
			return true;
	return user->pw_gid == group->gr_gid;
}

static void files_check(struct finding *finding)
{
	if (!systemd_is_used(finding))
		return;
	if (!configured("sysusers.d") || !configured("tmpfiles.d"))
		bad(finding, INSTALL_ADVICE,
		    "there is no %s/lodger.conf in /etc, or where else "
		    "systemd looks",
		    configured("sysusers.d") ? "tmpfiles.d" : "sysusers.d");
	else if (!getpwnam(COLLECTOR_USER) || !collector_is_member())
		bad(finding, "an administrator can do: systemd-sysusers lodger.conf",
		    getpwnam(COLLECTOR_USER) ? "the user %s is not in the group lodger"
					     : "there is no user %s",
		    COLLECTOR_USER);
	else if (access(LODGER_SESSIONS, F_OK) < 0)
		bad(finding, "an administrator can do: systemd-tmpfiles --create lodger.conf",
		    "%s: %s", LODGER_SESSIONS, strerror(errno));
	else
		good(finding,
		     "sysusers.d and tmpfiles.d have lodger.conf, and what it says is there");
}

// Which of the controllers that limits need the cgroup at `path` was not handed; "" for none.
static void controllers_missing(const char *path, char missing[64])
{
	static const char *const names[] = { "memory", "pids", "cpu" };
	char file[PATH_MAX + 32], text[1024];

	snprintf(file, sizeof(file), "%s/cgroup.controllers", path);
	*missing = '\0';
	doctor_read(file, text, sizeof(text));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!doctor_has_word(text, names[i])) {
			strcat(missing, " ");
			strcat(missing, names[i]);
		}
}

// systemd marks what it delegates by an attribute of the cgroup (its document on delegation).
static bool delegation_marked(const char *path)
{
	char value[8] = "";
	const ssize_t length = getxattr(path, "user.delegate", value, sizeof(value));

	return length < 0 ? errno == ENOTSUP : length == 1 && *value == '1';
}

static void delegation_check(struct finding *finding)
{
	static const char restart[] =
		"an administrator can do: systemctl restart " KEEPER ", which ends all sessions";
	char path[PATH_MAX], advice[PATH_MAX], missing[64];
	struct usage_place place;
	struct unit unit;

	if (!systemd_is_used(finding))
		return;
	if (!on_v2()) {
		info(finding, "not on cgroup v1: sessions live in cgroups of their own there");
		return;
	}
	if (!unit_read(&unit, KEEPER, finding))
		return;
	// Without its leading slash, as the policy has it.
	const char *own = unit.property[CONTROL_GROUP];
	own += *own == '/';
	usage_place_find(&place, CGROUP_ROOT, LODGER_POLICY);
	snprintf(path, sizeof(path), CGROUP_ROOT "/%s", own);
	if (!*own) {
		bad(finding, "an administrator can do: systemctl start " KEEPER,
		    "%s has no cgroup: it is not running", KEEPER);
	} else if (strcmp(own, place.base) != 0) {
		snprintf(advice, sizeof(advice), "while no session lives, put into %s: cgroup %s",
			 LODGER_POLICY, own);
		bad(finding, advice,
		    "sessions live in the cgroup %s, which is not the one that systemd delegates, %s",
		    place.base, own);
	} else if (!property_is(&unit, DELEGATE, "yes") || !delegation_marked(path)) {
		bad(finding, restart, "systemd does not delegate %s: it may change what is in it",
		    own);
	} else {
		controllers_missing(path, missing);
		if (*missing)
			bad(finding, restart, "%s was not handed the controllers:%s", own, missing);
		else
			good(finding, "%s is delegated, with memory, pids, cpu", own);
	}
}

const struct check systemd_checks[] = {
	{ "units", units_check },
	{ "collect timer", timer_check },
	{ "system files", files_check },
	{ "delegation", delegation_check },
};
const int systemd_check_count = sizeof(systemd_checks) / sizeof(systemd_checks[0]);
