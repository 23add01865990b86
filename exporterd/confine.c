// SPDX-License-Identifier: Apache-2.0
#include "exporterd/confine.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/sandbox_more.h"

#define KEEP_MAX	96	/* two a path: `readable`, 3 an endpoint and
			 * for metrics */
#define NOFILE 1024		/* KEPT_MAX and RECORDER_MAX, sockets */
#define ADDRESS_SPACE	(1ULL << 30)	/* a batch, its request, the queue */

/* --- what stays readable --------------------------------------------------- */

/* Where distributions have their CA files, and what getaddrinfo() of glibc
 * reads; those that exist. */
static const char *const readable[] = {
	"/etc/ssl", "/etc/pki", "/etc/ca-certificates",
	"/usr/share/ca-certificates", "/usr/lib/ssl", "/var/lib/ca-certificates",
	"/etc/crypto-policies", "/usr/share/crypto-policies", "/etc/gnutls",
	"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf",
	"/etc/nsswitch.conf", "/usr/etc/nsswitch.conf", "/etc/services",
	"/run/systemd/resolve", "/usr/share/zoneinfo/UTC",
};

struct keep {
	char *v[KEEP_MAX];
	size_t n;
};

static int keep_path(struct keep *k, const char *path)
{
	char *copy;

	for (size_t i = 0; i < k->n; i++) {
		if (strcmp(k->v[i], path) == 0)
			return 0;
	}
	if (k->n >= KEEP_MAX - 1)
		return -E2BIG;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	k->v[k->n++] = copy;
	return 0;
}

/* The path, and what it stands for: a symbolic link inside a kept directory
 * (as most files of /etc/ssl/certs are) leads nowhere otherwise. */
static int keep_file(struct keep *k, const char *path)
{
	char real[PATH_MAX];
	int r;

	if (!path || !realpath(path, real))
		return 0;
	r = keep_path(k, real);
	return r < 0 ? r : keep_path(k, path);
}

static int keep_directory_of(struct keep *k, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];

	if (slash == path || slash - path >= (ptrdiff_t)sizeof(dir)) {
		log_err("--hub: put the socket into a directory of its own");
		return -EINVAL;
	}
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	return keep_file(k, dir);
}

static int keep_files(struct keep *k, const struct endpoint *e)
{
	int r = keep_file(k, e->ca);

	if (r == 0)
		r = keep_file(k, e->cert);
	return r < 0 ? r : keep_file(k, e->key);
}

static int find_keep(struct keep *k, const struct exporter_config *cfg,
		     bool sockets)
{
	int r = sockets ? keep_directory_of(k, cfg->hub) : 0;

	for (size_t i = 0; i < sizeof(readable) / sizeof(readable[0]) &&
	     r == 0 && !cfg->no_network; i++)
		r = keep_file(k, readable[i]);
	for (unsigned int i = 0; i < cfg->n_endpoints && r == 0; i++)
		r = keep_files(k, &cfg->endpoints[i]);
	if (r == 0)
		r = keep_files(k, &cfg->metrics.to);
	if (r < 0)
		log_err("confinement failed at listing files: %s", strerror(-r));
	return r;
}

static void keep_fini(struct keep *k)
{
	while (k->n)
		free(k->v[--k->n]);
}

static int check_readable(const char *path, const char *what)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (!path)
		return 0;
	if (fd < 0) {
		int r = -errno;

		log_err("cannot read the %s %s as uid %u: %s: let that user read it",
			what, path, (unsigned int)getuid(), strerror(-r));
		return r;
	}
	close(fd);
	return 0;
}

static int check_files(const struct endpoint *e)
{
	int r = check_readable(e->ca, "CA certificate");

	if (r == 0)
		r = check_readable(e->cert, "client certificate");
	return r ? r : check_readable(e->key, "client key");
}

/* --- libraries that would be loaded later ----------------------------------- */

static void preload(const char *name)
{
	/* never closed, so that glibc finds it later */
	if (!dlopen(name, RTLD_NOW))
		log_debug("no %s", name);
}

/* glibc loads the modules named in "hosts:" of nsswitch.conf when it first
 * needs them, by file name; what is loaded already is not searched for. */
static void preload_nss(void)
{
	FILE *f = fopen("/etc/nsswitch.conf", "re");
	char line[512], name[64], *save, *word;

	preload("libnss_files.so.2");
	preload("libnss_dns.so.2");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "hosts:", 6) != 0)
			continue;
		for (word = strtok_r(line + 6, " \t\n", &save); word;
		     word = strtok_r(NULL, " \t\n", &save)) {
			if (!islower((unsigned char)word[0]) ||
			    strlen(word) > 32)
				continue;
			snprintf(name, sizeof(name), "libnss_%s.so.2", word);
			preload(name);
		}
	}
	if (f)
		fclose(f);
	preload("libgcc_s.so.1");	/* for the end of a thread */
}

/* --- system calls ------------------------------------------------------------ */

#define FAMILY(f)	WHEN(socket, 0, INT, f)
#define WRITING		(O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | O_TMPFILE)
#define NO_MADV		102	/* MADV_GUARD_INSTALL: stacks of glibc 2.42 */

/* Beyond base_rules of common/sandbox.c; tests/live/test_filters.py fails if a
 * call is not used. */
static const struct sandbox_rule rules[] = {
	/* the hub and systemd's resolver; HTTP and DNS; getaddrinfo() of a name
	 * with several addresses asks netlink for ours, to sort them */
	FAMILY(AF_UNIX), FAMILY(AF_INET), FAMILY(AF_INET6), FAMILY(AF_NETLINK),
	YES(connect), YES(bind),
	/* curl: what a connection has for addresses, its options, its error */
	YES(getsockname), YES(getpeername), YES(getsockopt), YES(setsockopt),
	/* DNS: A and AAAA at once; how long is the answer? */
	YES(sendmmsg), WHEN(ioctl, 1, INT, FIONREAD),
	/* curl's resolver thread, from its start to its end, and how it says
	 * that it is done; from curl 8.9 on by eventfd2 */
	WHEN(clone, 0, CLONE_THREAD, CLONE_THREAD), YES(rseq),
	YES(exit), YES(socketpair), YES(eventfd2),
	YES(gettid),		/* systemd's NSS modules: which thread is it? */
	/* memory: trim() of ours, malloc, a thread's stack */
	WHEN(madvise, 2, INT, MADV_DONTNEED), WHEN(madvise, 2, INT, NO_MADV),
	/* files to read, as far as there are any: certificates, resolv.conf and
	 * the like, which may be new; stdio goes back in them */
	WHEN(openat, 2, WRITING & ~O_DIRECTORY, O_RDONLY), YES(newfstatat),
	YES(lseek),
	YES(timerfd_settime),	/* when to try again, when to give up */
	YES(uname),		/* DNS: our domain, if resolv.conf has none */
	/* what a library may try, and does without */
	FAIL(mlock, EPERM), FAIL(prlimit64, EPERM), FAIL(pipe2, EPERM),
	FAIL(recvmmsg, ENOSYS), FAIL(getcwd, EACCES), FAIL(fadvise64, EINVAL),
	FAIL(dup, EMFILE), FAIL(shutdown, ENOTCONN),
};

/* With a spool or a cache: what is there is listed, and whose it is; a file is made for its
 * owner alone, written, synced, renamed, removed. */
static const struct sandbox_rule dir_rules[] = {
	{ .nr = SCMP_SYS(openat), .arg = 2, .mask = WRITING & ~O_DIRECTORY,
	  .value = O_WRONLY | O_CREAT, .mask2 = INT, .value2 = 0600 },
	/* glibc for riscv64 has renameat2 alone */
	YES(getdents64), YES(geteuid), YES(fsync), YES(renameat),
	WHEN(renameat2, 4, INT, 0), WHEN(unlinkat, 2, INT, 0),
};

/* When a file of the cache was used last, said of its descriptor. */
static const struct sandbox_rule cache_rules[] = { WHEN(utimensat, 1, UINT64_MAX, 0) };

/* What is read from the spool, or comes from a debuginfod server, becomes one. */
static const struct sandbox_rule memfd_rules[] = { YES(memfd_create) };

#define N_RULES		(sizeof(rules) / sizeof(rules[0]))
#define N_DIR_RULES	(sizeof(dir_rules) / sizeof(dir_rules[0]))

static int confine_seccomp(bool spool, bool cache, bool memfds)
{
	struct sandbox_rule all[N_RULES + 2 + N_DIR_RULES];
	size_t n = N_RULES;

	memcpy(all, rules, sizeof(rules));
	if (spool || memfds)
		all[n++] = memfd_rules[0];
	if (cache)
		all[n++] = cache_rules[0];
	if (spool || cache) {
		memcpy(all + n, dir_rules, sizeof(dir_rules));
		n += N_DIR_RULES;
	}
	return sandbox_seccomp(all, n);
}

/* --- confine ------------------------------------------------------------------ */

/* Those that are written to, as the user that they belong to. */
static int confine_open_dirs(const struct exporter_config *cfg, struct spool *spool,
			     struct debug_cache *cache, int dirs[2])
{
	const struct debuginfod_config *d = &cfg->debuginfod;
	int r = cfg->spool ? spool_open(spool, cfg->spool, cfg->spool_bytes) : 0;

	if (r == 0 && d->cache)
		debug_cache_open(cache, d->cache, d->cache_bytes, d->cache_asked);
	dirs[0] = spool->dir;
	dirs[1] = cache->dir;
	return r;
}

int exporter_confine(const struct exporter_config *cfg, struct spool *spool,
		     struct debug_cache *cache)
{
	const char *write[3] = { cfg->spool ? cfg->spool : cfg->debuginfod.cache,
				 cfg->spool ? cfg->debuginfod.cache : NULL, NULL };
	struct keep mounts = { 0 }, files = { 0 };
	int dirs[2] = { -1, -1 }, r;

	if (!cfg->no_network)
		preload_nss();
	r = find_keep(&mounts, cfg, true);
	if (r == 0)
		r = find_keep(&files, cfg, false);
	if (r == 0)
		r = sandbox_namespaces_with(false,
					    (const char *const *)mounts.v, write);
	if (r == 0)
		r = sandbox_limits(NOFILE, ADDRESS_SPACE, -1, false);
	if (r == 0)
		r = sandbox_identity(cfg->uid, cfg->gid, NULL, 0);
	if (r == 0)
		r = sandbox_quiet(getppid() == 1 ? 0 : SIGTERM);
	if (r == 0)
		r = confine_open_dirs(cfg, spool, cache, dirs);
	if (r == 0)
		r = sandbox_landlock_files((const char *const *)files.v, dirs, 2);
	for (unsigned int i = 0; i < cfg->n_endpoints && r == 0; i++)
		r = check_files(&cfg->endpoints[i]);
	if (r == 0)
		r = check_files(&cfg->metrics.to);
	if (r == 0)
		r = confine_seccomp(spool->dir >= 0, cache->dir >= 0,
				    cfg->debuginfod.n > 0);
	keep_fini(&mounts);
	keep_fini(&files);
	return r;
}
