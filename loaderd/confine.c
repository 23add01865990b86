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

static const struct sandbox_rule main_rules[] = {
	YES(bpf),
	YES(perf_event_open),
	WHEN(ioctl, 1, INT, PERF_EVENT_IOC_SET_BPF),
	WHEN(ioctl, 1, INT, PERF_EVENT_IOC_ENABLE),
	WHEN(socket, 0, INT, AF_UNIX),
	YES(connect),
	YES(setsockopt),
	YES(memfd_create),
	YES(ftruncate),
	WHEN(socketpair, 0, INT, AF_UNIX),
	YES(wait4),		/* for the respawner, at the end */
};

static const struct sandbox_rule opener_rules[] = {
	/* reading only: O_ACCMODE is 3, O_RDONLY 0 */
	WHEN(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY),
	YES(readlink),
	YES(readlinkat),
	YES(fstat),
	YES(fstatfs),
	YES(newfstatat),
	/* its flags are in memory, out of a filter's sight: what it could
	 * open for writing, if it were not itself any more, it can make no
	 * longer (RLIMIT_FSIZE 0) */
	YES(openat2),
	YES(capget),		/* lowers and raises what is permitted */
	YES(capset),
	YES(clone),
	YES(wait4),
	WHEN(kill, 1, INT, SIGKILL),
	WHEN(prctl, 0, INT, 1 /* PR_SET_PDEATHSIG */),
};

int confine_main(uid_t uid, gid_t gid)
{
	static const int caps[] = { CAP_BPF, CAP_PERFMON };
	int r;

	r = sandbox_limits(1024, 0, -1, true);
	if (!r)
		r = sandbox_identity(uid, gid, caps, RULES(caps));
	if (!r)
		r = sandbox_quiet(getppid() == 1 ? 0 : SIGTERM);
	if (!r)
		r = sandbox_landlock_deny();
	if (!r)
		r = sandbox_seccomp(main_rules, RULES(main_rules));
	return r;
}

int confine_opener(uid_t uid, gid_t gid, const int *keep, int n)
{
	static const int caps[] = {
		CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE, CAP_DAC_READ_SEARCH,
	};
	static const struct rlimit nothing = { 0, 0 };
	int r;

	r = sandbox_close_fds(keep, n);
	if (!r)
		r = sandbox_limits(64, 256u << 20, -1, false);
	signal(SIGXFSZ, SIG_IGN);
	if (!r && setrlimit(RLIMIT_FSIZE, &nothing) < 0)
		r = sandbox_failed("setrlimit");
	if (!r)
		r = sandbox_identity(uid, gid, caps, RULES(caps));
	if (!r)
		r = sandbox_quiet(SIGKILL);
	if (!r)
		r = sandbox_seccomp(opener_rules, RULES(opener_rules));
	return r;
}
