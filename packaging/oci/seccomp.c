// SPDX-License-Identifier: Apache-2.0
/*
 * seccomp - a container's seccomp profile, made from the daemon's own rules
 *
 *   seccomp DAEMON            the profile for a container runtime, as JSON
 *   seccomp --test DAEMON     its parts, for tests/install/test_oci_seccomp.py
 *
 * Runs at build time, over the struct confinement of each process of a daemon.  A
 * runtime sets the profile before it runs one of trifold's programs, so the
 * profile also has the calls from there to the end of confine(): start_rules.
 * After confine() the daemon's own filter allows only its own list.
 */
#include <err.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "exporterd/confinement.h"
#include "loaderd/confine.h"
#include "symbolizerd/worker/confine.h"

#define RULES_MAX	1024
#define PROCESSES	3
#define N(a)		(sizeof(a) / sizeof((a)[0]))

/* --- what a container needs until the end of confine() ------------------------ */

static const struct sandbox_rule start_rules[] = {
	/* the runtime (runc; Go), from setting the filter to execve(2): entering
	 * the container, its threads */
	YES(execve), YES(chdir), YES(getcwd), YES(getdents64), YES(fstatfs),
	YES(epoll_create1), YES(epoll_pwait), YES(eventfd2), YES(nanosleep),
	YES(sched_yield), YES(sched_getaffinity), YES(tgkill), YES(sigaltstack),
	YES(madvise), YES(exit), WHEN(clone, 0, CLONE_THREAD, CLONE_THREAD),
	/* ... without no_new_privs, or another runtime: users, capabilities */
	YES(setuid), YES(setgid), YES(setgroups), YES(setresuid), YES(setresgid),
	YES(capget), YES(capset), YES(prctl), YES(fchown), YES(umask),
	/* programs and shared libraries are loaded */
	YES(openat), YES(access), YES(faccessat), YES(faccessat2),
	YES(mmap), YES(mprotect), YES(arch_prctl), YES(set_tid_address),
	YES(rseq), YES(prlimit64), YES(newfstatat), YES(lseek), YES(readlink),
	YES(readlinkat),
	/* users by name: glibc asks for a cache first.  Unix sockets alone */
	WHEN(socket, 0, INT, AF_UNIX), YES(connect),
	/* what daemons ask and prepare before confine() */
	YES(uname), YES(getuid), YES(geteuid), YES(getresuid), YES(getresgid),
	YES(gettid), YES(getsid), YES(fcntl),
	YES(dup2), YES(dup3), YES(signalfd4), YES(timerfd_create),
	YES(timerfd_settime), YES(setpriority),
	WHEN(socketpair, 0, INT, AF_UNIX),
	/* confine() */
	YES(close_range), YES(landlock_create_ruleset), YES(landlock_add_rule),
	YES(landlock_restrict_self), YES(seccomp),
};

static const struct sandbox_rule loaderd_start[] = {
	YES(ioctl),		/* perf events, before they are known */
};

static const struct sandbox_rule symbolizerd_start[] = {
	/* trifold-listen */
	YES(unlink), YES(unlinkat), YES(bind), YES(listen),
	YES(getsockopt),	/* checks its sockets */
	/* the zygote: a session of its own, its priority */
	YES(setsid), YES(getpriority),
	/* `trifold status` in this container */
	YES(ioctl), YES(setsockopt),
};

/* --- daemons -------------------------------------------------------------------- */

static const struct daemon {
	const char *name;
	const struct confinement *processes[PROCESSES];
	struct sandbox_rules start;	/* of this daemon alone */
} daemons[] = {
	{ "loaderd", { &confinement_loaderd, &confinement_opener },
	  RULES(loaderd_start, NULL) },
	{ "symbolizerd", { &confinement_hub, &confinement_zygote, &confinement_worker },
	  RULES(symbolizerd_start, NULL) },
	{ "exporterd", { &confinement_exporterd }, { NULL, 0, NULL } },
};

static const struct sandbox_rule *rules[RULES_MAX];
static size_t n_rules;

static void seccomp_add_rule_to_list(const struct sandbox_rule *rule)
{
	if (rule->nr < 0)		/* not on this architecture */
		return;
	if (n_rules == RULES_MAX)
		errx(1, "too many rules");
	rules[n_rules++] = rule;
}

static void seccomp_add_start(const struct daemon *d)
{
	for (size_t i = 0; i < N(start_rules); i++)
		seccomp_add_rule_to_list(&start_rules[i]);
	for (size_t i = 0; i < d->start.n; i++)
		seccomp_add_rule_to_list(&d->start.v[i]);
}

static void seccomp_add_process(const struct confinement *c)
{
	const struct sandbox_rule *all[SANDBOX_RULES_MAX];
	size_t n = sandbox_rules(c, all);

	for (size_t i = 0; i < n; i++)
		seccomp_add_rule_to_list(all[i]);
}

/* --- the profile ------------------------------------------------------------------ */

static bool seccomp_rule_same(const struct sandbox_rule *a, const struct sandbox_rule *b)
{
	return a->nr == b->nr && a->error == b->error &&
	       a->conditions == b->conditions && a->arg == b->arg &&
	       a->mask == b->mask && a->value == b->value &&
	       a->mask2 == b->mask2 && a->value2 == b->value2;
}

/* Does an earlier rule say the same, or does another one allow more? */
static bool seccomp_rule_needless(size_t at)
{
	const struct sandbox_rule *r = rules[at];

	for (size_t i = 0; i < n_rules; i++) {
		const struct sandbox_rule *o = rules[i];

		if (o->nr != r->nr || i == at)
			continue;
		/* allowed always, or to another process of the daemon */
		if (!o->error && (r->error || (!o->conditions && r->conditions)))
			return true;
		if (i < at && seccomp_rule_same(o, r))
			return true;
	}
	return false;
}

static void seccomp_print_rule(const struct sandbox_rule *r)
{
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, r->nr);

	printf("{\"names\": [\"%s\"], \"action\": \"%s\"", name,
	       r->error ? "SCMP_ACT_ERRNO" : "SCMP_ACT_ALLOW");
	if (r->error)
		printf(", \"errnoRet\": %u", r->error);
	if (r->conditions)
		printf(", \"args\": [{\"index\": %u, \"value\": %llu, \"valueTwo\": %llu, "
		       "\"op\": \"SCMP_CMP_MASKED_EQ\"}", r->arg,
		       (unsigned long long)r->mask, (unsigned long long)r->value);
	if (r->conditions == 2)
		printf(", {\"index\": %u, \"value\": %llu, \"valueTwo\": %llu, "
		       "\"op\": \"SCMP_CMP_MASKED_EQ\"}", r->arg + 1u,
		       (unsigned long long)r->mask2, (unsigned long long)r->value2);
	printf("%s}", r->conditions ? "]" : "");
	free(name);
}

static const char *seccomp_architecture(void)
{
	switch (seccomp_arch_native()) {
	case SCMP_ARCH_X86_64:
		return "SCMP_ARCH_X86_64";
	case SCMP_ARCH_AARCH64:
		return "SCMP_ARCH_AARCH64";
	default:
		errx(1, "unknown architecture");
	}
}

static void seccomp_print_profile(const struct daemon *d)
{
	const char *comma = "";

	seccomp_add_start(d);
	for (size_t i = 0; i < PROCESSES && d->processes[i]; i++)
		seccomp_add_process(d->processes[i]);
	printf("{\n \"defaultAction\": \"SCMP_ACT_ERRNO\",\n"
	       " \"architectures\": [\"%s\"],\n \"syscalls\": [", seccomp_architecture());
	for (size_t i = 0; i < n_rules; i++) {
		if (seccomp_rule_needless(i))
			continue;
		printf("%s\n  ", comma);
		seccomp_print_rule(rules[i]);
		comma = ",";
	}
	printf("\n ]\n}\n");
}

/* Print the program that the kernel would get. */
static void seccomp_print_filter(const struct confinement *c)
{
	static struct sandbox_program p;

	sandbox_program_make(&p, c);
	printf("filter ");
	for (size_t i = 0; i < p.n; i++) {
		const struct sock_filter *f = &p.v[i];

		printf("%016llx", (unsigned long long)f->k << 32 |
		       (unsigned long long)f->jf << 24 |
		       (unsigned long long)f->jt << 16 | f->code);
	}
	printf("\n");
}

static void seccomp_print_parts(const struct daemon *d)
{
	for (size_t i = 0; i < PROCESSES && d->processes[i]; i++)
		seccomp_print_filter(d->processes[i]);
	seccomp_add_start(d);
	for (size_t i = 0; i < n_rules; i++) {
		printf("start ");
		seccomp_print_rule(rules[i]);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	bool test = argc == 3 && !strcmp(argv[1], "--test");

	if (argc != 2 && !test)
		errx(2, "usage: seccomp [--test] loaderd|symbolizerd|exporterd");
	for (size_t i = 0; i < N(daemons); i++) {
		if (strcmp(argv[argc - 1], daemons[i].name))
			continue;
		if (test)
			seccomp_print_parts(&daemons[i]);
		else
			seccomp_print_profile(&daemons[i]);
		return fflush(stdout) ? 1 : 0;
	}
	errx(2, "no daemon is called %s", argv[argc - 1]);
}
