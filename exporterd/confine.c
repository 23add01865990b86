// SPDX-License-Identifier: Apache-2.0
#include "exporterd/confine.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "exporterd/confinement.h"

#define KEEP_MAX	96	/* two a path: `readable`, 3 for each endpoint and
			 * for metrics */

/* --- what stays readable --------------------------------------------------- */

/* CA files of distributions, and what getaddrinfo() of glibc reads; those
 * that exist. */
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

static int confine_keep_path(struct keep *k, const char *path)
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

/* Keep the path and its target: else a symbolic link in a kept directory (as
 * most files of /etc/ssl/certs are) would lead nowhere. */
static int confine_keep_file(struct keep *k, const char *path)
{
	char real[PATH_MAX];
	int r;

	if (!path || !realpath(path, real))
		return 0;
	r = confine_keep_path(k, real);
	if (r < 0)
		return r;
	return confine_keep_path(k, path);
}

static int confine_keep_directory_of(struct keep *k, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];

	if (slash == path || slash - path >= (ptrdiff_t)sizeof(dir)) {
		log_err("--hub: put the socket into a directory of its own");
		return -EINVAL;
	}
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	return confine_keep_file(k, dir);
}

static int confine_keep_files(struct keep *k, const struct endpoint *e)
{
	int r = confine_keep_file(k, e->ca);

	if (r == 0)
		r = confine_keep_file(k, e->cert);
	if (r < 0)
		return r;
	return confine_keep_file(k, e->key);
}

static int confine_find_keep(struct keep *k, const struct exporter_config *cfg,
		     bool sockets)
{
	int r = 0;

	if (sockets)
		r = confine_keep_directory_of(k, cfg->hub);
	for (size_t i = 0; i < sizeof(readable) / sizeof(readable[0]) &&
	     r == 0 && !cfg->no_network; i++)
		r = confine_keep_file(k, readable[i]);
	for (unsigned int i = 0; i < cfg->n_endpoints && r == 0; i++)
		r = confine_keep_files(k, &cfg->endpoints[i]);
	if (r == 0)
		r = confine_keep_files(k, &cfg->metrics.to);
	if (r < 0)
		log_err("confinement failed at listing files: %s", strerror(-r));
	return r;
}

static void confine_keep_fini(struct keep *k)
{
	while (k->n)
		free(k->v[--k->n]);
}

static int confine_check_readable(const char *path, const char *what)
{
	int fd;

	if (!path)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		int r = -errno;

		log_err("cannot read the %s %s as uid %u: %s: let that user read it",
			what, path, (unsigned int)getuid(), strerror(-r));
		return r;
	}
	close(fd);
	return 0;
}

static int confine_check_files(const struct endpoint *e)
{
	int r = confine_check_readable(e->ca, "CA certificate");

	if (r == 0)
		r = confine_check_readable(e->cert, "client certificate");
	if (r)
		return r;
	return confine_check_readable(e->key, "client key");
}

/* --- libraries that glibc loads later ----------------------------------- */

static void confine_preload(const char *name)
{
	/* never closed, so that glibc finds it later */
	if (!dlopen(name, RTLD_NOW))
		log_debug("no %s", name);
}

/* glibc loads the modules named in "hosts:" of nsswitch.conf when it first
 * needs them, by file name; what is loaded already is not searched for. */
static void confine_preload_nss(void)
{
	FILE *f = fopen("/etc/nsswitch.conf", "re");
	char line[512], name[64], *save, *word;

	confine_preload("libnss_files.so.2");
	confine_preload("libnss_dns.so.2");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "hosts:", 6) != 0)
			continue;
		for (word = strtok_r(line + 6, " \t\n", &save); word;
		     word = strtok_r(NULL, " \t\n", &save)) {
			if (!islower((unsigned char)word[0]) ||
			    strlen(word) > 32)
				continue;
			snprintf(name, sizeof(name), "libnss_%s.so.2", word);
			confine_preload(name);
		}
	}
	if (f)
		fclose(f);
	confine_preload("libgcc_s.so.1");	/* for the end of a thread */
}

/* --- confine ------------------------------------------------------------------ */

struct exporter_start {
	const struct exporter_config *cfg;
	struct spool *spool;
	struct debug_cache *cache;
	struct keep mounts, files;
	struct confinement c;		/* without the rules that do not apply */
};

/* Open the directories to write, as their owner. */
static void exporter_open_dirs(void *arg)
{
	struct exporter_start *s = arg;
	const struct debuginfod_config *d = &s->cfg->debuginfod;

	if (s->cfg->spool && spool_open(s->spool, s->cfg->spool, s->cfg->spool_bytes))
		_exit(1);
	if (d->cache)
		debug_cache_open(s->cache, d->cache, d->cache_bytes, d->cache_asked);
	if (s->spool->dir < 0 && s->cache->dir < 0)
		s->c.rules[EXPORTER_DIR_RULES].n = 0;
	if (s->cache->dir < 0)
		s->c.rules[EXPORTER_CACHE_RULES].n = 0;
	if (s->spool->dir < 0 && d->n == 0)
		s->c.rules[EXPORTER_MEMFD_RULES].n = 0;
}

static int exporter_allow_files(int ruleset, const void *arg)
{
	const struct exporter_start *s = arg;
	const int dirs[] = { s->spool->dir, s->cache->dir };

	return sandbox_allow_files(ruleset, (const char *const *)s->files.v, dirs, 2);
}

static void exporter_check_files(void *arg)
{
	const struct exporter_config *cfg = ((struct exporter_start *)arg)->cfg;
	int r = 0;

	for (unsigned int i = 0; i < cfg->n_endpoints && r == 0; i++)
		r = confine_check_files(&cfg->endpoints[i]);
	if (r == 0)
		r = confine_check_files(&cfg->metrics.to);
	if (r)
		_exit(1);
}

void exporter_confine(const struct exporter_config *cfg, struct spool *spool,
		      struct debug_cache *cache)
{
	const char *write[3] = { cfg->spool, cfg->debuginfod.cache, NULL };
	struct exporter_start s = {
		.cfg = cfg, .spool = spool, .cache = cache,
		.c = confinement_exporterd,
	};
	const struct confine_as as = {
		.uid = cfg->uid, .gid = cfg->gid, .arg = &s,
		.opens = exporter_open_dirs, .allows = exporter_allow_files,
		.checks = exporter_check_files,
	};

	if (!cfg->spool) {
		write[0] = cfg->debuginfod.cache;
		write[1] = NULL;
	}
	if (!cfg->no_network)
		confine_preload_nss();
	if (confine_find_keep(&s.mounts, cfg, true) || confine_find_keep(&s.files, cfg, false))
		sandbox_failed("finding files to read");
	sandbox_namespaces(s.c.namespaces, (const char *const *)s.mounts.v, write);
	confine(&s.c, &as);
	confine_keep_fini(&s.mounts);
	confine_keep_fini(&s.files);
}
