// Options of the address sanitizer for the client and the agent, which start with an environment that
// the tests do not choose. Leaks are not looked for: that takes three times as long as a short command
// itself, and an agent, which is not dumpable, cannot be traced. The unit tests look for them.
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0:abort_on_error=1";
}
