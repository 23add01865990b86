// SPDX-License-Identifier: Apache-2.0
#include "common/sandbox.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/log.h"

#define N(a)	(sizeof(a) / sizeof((a)[0]))

void sandbox_failed(const char *step)
{
	log_err("confinement failed at %s: %s", step, strerror(errno));
	_exit(1);
}

/* --- namespaces and an empty root ------------------------------------------ */

#define RW_FLAGS (MS_NOSUID | MS_NODEV | MS_NOEXEC)
#define RO_FLAGS (RW_FLAGS | MS_RDONLY)

/* Make path, a directory or an empty file, below the working directory. */
static int sandbox_make_place(char *path, bool dir)
{
	for (char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		int r;

		*p = '\0';
		r = mkdir(path, 0755);
		*p = '/';
		if (r < 0 && errno != EEXIST)
			return -1;
	}
	if (dir)
		return mkdir(path, 0755);
	return mknod(path, S_IFREG | 0444, 0);
}

static int sandbox_bind_path(const char *path, unsigned long flags)
{
	char place[PATH_MAX];
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	snprintf(place, sizeof(place), "%s", path + strspn(path, "/"));
	if (sandbox_make_place(place, S_ISDIR(st.st_mode)) < 0 && errno != EEXIST)
		return -1;
	if (mount(path, place, NULL, MS_BIND, NULL) < 0)
		return -1;
	return mount(NULL, place, NULL, MS_REMOUNT | MS_BIND | flags, NULL);
}

static void sandbox_bind_paths(const char *const *paths, unsigned long flags)
{
	for (; paths && *paths; paths++) {
		if (sandbox_bind_path(*paths, flags) < 0)
			sandbox_failed(*paths);
	}
}

/* An initramfs cannot be the old root of pivot_root(2): the new one covers it. */
static int sandbox_enter_root(void)
{
	if (syscall(SYS_pivot_root, ".", ".") == 0)
		return umount2(".", MNT_DETACH);
	if (errno != EINVAL || mount(".", "/", NULL, MS_MOVE, NULL) < 0)
		return -1;
	return chroot(".");
}

void sandbox_namespaces(int namespaces, const char *const *keep,
			const char *const *write)
{
	if (capng_get_caps_process() < 0)
		sandbox_failed("capget");
	if (!capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN))
		return;
	if (unshare(namespaces) < 0)
		sandbox_failed("unshare");
	/* over /proc, since no caller keeps a path below it */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/proc", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  "size=64k,mode=755") < 0 || chdir("/proc") < 0)
		sandbox_failed("mounting an empty root");
	sandbox_bind_paths(keep, RO_FLAGS);
	sandbox_bind_paths(write, RW_FLAGS);
	if (sandbox_enter_root() < 0 || chdir("/") < 0 ||
	    mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | RO_FLAGS, NULL) < 0)
		sandbox_failed("changing the root");
}

/* --- limits, identity, descriptors ---------------------------------------- */

void sandbox_limits(const struct confinement *c)
{
	for (const struct sandbox_limit *l = c->limits; l->what; l++) {
		struct rlimit rl;

		if (getrlimit(l->what - 1, &rl) < 0)
			sandbox_failed("getrlimit");
		if (rl.rlim_max > l->max)
			rl.rlim_max = l->max;
		rl.rlim_cur = rl.rlim_max;
		if (setrlimit(l->what - 1, &rl) < 0)
			sandbox_failed("setrlimit");
	}
}

/* Give up all ways to regain a capability. */
static void sandbox_drop_sources(bool setpcap)
{
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		sandbox_failed("clearing ambient capabilities");
	if (!setpcap)
		return;
	for (unsigned long c = 0; prctl(PR_CAPBSET_READ, c) >= 0; c++) {
		if (prctl(PR_CAPBSET_DROP, c, 0, 0, 0) < 0)
			sandbox_failed("emptying the bounding set");
	}
	if (prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |
		  SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
		  SECBIT_NO_CAP_AMBIENT_RAISE |
		  SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED, 0, 0, 0) < 0)
		sandbox_failed("locking securebits");
}

static void sandbox_check_identity(uid_t uid, gid_t gid, uint64_t caps)
{
	struct __user_cap_header_struct hdr = { _LINUX_CAPABILITY_VERSION_3, 0 };
	uint32_t low = (uint32_t)caps, high = (uint32_t)(caps >> 32);
	const struct __user_cap_data_struct want[2] = { { low, low, 0 }, { high, high, 0 } };
	struct __user_cap_data_struct d[2];
	uid_t u[3];
	gid_t g[3];

	if (getresuid(&u[0], &u[1], &u[2]) < 0 || u[0] != uid || u[1] != uid ||
	    u[2] != uid)
		sandbox_failed("checking uids");
	if (getresgid(&g[0], &g[1], &g[2]) < 0 || g[0] != g[1] || g[1] != g[2] ||
	    (gid != (gid_t)-1 && g[0] != gid))
		sandbox_failed("checking gids");
	if (syscall(SYS_capget, &hdr, d) < 0 || memcmp(d, want, sizeof(d)))
		sandbox_failed("checking capabilities");
	if (setresuid(-1, 0, -1) == 0)
		sandbox_failed("checking that root is gone");
}

void sandbox_identity(uid_t uid, gid_t gid, uint64_t caps)
{
	uid_t now = geteuid();
	int r = 0;
	bool none;

	if (uid == (uid_t)-1)
		uid = now;
	/* of what fails without an error of its own */
	errno = EPERM;
	if (uid == 0)
		sandbox_failed("refusing to stay root");
	if (capng_get_caps_process() < 0)
		sandbox_failed("capget");
	sandbox_drop_sources(capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP));
	none = !caps && capng_have_capabilities(CAPNG_SELECT_CAPS) == CAPNG_NONE;
	capng_clear(CAPNG_SELECT_ALL);
	for (unsigned int c = 0; c < 64; c++) {
		if (caps >> c & 1)
			capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, c);
	}
	errno = EPERM;
	/* a unit without capabilities may forbid capset(2), too */
	if (uid != now)
		r = capng_change_id((int)uid, (int)gid, CAPNG_DROP_SUPP_GRP);
	else if (!none)
		r = capng_apply(CAPNG_SELECT_CAPS);
	if (r)
		sandbox_failed("changing identity");
	/* not getegid(): a container's profile has only the calls that are needed */
	if (uid == now)
		gid = (gid_t)-1;
	sandbox_check_identity(uid, gid, caps);
}

void sandbox_quiet(int pdeathsig)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, pdeathsig, 0, 0, 0) < 0)
		sandbox_failed("prctl");
}

/* Close each range between two descriptors to keep, in ascending order. */
void sandbox_close_fds(const int *keep, int n)
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
			sandbox_failed("close_range");
	}
}

/* --- Landlock: linux/landlock.h; Documentation/userspace-api/landlock.rst -- */

#define LL_WRITE_FILE	(1ULL << 1)
#define LL_READ_FILE	(1ULL << 2)
#define LL_READ_DIR	(1ULL << 3)
#define LL_REMOVE_FILE	(1ULL << 5)
#define LL_MAKE_REG	(1ULL << 8)
#define LL_PATH_BENEATH	1

struct ll_ruleset {
	uint64_t fs, net, scoped;
};

/* All rights, by ABI.  2: refer; 3: truncate; 4: TCP bind and connect; 5: ioctl of
 * devices; 6: abstract sockets and signals. */
#define LL_FILES(rights)	((1ULL << (rights)) - 1)
#define LL_ABI_MAX	6
static const struct ll_ruleset ll_rights[LL_ABI_MAX + 1] = {
	{ 0, 0, 0 }, { LL_FILES(13), 0, 0 }, { LL_FILES(14), 0, 0 },
	{ LL_FILES(15), 0, 0 }, { LL_FILES(15), 3, 0 }, { LL_FILES(16), 3, 0 },
	{ LL_FILES(16), 3, 3 },
};

struct ll_beneath {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

void sandbox_landlock(bool net, int (*allow)(int ruleset, const void *ctx),
		      const void *ctx)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
	struct ll_ruleset rs;
	int fd;

	if (abi < 1)
		return;
	if (abi > LL_ABI_MAX)
		abi = LL_ABI_MAX;
	rs = ll_rights[abi];
	if (net)
		rs.net = 0;
	fd = (int)syscall(SYS_landlock_create_ruleset, &rs, sizeof(rs), 0);
	if (fd < 0)
		sandbox_failed("landlock_create_ruleset");
	if (allow && allow(fd, ctx) < 0)
		sandbox_failed("landlock_add_rule");
	if (syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		sandbox_failed("landlock_restrict_self");
	close(fd);
}

static int sandbox_allow_beneath(int ruleset, int fd, uint64_t rights)
{
	struct ll_beneath rule = { rights, fd };

	return (int)syscall(SYS_landlock_add_rule, ruleset, LL_PATH_BENEATH, &rule, 0);
}

static int sandbox_allow_reading(int ruleset, const char *path)
{
	uint64_t rights = LL_READ_FILE;
	int r, fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		rights |= LL_READ_DIR;
	r = sandbox_allow_beneath(ruleset, fd, rights);
	close(fd);
	return r;
}

int sandbox_allow_files(int ruleset, const char *const *paths, const int *dirs,
			int n)
{
	int r = 0;

	for (int i = 0; i < n && r == 0; i++) {
		if (dirs[i] >= 0)
			r = sandbox_allow_beneath(ruleset, dirs[i], LL_WRITE_FILE |
						  LL_READ_FILE | LL_READ_DIR |
						  LL_REMOVE_FILE | LL_MAKE_REG);
	}
	for (; *paths && r == 0; paths++)
		r = sandbox_allow_reading(ruleset, *paths);
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
	/* seals of shared memory, ours and a peer's; how a file was opened; another
	 * descriptor of the same */
	WHEN(fcntl, 1, INT, F_GETFL),
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

/* Is base replaced by one of the process's own rules? */
static bool sandbox_rule_replaced(const struct sandbox_rule *base,
				  const struct sandbox_rule *const *own, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (own[i]->nr == base->nr &&
		    (!base->conditions || !own[i]->conditions ||
		     own[i]->arg != base->arg))
			return true;
	}
	return false;
}

size_t sandbox_rules(const struct confinement *c,
		     const struct sandbox_rule *all[SANDBOX_RULES_MAX])
{
	size_t n = 0, own;

	for (size_t t = 0; t < SANDBOX_TABLES; t++) {
		for (size_t i = 0; i < c->rules[t].n; i++)
			all[n++] = &c->rules[t].v[i];
	}
	own = n;
	for (size_t i = 0; i < N(base_rules); i++) {
		if (!sandbox_rule_replaced(&base_rules[i], all, own))
			all[n++] = &base_rules[i];
	}
	return n;
}

static int sandbox_add_rule(scmp_filter_ctx ctx, const struct sandbox_rule *r)
{
	uint32_t action = SCMP_ACT_ALLOW;

	if (r->nr < 0)
		return 0;
	if (r->error)
		action = SCMP_ACT_ERRNO(r->error);
	return seccomp_rule_add_exact(ctx, action, r->nr, r->conditions,
		SCMP_CMP64(r->arg, SCMP_CMP_MASKED_EQ, r->mask, r->value),
		SCMP_CMP64(r->arg + 1u, SCMP_CMP_MASKED_EQ, r->mask2,
			   r->value2));
}

int sandbox_fill_filter(scmp_filter_ctx ctx, const struct confinement *c)
{
	const struct sandbox_rule *all[SANDBOX_RULES_MAX];
	size_t n = sandbox_rules(c, all);
	int r = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, 1);

	if (!r)
		r = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
				     SCMP_ACT_KILL_PROCESS);
	for (size_t i = 0; i < n && !r; i++)
		r = sandbox_add_rule(ctx, all[i]);
	return r;
}

void sandbox_seccomp(const struct confinement *c)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r = sandbox_fill_filter(ctx, c);

	if (!r)
		r = seccomp_load(ctx);
	seccomp_release(ctx);
	errno = -r;
	if (r)
		sandbox_failed("seccomp");
}

void sandbox_program_make(struct sandbox_program *p, const struct confinement *c)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int fd = memfd_create("filter", MFD_CLOEXEC);
	int r = sandbox_fill_filter(ctx, c);
	ssize_t len = -1;

	if (!r)
		r = seccomp_export_bpf(ctx, fd);
	seccomp_release(ctx);
	errno = r ? -r : E2BIG;
	if (!r)
		len = pread(fd, p->v, sizeof(p->v), 0);
	/* a full buffer may be less than there is */
	if (len <= 0 || (size_t)len == sizeof(p->v))
		sandbox_failed("making a filter");
	p->n = (unsigned short)((size_t)len / sizeof(p->v[0]));
	close(fd);
}

void sandbox_program_load(const struct sandbox_program *p)
{
	struct sock_fprog prog = { p->n, (struct sock_filter *)p->v };

	/* with TSYNC it may return a thread's number */
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &prog))
		sandbox_failed("seccomp");
}

/* --- all of it ------------------------------------------------------------- */

/* A unit's parent is systemd, which outlives it. */
static int sandbox_death_signal(const struct confinement *c)
{
	if (c->may_be_unit && getppid() == 1)
		return 0;
	return c->deathsig;
}

void confine(const struct confinement *c, const struct confine_as *as)
{
	sandbox_limits(c);
	if (!c->identity_inherited)
		sandbox_identity(as->uid, as->gid, c->caps);
	sandbox_quiet(sandbox_death_signal(c));
	if (as->opens)
		as->opens(as->arg);
	if (c->landlock != LANDLOCK_NONE)
		sandbox_landlock(c->landlock == LANDLOCK_FILES, as->allows, as->arg);
	if (as->checks)
		as->checks(as->arg);
	if (!c->any_call)
		sandbox_seccomp(c);
}
