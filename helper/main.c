// lodger-helper: set-user-ID root, 4750 root:lodger. Reads one request from standard input, creates
// or destroys a session or collects dead ones, writes one reply to standard output, exits.
// Takes no argument, no environment, no path and no name from its caller; never decodes what the
// caller wrote in a process that has privilege.
#include "helper.h"

int main(int argc, char *argv[])
{
	static struct caller caller;
	static struct policy policy;
	struct request request;

	guard_start(argc, argv, &caller);
	guard_detach();
	filter_start();
	// Root's own file, which names the cgroup to leave the caller's for. Making that cgroup
	// takes CAP_DAC_OVERRIDE, which is then gone, and only then is anything waited for or
	// locked.
	policy_load(&policy, &caller);
	cgroup_enter_own(policy.cgroup);
	capability_keep();
	request_read(&request);
	sessions_open();

	report_operation = request.operation;
	if (request.operation == OPERATION_CREATE)
		session_create(&request, &policy, &caller);
	filter_last();
	if (request.operation == OPERATION_DESTROY)
		session_destroy(request.session, &caller);
	// Each has its own line in the log.
	report(CODE(OK), "", 0, sessions_collect(), "%s", "");
}
