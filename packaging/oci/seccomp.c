// SPDX-License-Identifier: Apache-2.0
/*
 * seccomp - a container's seccomp profile, made of the daemon's own filters
 *
 *   seccomp DAEMON            the profile for a container runtime, as JSON
 *   seccomp --test DAEMON     what it is made of, for tests/install/test_oci_seccomp.py
 *
 * Runs at build time.  It calls the confine() functions of all processes of a daemon;
 * the linker puts functions of this file in place of those that would confine it
 * (oci.mk: --wrap), so that rules are noted down and nothing happens.
 *
 * A runtime sets the profile before a program of ours runs, so it also has what is
 * called from there to the end of confine(): start_rules.  From then on the daemon's
 * own filter lets nothing through but its own list.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/sandbox.h"
#include "exporterd/confine.h"
#include "loaderd/confine.h"
#include "symbolizerd/worker/confine.h"

#define RULES_MAX	1024
#define PROCESSES	4
#define N(a)		(sizeof(a) / sizeof((a)[0]))

/* --- what a container needs until confine() has ended ------------------------- */

static const struct sandbox_rule start_rules[] = {
	/* the runtime (runc; Go), from setting the filter to execve(2): the way
	 * into the container, its threads */
	YES(execve), YES(chdir), YES(getcwd), YES(getdents64), YES(fstatfs),
	YES(epoll_create1), YES(epoll_pwait), YES(eventfd2), YES(nanosleep),
	YES(sched_yield), YES(sched_getaffinity), YES(tgkill), YES(sigaltstack),
	YES(madvise), YES(exit), WHEN(clone, 0, CLONE_THREAD, CLONE_THREAD),
	/* ... and without no_new_privs, or another runtime: users, capabilities */
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
	YES(uname), YES(getuid), YES(geteuid), YES(getresuid), YES(getresgid), YES(gettid), YES(getsid), YES(fcntl),
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
	YES(getsockopt),	/* are its sockets what they should be? */
	/* the zygote: a session of its own, its priority */
	YES(setsid), YES(getpriority),
	/* `trifold status` in this container; that of start_rules, too */
	YES(ioctl), YES(setsockopt),
};

/* --- noting down -------------------------------------------------------------- */

struct noted {
	struct sandbox_rule rule;
	bool start;		/* of start_rules, not of a process */
};

static struct noted noted[RULES_MAX];
static size_t n_noted;
static struct {
	struct sock_filter program[BPF_MAXINSNS];
	size_t n;
} processes[PROCESSES];
static size_t n_processes;

static void rule_note(const struct sandbox_rule *r, bool start)
{
	if (r->nr < 0)		/* not on this architecture */
		return;
	if (n_noted == RULES_MAX)
		errx(1, "too many rules");
	noted[n_noted++] = (struct noted){ *r, start };
}

static void rules_start(const struct sandbox_rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		rule_note(&rules[i], true);
}

int __real_seccomp_rule_add_exact(scmp_filter_ctx ctx, uint32_t action, int nr,
				  unsigned int n, ...);
int __wrap_seccomp_rule_add_exact(scmp_filter_ctx ctx, uint32_t action, int nr,
				  unsigned int n, ...);
int __wrap_seccomp_rule_add_exact(scmp_filter_ctx ctx, uint32_t action, int nr,
				  unsigned int n, ...)
{
	struct sandbox_rule r = { .nr = nr };
	struct scmp_arg_cmp a, b;
	va_list ap;

	va_start(ap, n);	/* add_rule() of sandbox.c always passes two */
	a = va_arg(ap, struct scmp_arg_cmp);
	b = va_arg(ap, struct scmp_arg_cmp);
	va_end(ap);
	if (action != SCMP_ACT_ALLOW)
		r.error = action & 0xffff;
	if (n > 0) {
		r.arg = (uint8_t)a.arg;
		r.mask = a.datum_a;
		r.value = a.datum_b;
	}
	if (n > 1) {
		r.mask2 = b.datum_a;
		r.value2 = b.datum_b;
	}
	rule_note(&r, false);
	return __real_seccomp_rule_add_exact(ctx, action, nr, n, a, b);
}

int __wrap_seccomp_load(const scmp_filter_ctx ctx);
int __wrap_seccomp_load(const scmp_filter_ctx ctx)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	ssize_t n;

	if (n_processes == PROCESSES || seccomp_export_bpf(ctx, fd) ||
	    lseek(fd, 0, SEEK_SET) < 0)
		errx(1, "a filter cannot be exported");
	n = read(fd, processes[n_processes].program, sizeof(processes[0].program));
	if (n <= 0)
		err(1, "a filter cannot be read");
	processes[n_processes++].n = (size_t)n / sizeof(struct sock_filter);
	close(fd);
	return 0;
}

/* --- what would confine this process ---------------------------------------------- */

#define NOTHING(name, ...) \
	int __wrap_##name(__VA_ARGS__); \
	int __wrap_##name(__VA_ARGS__) { return 0; }

#pragma GCC diagnostic ignored "-Wunused-parameter"
NOTHING(sandbox_namespaces, bool net, const char *const *keep)
NOTHING(sandbox_namespaces_with, bool net, const char *const *keep, const char *const *w)
NOTHING(sandbox_limits, unsigned int nofile, uint64_t as, int nproc, bool memlock)
NOTHING(sandbox_identity, uid_t uid, gid_t gid, const int *caps, int n)
NOTHING(sandbox_quiet, int sig)
NOTHING(sandbox_close_fds, const int *keep, int n)
NOTHING(sandbox_landlock, bool net, int (*allow)(int, const void *), const void *c)
NOTHING(sandbox_landlock_files, const char *const *paths, const int *dirs, int n)
NOTHING(setrlimit, int what, const struct rlimit *rl)

int __wrap_spool_open(struct spool *s, const char *path, uint64_t bytes);
int __wrap_spool_open(struct spool *s, const char *path, uint64_t bytes)
{
	s->dir = STDIN_FILENO;	/* there is one */
	return 0;
}

void __wrap_debug_cache_open(struct debug_cache *c, const char *path, uint64_t bytes, bool asked);
void __wrap_debug_cache_open(struct debug_cache *c, const char *path, uint64_t bytes, bool asked)
{
	c->dir = STDIN_FILENO;
}

/* --- daemons -------------------------------------------------------------------- */

static int confine_loaderd(void)
{
	rules_start(loaderd_start, N(loaderd_start));
	return confine_main(-1, -1) || confine_opener(-1, -1, NULL, 0);
}

static int confine_symbolizerd(void)
{
	rules_start(symbolizerd_start, N(symbolizerd_start));
	return confine_hub(-1, -1) || confine_zygote(-1, -1, NULL, 0) ||
	       confine_worker(WORKER_CPU_S);
}

static int confine_exporterd(void)
{
	static char hub[] = "/run/trifold/export.sock", directory[] = "/";
	struct exporter_config c = {
		.no_network = true, .hub = hub, .spool = directory,
		.debuginfod = { .n = 1, .cache = directory },
	};
	static struct debug_cache cache;
	static struct spool spool;

	return exporter_confine(&c, &spool, &cache);
}

static const struct {
	const char *name;
	int (*confine)(void);
} daemons[] = {
	{ "loaderd", confine_loaderd }, { "symbolizerd", confine_symbolizerd },
	{ "exporterd", confine_exporterd },
};

/* --- the profile ------------------------------------------------------------------ */

static bool rule_same(const struct sandbox_rule *a, const struct sandbox_rule *b)
{
	return a->nr == b->nr && a->error == b->error && a->mask == b->mask &&
	       a->value == b->value && a->mask2 == b->mask2 &&
	       a->value2 == b->value2 && (!a->mask || a->arg == b->arg);
}

/* Says an earlier rule the same, or another one more? */
static bool needless(size_t at)
{
	const struct sandbox_rule *r = &noted[at].rule;

	for (size_t i = 0; i < n_noted; i++) {
		const struct sandbox_rule *o = &noted[i].rule;

		if (o->nr != r->nr || i == at)
			continue;
		/* it is allowed, always or to another process of the daemon */
		if (!o->error && (r->error || (!o->mask && r->mask)))
			return true;
		if (i < at && rule_same(o, r))
			return true;
	}
	return false;
}

static void print_rule(const struct sandbox_rule *r)
{
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, r->nr);

	printf("{\"names\": [\"%s\"], \"action\": \"%s\"", name,
	       r->error ? "SCMP_ACT_ERRNO" : "SCMP_ACT_ALLOW");
	if (r->error)
		printf(", \"errnoRet\": %u", r->error);
	if (r->mask)
		printf(", \"args\": [{\"index\": %u, \"value\": %llu, \"valueTwo\": %llu, "
		       "\"op\": \"SCMP_CMP_MASKED_EQ\"}", r->arg,
		       (unsigned long long)r->mask, (unsigned long long)r->value);
	if (r->mask2)
		printf(", {\"index\": %u, \"value\": %llu, \"valueTwo\": %llu, "
		       "\"op\": \"SCMP_CMP_MASKED_EQ\"}", r->arg + 1u,
		       (unsigned long long)r->mask2, (unsigned long long)r->value2);
	printf("%s}", r->mask ? "]" : "");
	free(name);
}

static const char *architecture(void)
{
	return seccomp_arch_native() == SCMP_ARCH_X86_64 ? "SCMP_ARCH_X86_64" :
	       seccomp_arch_native() == SCMP_ARCH_AARCH64 ? "SCMP_ARCH_AARCH64" :
	       NULL;
}

static void print_profile(void)
{
	const char *comma = "";

	if (!architecture())
		errx(1, "no name for this architecture");
	printf("{\n \"defaultAction\": \"SCMP_ACT_ERRNO\",\n"
	       " \"architectures\": [\"%s\"],\n \"syscalls\": [", architecture());
	for (size_t i = 0; i < n_noted; i++) {
		if (needless(i))
			continue;
		printf("%s\n  ", comma);
		print_rule(&noted[i].rule);
		comma = ",";
	}
	printf("\n ]\n}\n");
}

/* Each process's filter, as the kernel would get it, and each rule of the start. */
static void print_parts(void)
{
	for (size_t i = 0; i < n_processes; i++) {
		printf("filter ");
		for (size_t k = 0; k < processes[i].n; k++) {
			const struct sock_filter *f = &processes[i].program[k];

			printf("%016llx", (unsigned long long)f->k << 32 |
			       (unsigned long long)f->jf << 24 |
			       (unsigned long long)f->jt << 16 | f->code);
		}
		printf("\n");
	}
	for (size_t i = 0; i < n_noted; i++) {
		if (!noted[i].start)
			continue;
		printf("start ");
		print_rule(&noted[i].rule);
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
		rules_start(start_rules, N(start_rules));
		if (daemons[i].confine())
			errx(1, "the rules of %s cannot be had", daemons[i].name);
		if (test)
			print_parts();
		else
			print_profile();
		return fflush(stdout) ? 1 : 0;
	}
	errx(2, "no daemon is called %s", argv[argc - 1]);
}
