/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox - what a process gives up before it reads a byte from others
 *
 * Each kind of process has a struct confinement, in a confine.c of its folder,
 * and confine() applies it.  docs/SECURITY.md has a table of all of them
 * (unit/confinement), and packaging/oci/seccomp.c makes profiles of their rules.
 *
 * What cannot be given up ends the process, with status 1 and a line in the log: who
 * returns from here is confined.
 */
#ifndef COMMON_SANDBOX_H
#define COMMON_SANDBOX_H

#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/*
 * One seccomp rule: allow a system call, or have it fail, always or when argument
 * `arg` masked with `mask` equals `value` (only EQ and MASKED_EQ, one comparison
 * of an argument: libseccomp before 2.6.1 merges others into a weaker filter).
 * Made by the macros below, which keep it consistent.
 */
struct sandbox_rule {
	int nr;			/* SCMP_SYS(...); negative on this
				 * architecture: skipped */
	uint16_t error;		/* fail with this errno; 0: allow it */
	uint8_t conditions;	/* 0: always; 1: of arg; 2: of arg + 1, too */
	uint8_t arg;
	uint64_t mask, value;	/* (args[arg] & mask) == value */
	uint64_t mask2, value2;	/* and likewise args[arg + 1] */
};

/* The rules of a table.  INT masks an argument that is an int to the kernel: its
 * upper half may be anything.  A condition with mask 0, which would always hold,
 * does not compile. */
#define INT	0xffffffffULL
#define YES(call)	{ .nr = SCMP_SYS(call) }
#define WHEN(call, a, m, v)	FAIL_WHEN(call, a, m, v, 0)
#define FAIL(call, e)	{ .nr = SCMP_SYS(call), .error = (e) }
#define FAIL_WHEN(call, a, m, v, e)					\
	{ .nr = SCMP_SYS(call), .error = (e), .conditions = 1, .arg = (a), \
	  .value = (v), .mask = (m) + 0 * sizeof(char[(m) ? 1 : -1]) }
#define WHEN_BOTH(call, a, m, v, m2, v2)				\
	{ .nr = SCMP_SYS(call), .conditions = 2, .arg = (a), .value = (v), \
	  .mask = (m) + 0 * sizeof(char[(m) ? 1 : -1]), .value2 = (v2),	\
	  .mask2 = (m2) + 0 * sizeof(char[(m2) ? 1 : -1]) }

struct sandbox_rules {
	const struct sandbox_rule *v;
	size_t n;
	const char *only;	/* when it applies, for docs/SECURITY.md; else the process
				 * sets n to 0 in its copy.  NULL: always */
};

#define RULES(table, only)	{ (table), sizeof(table) / sizeof((table)[0]), (only) }
#define SANDBOX_TABLES	4

struct sandbox_limit {
	int what;		/* RLIMIT_... + 1; 0: the end */
	uint64_t max;		/* hard and soft, if not lower already */
};

#define LIMIT(resource, max)	{ RLIMIT_##resource + 1, (max) }
#define NO_PROCESSES	LIMIT(NPROC, 0)		/* none more, and no threads */
#define NO_LOCKED_MEMORY	LIMIT(MEMLOCK, 0)	/* no BPF maps before Linux 5.11 */
#define COMMON_LIMITS	LIMIT(CORE, 0), LIMIT(MSGQUEUE, 0), LIMIT(STACK, 1u << 20)
#define SANDBOX_LIMITS	12

#define CAP(capability)	(1ULL << CAP_##capability)
#define NEW_ROOT	(CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS)

enum sandbox_landlock {
	LANDLOCK_NOTHING,	/* no file, no TCP */
	LANDLOCK_FILES,		/* what confine_as.allows adds, and TCP */
	LANDLOCK_NONE,		/* not used, or its parent's */
};

/* What one kind of process keeps.  What is not set is given up. */
struct confinement {
	const char *process;	/* its name in docs/SECURITY.md */
	int namespaces;		/* CLONE_NEW...; with NEW_ROOT its root is empty */
	struct sandbox_limit limits[SANDBOX_LIMITS];
	bool identity_inherited;	/* from a parent that is confined */
	uint64_t caps;		/* permitted and effective capabilities: CAP(...) */
	int deathsig;		/* when its parent dies; 0: none */
	bool may_be_unit;	/* no signal if the parent is PID 1 */
	enum sandbox_landlock landlock;
	bool any_call;		/* no seccomp filter */
	struct sandbox_rules rules[SANDBOX_TABLES];
};

/* What depends on the start of a process. */
struct confine_as {
	uid_t uid;		/* (uid_t)-1: as it is, never 0 */
	gid_t gid;
	/* Called with arg, if set: with the new identity, before Landlock; to add
	 * rules to Landlock's ruleset (0, or -1 and errno); under Landlock. */
	void (*opens)(void *arg);
	int (*allows)(int ruleset, const void *arg);
	void (*checks)(void *arg);
	void *arg;
};

/*
 * Apply all but the namespaces: limits, identity, no_new_privs and not dumpable,
 * Landlock, seccomp, in this order.
 */
void confine(const struct confinement *c, const struct confine_as *as);

/* --- its steps --------------------------------------------------------------- */

/*
 * New namespaces with an empty read-only root, into which these paths are bound
 * (NULL-terminated; NULL: none; those that exist): keep to read, write
 * (directories) to write.  Without CAP_SYS_ADMIN (a unit did it already): does
 * nothing.
 */
void sandbox_namespaces(int namespaces, const char *const *keep,
			const char *const *write);

void sandbox_limits(const struct confinement *c);

/*
 * Become uid and gid with exactly these capabilities (permitted and effective; by
 * libcap-ng), no supplementary groups, empty bounding and ambient sets, locked
 * securebits.  uid (uid_t)-1: keep the uid, but never 0; groups stay, and without
 * CAP_SETPCAP so do the bounding set and the securebits (the unit sets them).
 * Then check that all of it holds and that root cannot be regained.
 */
void sandbox_identity(uid_t uid, gid_t gid, uint64_t caps);

/* no_new_privs, not dumpable, PR_SET_PDEATHSIG pdeathsig (0: none). */
void sandbox_quiet(int pdeathsig);

/* Close every descriptor not in keep (n of them, any order). */
void sandbox_close_fds(const int *keep, int n);

/*
 * Landlock: handle every right this kernel knows, allow none, but TCP if net,
 * and whatever rules allow() adds to the ruleset (NULL: none; it returns 0, or
 * -1 and errno).  Success where the kernel has no Landlock.  Two things are left
 * to seccomp: connecting to a Unix socket by path (ABI 9; loaderd and exporterd
 * must find the hub again) and UDP (ABI 10).
 */
void sandbox_landlock(bool net, int (*allow)(int ruleset, const void *ctx),
		      const void *ctx);

/* Add rules to a ruleset: files below paths (NULL-terminated; those that exist)
 * may be read, and below n dirs (descriptors; -1: none) regular files may be made,
 * read, written and removed.  Returns 0, or -1 and errno. */
int sandbox_allow_files(int ruleset, const char *const *paths, const int *dirs,
			int n);

/*
 * The rules of c's tables, and those of base_rules (sandbox.c), which
 * every process gets: memory without PROT_EXEC, read, write, close, clock, exit ...;
 * open/stat/clone3/socket/ioctl(TCGETS) fail with an errno.  Returns their number.
 *
 * c's rules win: where one names a system call of base_rules, the base rule is left
 * out, unless both have conditions on the same argument (so another allowed ioctl
 * leaves the answer to TCGETS as it was).
 */
#define SANDBOX_RULES_MAX	192	/* more than any process has: unit/confinement */
size_t sandbox_rules(const struct confinement *c,
		     const struct sandbox_rule *all[SANDBOX_RULES_MAX]);

/* Add these rules to ctx; if that is NULL, fail.  Logs nothing. */
int sandbox_fill_filter(scmp_filter_ctx ctx, const struct confinement *c);

/* Install them as an allow-list; any other call kills the process. */
void sandbox_seccomp(const struct confinement *c);

/* A filter as the kernel gets it. */
#define SANDBOX_PROGRAM_MAX	1024
struct sandbox_program {
	unsigned short n;	/* 0: it is not made */
	struct sock_filter v[SANDBOX_PROGRAM_MAX];
};

/*
 * sandbox_seccomp() in two steps, for a process that starts many of one kind: make the
 * program of c's rules, which takes libseccomp as long as the kernel needs to load it; and
 * load it, after sandbox_quiet(), as often as wanted.
 */
void sandbox_program_make(struct sandbox_program *p, const struct confinement *c);
void sandbox_program_load(const struct sandbox_program *p);

/* Log that this step failed, with errno, and end the process. */
_Noreturn void sandbox_failed(const char *step);

#endif /* COMMON_SANDBOX_H */
