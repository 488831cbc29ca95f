// The environment that jobs start with (environment.h). Runs without privilege. Nothing of the
// agent's own surroundings may get into it: what a caller exported must not reach a session by way
// of the helper.
#include "environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "protocol.h"
#include "session.h"

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number
#define PROXY_URL "http://127.0.0.1:" TEXT(PROXY_PORT)
#define PROXY_NOT "localhost,127.0.0.1,::1"

static const struct {
	const char *name;
	const char *value;
	bool named; // the session's name follows the value
} variables[] = {
	{ "HOME", "/home/", true },
	{ "USER", "", true },
	{ "LOGNAME", "", true },
	{ "LODGER_SESSION", "", true },
	{ "SHELL", "/bin/bash", false },
	{ "PATH", SESSION_PATH, false },
	{ "LANG", "C.UTF-8", false },
	{ "TMPDIR", "/tmp", false },
	// Without it a hidden daemon's socket makes nix try the read-only store and mislead.
	{ "NIX_REMOTE", "daemon", false },
};

// Only with a proxy. pip, npm and cargo go by these, as curl, wget, git and Python do; which case each
// reads is its own affair.
static char proxied[][64] = {
	"http_proxy=" PROXY_URL,
	"https_proxy=" PROXY_URL,
	"no_proxy=" PROXY_NOT,
	"HTTP_PROXY=" PROXY_URL,
	"HTTPS_PROXY=" PROXY_URL,
	"NO_PROXY=" PROXY_NOT,
	// Debian's pip installs nothing beside its own packages (PEP 668) but in a virtual environment.
	// In a session it can harm none of them: it cannot write where they are.
	"PIP_BREAK_SYSTEM_PACKAGES=1",
};

#define PROXIED (sizeof(proxied) / sizeof(proxied[0]))
#define VARIABLES (sizeof(variables) / sizeof(variables[0]))
#define AUTO_OFF 1
#define VARIABLE_MAX 96

static bool auto_off, proxy_on;

void environment_auto_off(void)
{
	auto_off = true;
}

void environment_proxy_on(void)
{
	proxy_on = true;
}

const char *environment_home(uint32_t number)
{
	static char home[sizeof("/home/") + SESSION_NAME_SIZE] = "/home/";

	session_name(number, home + sizeof("/home/") - 1);
	return home;
}

// Puts one NAME=VALUE into `list` of `count`, over one of the same name. Returns the new count.
static size_t list_set(char **list, size_t count, char *variable)
{
	const size_t name = strcspn(variable, "=") + 1;

	for (size_t i = 0; i < count; i++) {
		if (strncmp(list[i], variable, name) == 0) {
			list[i] = variable;
			return count;
		}
	}
	list[count] = variable;
	return count + 1;
}

char **environment_make(uint32_t number, const struct exec_order *exec)
{
	static char own[VARIABLES][VARIABLE_MAX];
	static char off[] = AUTO_VARIABLE "=0";
	static char *list[VARIABLES + PROXIED + AUTO_OFF + ORDER_ENVIRONMENT + 1];
	char name[SESSION_NAME_SIZE];
	size_t count = 0;

	session_name(number, name);
	for (size_t i = 0; i < VARIABLES; i++) {
		snprintf(own[i], sizeof(own[i]), "%s=%s%s", variables[i].name, variables[i].value,
			 variables[i].named ? name : "");
		count = list_set(list, count, own[i]);
	}
	for (size_t i = 0; proxy_on && i < PROXIED; i++)
		count = list_set(list, count, proxied[i]);
	if (auto_off)
		count = list_set(list, count, off);
	// The request's count is at most ORDER_ENVIRONMENT: order_decode saw to it.
	for (size_t i = 0; i < exec->environment_count; i++)
		count = list_set(list, count, exec->environment[i]);
	list[count] = NULL;
	return list;
}
