// SPDX-License-Identifier: Apache-2.0
/*
 * sanitized - what confined programs must be allowed when they are built with
 * sanitizers (make sanitized): linked into them by --wrap, so that the product
 * knows nothing of it
 */
#include <errno.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "tests/hostile/sanitized.h"

/* Tests let workers die by SIGSEGV and SIGABRT.  Leaks are for unit tests:
 * LeakSanitizer needs ptrace(2) and threads. */
const char *__asan_default_options(void)
{
	return "detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:"
	       "handle_abort=0:allocator_may_return_null=1";
}

const char *__ubsan_default_options(void)
{
	return "print_stacktrace=1";
}

/* The shadow memory alone is 16 TiB of addresses, and frames are larger. */
int __wrap_setrlimit(__rlimit_resource_t what, const struct rlimit *limit)
{
	if (what == RLIMIT_AS || what == RLIMIT_STACK || what == RLIMIT_DATA)
		return 0;
	return __real_setrlimit(what, limit);
}

/* For the allocator and for reports.  A rule that contradicts one that is there
 * is refused: then that one holds. */
static void widen(const scmp_filter_ctx ctx)
{
	static const int more[] = {
		SCMP_SYS(madvise), SCMP_SYS(sched_yield), SCMP_SYS(prlimit64),
		SCMP_SYS(getrlimit), SCMP_SYS(sigaltstack), SCMP_SYS(gettid),
		SCMP_SYS(mremap), SCMP_SYS(lseek), SCMP_SYS(getpid),
	};

	for (unsigned int i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		seccomp_rule_add(ctx, SCMP_ACT_ALLOW, more[i], 0);
}

int __wrap_seccomp_load(const scmp_filter_ctx ctx)
{
	widen(ctx);
	return __real_seccomp_load(ctx);
}

int __wrap_seccomp_export_bpf(const scmp_filter_ctx ctx, int fd)
{
	widen(ctx);
	return __real_seccomp_export_bpf(ctx, fd);
}
