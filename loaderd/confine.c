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

#define INT_BITS	0xffffffffULL	/* of an argument that is an int */
#define RULES(a)	(sizeof(a) / sizeof((a)[0]))
#define ALLOW(name)	{ .nr = SCMP_SYS(name), .kind = SANDBOX_ALLOW }
#define ALLOW_IF(name, argument, bits, wanted)				\
	{ .nr = SCMP_SYS(name), .kind = SANDBOX_ALLOW_IF,		\
	  .arg = argument, .mask = bits, .value = wanted }

static const struct sandbox_rule main_rules[] = {
	ALLOW(bpf),
	ALLOW(perf_event_open),
	ALLOW_IF(ioctl, 1, INT_BITS, PERF_EVENT_IOC_SET_BPF),
	ALLOW_IF(ioctl, 1, INT_BITS, PERF_EVENT_IOC_ENABLE),
	ALLOW_IF(socket, 0, INT_BITS, AF_UNIX),
	ALLOW(connect),
	ALLOW(setsockopt),
	ALLOW(getsockopt),
	ALLOW(memfd_create),
	ALLOW(ftruncate),
	ALLOW_IF(socketpair, 0, INT_BITS, AF_UNIX),
	ALLOW(timerfd_settime),
	ALLOW(wait4),		/* for the respawner, at the end */
};

static const struct sandbox_rule opener_rules[] = {
	/* reading only: O_ACCMODE is 3, O_RDONLY 0 */
	ALLOW_IF(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY),
	ALLOW(readlink),
	ALLOW(readlinkat),
	ALLOW(fstat),
	ALLOW(fstatfs),
	ALLOW(newfstatat),
	/* its flags are in memory, out of a filter's sight: what it could
	 * open for writing, if it were not itself any more, it can make no
	 * longer (RLIMIT_FSIZE 0) */
	ALLOW(openat2),
	ALLOW(capget),		/* lowers and raises what is permitted */
	ALLOW(capset),
	ALLOW(clone),
	ALLOW(wait4),
	ALLOW_IF(kill, 1, INT_BITS, SIGKILL),
	ALLOW_IF(prctl, 0, INT_BITS, 1 /* PR_SET_PDEATHSIG */),
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
