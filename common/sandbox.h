/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox - the steps that each process's confine() is made of
 *
 * Every step returns 0, or -errno after a line in the log; confine() treats
 * any failure as fatal.  Order: sandbox_namespaces(), sandbox_limits(),
 * sandbox_identity(), sandbox_quiet(), sandbox_landlock_deny(),
 * sandbox_seccomp().  sandbox_namespaces() is in a file of its own,
 * sandbox_root.c, which loaderd does not link.
 */
#ifndef COMMON_SANDBOX_H
#define COMMON_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * New network, IPC, UTS and mount namespaces with an empty read-only root.
 * net: a new network namespace too.  keep: NULL-terminated paths (files or
 * directories) bound read-only into the new root, those that exist; NULL:
 * nothing at all.  Without CAP_SYS_ADMIN (a unit did it already): does nothing
 * and returns 0.
 */
int sandbox_namespaces(bool net, const char *const *keep);

/* RLIMIT_CORE 0, NOFILE nofile, MSGQUEUE 0, STACK 1 MiB, AS as (bytes; 0:
 * leave), NPROC nproc (-1: leave; it counts per uid), MEMLOCK 0 unless memlock
 * says to leave it: BPF maps count against it before Linux 5.11. */
int sandbox_limits(unsigned int nofile, uint64_t as, int nproc, bool memlock);

/*
 * Become uid and gid with exactly these capabilities (n of caps, permitted and
 * effective; by libcap-ng), no supplementary groups, empty bounding and
 * ambient sets, locked securebits.  uid (uid_t)-1: stay who we are, but never
 * uid 0; groups stay, and without CAP_SETPCAP so do the bounding set and the
 * securebits (the unit's business).  Then checks that all of it holds and that
 * root cannot be regained.
 */
int sandbox_identity(uid_t uid, gid_t gid, const int *caps, int n);

/* no_new_privs, not dumpable, PR_SET_PDEATHSIG sig if not 0. */
int sandbox_quiet(int pdeathsig);

/* Log that errno came in the way of this step; returns -errno. */
int sandbox_failed(const char *step);

/* Close every descriptor not in keep (n of them, any order). */
int sandbox_close_fds(const int *keep, int n);

/*
 * Landlock: handle every right this kernel knows, allow none, but TCP if net,
 * and whatever rules allow() adds to the ruleset (NULL: none; it returns 0, or
 * -1 and errno).  Success where the kernel has no Landlock.  Never in the
 * opener.  Two things are left to seccomp: connecting to a Unix socket by path
 * (ABI 9; loaderd and exporterd must find the hub again) and UDP (ABI 10).
 */
int sandbox_landlock(bool net, int (*allow)(int ruleset, const void *ctx),
		     const void *ctx);
#define sandbox_landlock_deny()	sandbox_landlock(false, NULL, NULL)

/*
 * One seccomp rule: allow a system call, or have it fail, always or when argument
 * `arg` masked with `mask` equals `value` (only EQ and MASKED_EQ, one comparison
 * a rule: libseccomp before 2.6.1 merges others into a weaker filter).
 */
struct sandbox_rule {
	int nr;			/* SCMP_SYS(...); negative on this
				 * architecture: skipped */
	uint16_t error;		/* fail with this errno; 0: allow it */
	uint8_t arg;
	uint64_t mask, value;	/* only when (args[arg] & mask) == value;
				 * mask 0: always */
	uint64_t mask2, value2;	/* and likewise args[arg + 1] */
};

/* The rules of a table; SCMP_SYS is libseccomp's.  INT masks an argument that
 * is an int to the kernel: its upper half may be anything.  A condition with mask
 * 0, which would always hold, does not compile. */
#define INT	0xffffffffULL
#define YES(call)	{ .nr = SCMP_SYS(call) }
#define WHEN(call, a, m, v)	FAIL_WHEN(call, a, m, v, 0)
#define FAIL(call, e)	{ .nr = SCMP_SYS(call), .error = (e) }
#define FAIL_WHEN(call, a, m, v, e)					\
	{ .nr = SCMP_SYS(call), .error = (e), .arg = (a), .value = (v),	\
	  .mask = (m) + 0 * sizeof(char[(m) ? 1 : -1]) }

/*
 * Install an allow-list; all else kills the process.  Rules common to every
 * process (memory without PROT_EXEC, read, write, close, futex, clock, exit,
 * signals' return, epoll, getrandom ...; open/stat/clone3/socket/ioctl(TCGETS)
 * fail with an errno) are added by itself; see base_rules in sandbox.c.
 *
 * The caller's rules win: where one names a system call of base_rules, the
 * base rule falls away, unless both have conditions on the same argument (so
 * an ioctl more leaves the answer to TCGETS as it was).
 */
int sandbox_seccomp(const struct sandbox_rule *rules, size_t n);

#endif /* COMMON_SANDBOX_H */
