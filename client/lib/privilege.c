// That there is no privilege (privilege.h). Runs as a system user of Lodger's, before anything that
// somebody else wrote is read. Not linked into the client, which is anybody's and need not know.
#include "privilege.h"

#include <err.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "failure.h"

void privilege_refuse(const char *user)
{
	cap_t own = cap_get_proc();
	cap_t none = cap_init();

	if (getuid() == 0 || geteuid() == 0)
		errx(EXIT_LODGER, "must not run as root; its user is %s", user);
	if (own == NULL || none == NULL || cap_compare(own, none) != 0)
		errx(EXIT_LODGER, "must not run with capabilities");
	cap_free(own);
	cap_free(none);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		err(EXIT_LODGER, "cannot give up privilege");
}
