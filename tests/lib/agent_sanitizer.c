// Options of the address sanitizer for the agent, which has no environment to read them from. Leaks
// are looked for by tracing oneself, which a process that is not dumpable cannot.
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0:abort_on_error=1";
}
