// SPDX-License-Identifier: Apache-2.0
#include "common/sandbox.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/log.h"

int sandbox_failed(const char *step)
{
	int r = errno ? -errno : -EPERM;

	log_err("confinement failed at %s: %s", step, strerror(-r));
	return r;
}

/* --- limits, identity, descriptors ---------------------------------------- */

int sandbox_limits(unsigned int nofile, uint64_t as, int nproc, bool memlock)
{
	const struct { int what; uint64_t value; bool set; } limits[] = {
		{ RLIMIT_CORE, 0, true }, { RLIMIT_NOFILE, nofile, true },
		{ RLIMIT_MEMLOCK, 0, !memlock }, { RLIMIT_MSGQUEUE, 0, true },
		{ RLIMIT_STACK, 1u << 20, true }, { RLIMIT_AS, as, as != 0 },
		{ RLIMIT_NPROC, (uint64_t)nproc, nproc >= 0 },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct rlimit rl;

		if (!limits[i].set)
			continue;
		if (getrlimit(limits[i].what, &rl) < 0)
			return sandbox_failed("getrlimit");
		if (rl.rlim_max > limits[i].value)
			rl.rlim_max = limits[i].value;
		rl.rlim_cur = rl.rlim_max;
		if (setrlimit(limits[i].what, &rl) < 0)
			return sandbox_failed("setrlimit");
	}
	return 0;
}

/* Everything but the three sets: no way back to a capability. */
static int drop_sources(bool setpcap)
{
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return sandbox_failed("clearing ambient capabilities");
	if (!setpcap)
		return 0;
	for (unsigned long c = 0; prctl(PR_CAPBSET_READ, c) >= 0; c++) {
		if (prctl(PR_CAPBSET_DROP, c, 0, 0, 0) < 0 ||
		    prctl(PR_CAPBSET_READ, c) != 0)
			return sandbox_failed("emptying the bounding set");
	}
	return prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |
		     SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
		     SECBIT_NO_CAP_AMBIENT_RAISE |
		     SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED, 0, 0, 0) < 0 ?
		sandbox_failed("locking securebits") : 0;
}

static int check_identity(uid_t uid, gid_t gid, uint64_t caps)
{
	struct __user_cap_header_struct hdr = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2];
	uid_t u[3];
	gid_t g[3];

	errno = 0;
	if (getresuid(&u[0], &u[1], &u[2]) < 0 || u[0] == 0 || u[0] != u[1] ||
	    u[1] != u[2] || (uid != (uid_t)-1 && u[0] != uid))
		return sandbox_failed("checking uids");
	if (getresgid(&g[0], &g[1], &g[2]) < 0 || g[0] != g[1] ||
	    g[1] != g[2] || (gid != (gid_t)-1 && g[0] != gid))
		return sandbox_failed("checking gids");
	if (syscall(SYS_capget, &hdr, d) < 0)
		return sandbox_failed("capget");
	for (int i = 0; i < 2; i++, caps >>= 32) {
		if (d[i].effective != (uint32_t)caps || d[i].inheritable ||
		    d[i].permitted != (uint32_t)caps)
			return sandbox_failed("checking capabilities");
	}
	return setresuid(-1, 0, -1) == 0 ?
		sandbox_failed("checking that root is gone") : 0;
}

int sandbox_identity(uid_t uid, gid_t gid, const int *caps, int n)
{
	bool stay = uid == (uid_t)-1 || (uid && uid == geteuid()), done;
	uint64_t mask = 0;
	int r;

	errno = EPERM;
	if ((stay ? geteuid() : uid) == 0)
		return sandbox_failed("refusing to stay root");
	if (capng_get_caps_process() < 0)
		return sandbox_failed("capget");
	r = drop_sources(capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP));
	if (r)
		return r;
	/* a unit that gave us none may forbid capset(2), too */
	done = stay && !n && capng_have_capabilities(CAPNG_SELECT_CAPS) == CAPNG_NONE;
	capng_clear(CAPNG_SELECT_ALL);
	for (int i = 0; i < n; i++) {
		capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED,
			     (unsigned int)caps[i]);
		mask |= 1ULL << caps[i];
	}
	errno = 0;
	r = done ? 0 : stay ? capng_apply(CAPNG_SELECT_CAPS) :
		capng_change_id((int)uid, (int)gid, CAPNG_DROP_SUPP_GRP);
	if (r)
		return sandbox_failed("changing identity");
	return check_identity(uid, stay ? (gid_t)-1 : gid, mask);
}

int sandbox_quiet(int pdeathsig)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	       prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	       (pdeathsig && prctl(PR_SET_PDEATHSIG, pdeathsig, 0, 0, 0) < 0) ?
		sandbox_failed("prctl") : 0;
}

/* Close all between those to be kept, from below. */
int sandbox_close_fds(const int *keep, int n)
{
	unsigned int from = 0, next = 0;

	for (; next != UINT_MAX; from = next + 1) {
		next = UINT_MAX;
		for (int i = 0; i < n; i++) {
			if (keep[i] >= 0 && (unsigned int)keep[i] >= from &&
			    (unsigned int)keep[i] < next)
				next = (unsigned int)keep[i];
		}
		if (next > from &&
		    syscall(SYS_close_range, from, next - 1, 0) < 0)
			return sandbox_failed("close_range");
	}
	return 0;
}

/* --- Landlock: linux/landlock.h; Documentation/userspace-api/landlock.rst -- */

struct ll_ruleset {
	uint64_t fs, net, scoped;	/* since ABI 1, 4, 6 */
};

int sandbox_landlock(bool net, int (*allow)(int ruleset, const void *ctx),
		     const void *ctx)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
	/* 13 rights at first, then refer, truncate, ioctl of devices */
	int rights = abi >= 5 ? 16 : abi >= 3 ? 15 : abi >= 2 ? 14 : 13;
	struct ll_ruleset rs = {
		.fs = (1ULL << rights) - 1,
		.net = abi >= 4 && !net ? 3 : 0,	/* TCP bind, connect */
		.scoped = abi >= 6 ? 3 : 0,	/* abstract sockets, signals */
	};
	int fd, r;

	if (abi < 1)
		return 0;
	fd = (int)syscall(SYS_landlock_create_ruleset, &rs, sizeof(rs), 0);
	if (fd < 0)
		return sandbox_failed("landlock_create_ruleset");
	r = (allow && allow(fd, ctx)) || syscall(SYS_landlock_restrict_self, fd, 0) ?
		sandbox_failed("Landlock") : 0;
	close(fd);
	return r;
}

/* --- seccomp --------------------------------------------------------------- */

/*
 * What any of our processes may do, with the reason.  tests/live/test_filters.py
 * fails if a call is used by none of them.
 */
static const struct sandbox_rule base_rules[] = {
	/* descriptors that it has: timers and signals; files, our own CPU time in
	 * /proc; the log; glibc's last words when it aborts */
	YES(read), YES(pread64), YES(write), YES(writev), YES(close),
	/* our messages; send() and recv() of libraries */
	YES(sendmsg), YES(sendto), YES(recvmsg), YES(recvfrom),
	/* to wait; arm64 has only the second of each */
	YES(poll), YES(ppoll), YES(epoll_wait), YES(epoll_pwait),
	YES(epoll_ctl),		/* common/evloop.c */
	/* malloc; batches and tables in shared memory; never code */
	YES(munmap), YES(mremap), YES(brk),
	WHEN(mmap, 2, PROT_EXEC, 0), WHEN(mprotect, 2, PROT_EXEC, 0),
	WHEN(madvise, 2, INT, MADV_DONTNEED),
	YES(futex),		/* locks, which only exporterd has to wait for */
	YES(set_robust_list),	/* the first call in a child of fork() */
	/* how much memory qsort() may take; what we cost, for the account */
	YES(sysinfo), YES(getrusage),
	/* CPU time; all clocks where the vDSO cannot read the hardware's */
	YES(clock_gettime), YES(gettimeofday), YES(time),
	/* poll() goes on after SIGSTOP and SIGCONT */
	YES(restart_syscall),
	/* seeds of hash tables, malloc's too */
	YES(getrandom),
	YES(getpid), YES(getppid),	/* is the parent still there? */
	/* signals, and their end; fork() and threads block them, fork() since glibc 2.41 */
	YES(rt_sigaction), YES(rt_sigreturn), YES(rt_sigprocmask),
	YES(exit_group),		/* the end */
	/* seals of shared memory, ours and a peer's; a connection that came */
	WHEN(fcntl, 1, INT, F_SETFD), WHEN(fcntl, 1, INT, F_GETFL),
	WHEN(fcntl, 1, INT, F_SETFL),
	WHEN(fcntl, 1, INT, F_GET_SEALS), WHEN(fcntl, 1, INT, F_ADD_SEALS),
	WHEN(fcntl, 1, INT, F_DUPFD_CLOEXEC),
	/* fstat(): its own call from glibc 2.39 on, before that newfstatat()
	 * with an empty path; a path beside it finds nothing */
	YES(fstat), WHEN(newfstatat, 3, AT_EMPTY_PATH, AT_EMPTY_PATH),
	FAIL_WHEN(newfstatat, 3, AT_EMPTY_PATH, 0, EACCES),
	/* what a C library tries, and does without */
	FAIL(membarrier, ENOSYS), FAIL(sched_getaffinity, EPERM),
	FAIL(sched_yield, ENOSYS), FAIL(clock_getres, EINVAL), FAIL(statx, EACCES),
	FAIL(open, EACCES), FAIL(openat, EACCES), FAIL(openat2, EACCES),
	FAIL(stat, EACCES), FAIL(lstat, EACCES), FAIL(statfs, EACCES),
	FAIL(access, EACCES), FAIL(faccessat, EACCES),
	FAIL(faccessat2, EACCES), FAIL(readlink, EACCES),
	FAIL(readlinkat, EACCES), FAIL(socket, EACCES), FAIL(clone3, ENOSYS),
	FAIL_WHEN(ioctl, 1, INT, TCGETS, ENOTTY),
};

#define N_BASE	(sizeof(base_rules) / sizeof(base_rules[0]))

static bool overridden(const struct sandbox_rule *base,
		       const struct sandbox_rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (rules[i].nr == base->nr &&
		    (!base->mask || !rules[i].mask || rules[i].arg != base->arg))
			return true;
	}
	return false;
}

static int add_rule(scmp_filter_ctx ctx, const struct sandbox_rule *r)
{
	uint32_t action = r->error ? SCMP_ACT_ERRNO(r->error) : SCMP_ACT_ALLOW;

	if (r->nr < 0)
		return 0;
	return seccomp_rule_add_exact(ctx, action, r->nr,
		r->mask2 ? 2 : r->mask ? 1 : 0,
		SCMP_CMP64(r->arg, SCMP_CMP_MASKED_EQ, r->mask, r->value),
		SCMP_CMP64(r->arg + 1u, SCMP_CMP_MASKED_EQ, r->mask2,
			   r->value2));
}

int sandbox_seccomp(const struct sandbox_rule *rules, size_t n)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r = !ctx ? -ENOMEM : seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, 1) ?:
		seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	for (size_t i = 0; i < n && !r; i++)
		r = add_rule(ctx, &rules[i]);
	for (size_t i = 0; i < N_BASE && !r; i++) {
		if (!overridden(&base_rules[i], rules, n))
			r = add_rule(ctx, &base_rules[i]);
	}
	if (!r)
		r = seccomp_load(ctx);
	seccomp_release(ctx);
	errno = -r;
	return r ? sandbox_failed("seccomp") : 0;
}
