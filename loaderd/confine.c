// SPDX-License-Identifier: Apache-2.0
#include "loaderd/confine.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/sandbox.h"

#define RULES(a)	(sizeof(a) / sizeof((a)[0]))

/* Beyond base_rules of common/sandbox.c; tests/live/test_filters.py fails if a
 * call is not used. */
static const struct sandbox_rule main_rules[] = {
	/* map elements, slabs, BPF programs' state: elements.c, entries.c */
	YES(bpf),
	/* sampling: a counter on each CPU, with the program on it; CPUs that
	 * come later: sampling.c */
	YES(perf_event_open), WHEN(ioctl, 1, INT, PERF_EVENT_IOC_SET_BPF),
	WHEN(ioctl, 1, INT, PERF_EVENT_IOC_ENABLE),
	WHEN(ioctl, 1, INT, PERF_EVENT_IOC_DISABLE),
	WHEN(ioctl, 1, INT, PERF_EVENT_IOC_PERIOD),
	/* the hub, again when it is another one: conn.c, hub_link.c */
	WHEN(socket, 0, INT, AF_UNIX), YES(connect), YES(setsockopt),
	/* two more ways to it: samples, and sealed tables of what runs */
	WHEN(socketpair, 0, INT, AF_UNIX), YES(memfd_create),
	YES(wait4),		/* for the respawner, at the end */
};

static const struct sandbox_rule opener_rules[] = {
	/* reading only: O_ACCMODE is 3, O_RDONLY 0 */
	WHEN(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY),
	/* below the root of a process.  Its flags are in memory, out of a filter's
	 * sight: what it could open for writing, if it were not itself any
	 * more, it can make no longer (RLIMIT_FSIZE 0) */
	YES(openat2),
	/* what was found: its path, which kind of file, on which file system;
	 * arm64 and newer glibc have only the latter of readlink and stat */
	YES(readlink), YES(readlinkat), YES(fstat), YES(newfstatat), YES(fstatfs),
	YES(capget), YES(capset),	/* a debug file: without what root may */
	/* the respawner: another opener instead of one that hangs, which ends
	 * with it (PR_SET_PDEATHSIG) */
	YES(clone), YES(wait4), WHEN(kill, 1, INT, SIGKILL),
	WHEN(prctl, 0, INT, 1 /* PR_SET_PDEATHSIG */),
};

int confine_main(uid_t uid, gid_t gid)
{
	static const int caps[] = { CAP_BPF, CAP_PERFMON };

	return sandbox_limits(4096, 0, -1, true) ?:
	       sandbox_identity(uid, gid, caps, RULES(caps)) ?:
	       sandbox_quiet(getppid() == 1 ? 0 : SIGTERM) ?:
	       sandbox_landlock_deny() ?:
	       sandbox_seccomp(main_rules, RULES(main_rules));
}

int confine_opener(uid_t uid, gid_t gid, const int *keep, int n)
{
	static const int caps[] = {
		CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE, CAP_DAC_READ_SEARCH,
	};
	static const struct rlimit nothing = { 0, 0 };

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &nothing) < 0)
		return sandbox_failed("setrlimit");
	return sandbox_close_fds(keep, n) ?:
	       sandbox_limits(64, 256u << 20, -1, false) ?:
	       sandbox_identity(uid, gid, caps, RULES(caps)) ?:
	       sandbox_quiet(SIGKILL) ?:
	       sandbox_seccomp(opener_rules, RULES(opener_rules));
}
