// The check of the proxy for sessions (doctor.h): off, on, or broken, which only a session can tell. Runs
// as the caller. On means that it refuses a name that nobody can have allowed.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "protocol.h"

#define PROXY_POLICY "/etc/lodger/proxy.conf"
#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

// Prints "off", or the first line of the proxy's answer.
static char script[] =
	"[ -S " PACKAGES_TARGET "/" PROXY_SOCKET " ] || { echo off; exit; }\n"
	"exec 2>/dev/null 3<>/dev/tcp/127.0.0.1/" TEXT(
		PROXY_PORT) " || exit\n"
			    "printf 'GET http://lodger-doctor.invalid/ HTTP/1.0\\r\\n\\r\\n' >&3\n"
			    "head -n 1 <&3\n";

void proxy_check(struct finding *finding)
{
	static const char advice[] =
		"an administrator can do: lodger-proxy --check; then systemctl "
		"restart lodger-proxy; without systemd see lodger-proxy(8)";
	char *argv[] = { (char[]){ "bash" }, (char[]){ "-c" }, script, NULL };
	const bool wanted = access(PROXY_POLICY, F_OK) == 0;
	char line[200];
	struct failure failure;
	int exit_code;

	if (!doctor_probe(argv, &exit_code, line, sizeof(line), &failure)) {
		if (wanted)
			bad(finding, "see the checks above", "%s", failure.text);
		else
			skipped(finding, "only a session can tell");
		return;
	}
	line[strcspn(line, "\r")] = '\0';
	if (strcmp(line, "off") == 0 && !wanted)
		info(finding, "off: there is no " PROXY_POLICY ", and sessions reach no host");
	else if (strcmp(line, "off") == 0)
		bad(finding, advice,
		    "there is " PROXY_POLICY ", but no proxy that sessions could see");
	else if (strncmp(line, "HTTP/1.1 403", strlen("HTTP/1.1 403")) == 0)
		good(finding,
		     "on: sessions reach the hosts of " PROXY_POLICY ", and others are refused");
	else
		bad(finding, advice,
		    "asked from a session for a host that nobody allows, it did not refuse: %s",
		    *line ? line : "no answer");
}
