// How this machine's own system calls are told from those of other machine types that it can run
// (seccomp(2): the numbers of calls differ between them).
#pragma once

#include <linux/audit.h>

#if defined(__x86_64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the filters must be told this machine's AUDIT_ARCH and the calls that only it has"
#endif
