// SPDX-License-Identifier: Apache-2.0
#include "exporterd/config.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/number.h"
#include "profile/formats/otlp.h"

#define USAGE		ENDPOINT_USAGE
#define SPOOL_MIB	256	/* the default */
#define SPOOL_MIB_MAX	65536

static int exporter_config_no_memory(void)
{
	log_err("out of memory");
	return 1;
}

/* --- metrics --------------------------------------------------------------- */

static bool metrics_config_wanted(void)
{
	const char *s = getenv("OTEL_METRICS_EXPORTER");

	if (!s || !*s || strcmp(s, "otlp") == 0)
		return true;
	if (strcmp(s, "none") == 0)
		return false;
	log_warn("OTEL_METRICS_EXPORTER: neither otlp nor none; using otlp");
	return true;
}

static uint64_t metrics_config_interval_ms(void)
{
	static const char which[] = "OTEL_METRIC_EXPORT_INTERVAL";
	const char *s = getenv(which);
	uint64_t v;

	if (!s || !*s)
		return METRICS_INTERVAL_MS;
	if (number_parse(s, 1, INT_MAX, &v))
		return v;
	log_warn("%s: not a number of milliseconds; using %d", which,
		 METRICS_INTERVAL_MS);
	return METRICS_INTERVAL_MS;
}

int metrics_config_load(struct metrics_config *c,
			const struct endpoint_options *o)
{
	*c = (struct metrics_config){ .interval_ns = 0 };
	if (!metrics_config_wanted())
		return 0;
	c->interval_ns = metrics_config_interval_ms() * NSEC_PER_MSEC;
	return endpoint_load_metrics(&c->to, o);
}

/* --- debuginfod ------------------------------------------------------------ */

/* strict: the list is TRIFOLD_DEBUGINFOD_URLS, where a bad word is a mistake.  0 or an
 * exit status. */
static int debuginfod_config_add(struct debuginfod_config *c, const char *word, bool strict)
{
	char *url = endpoint_url(word, "/buildid");	/* can it be a base? */
	const char *wrong = NULL;

	if (!url)
		wrong = "not a URL of the form http://HOST:PORT or https://HOST:PORT";
	else if (c->n == DEBUGINFOD_SERVERS_MAX)
		wrong = "too many servers";
	free(url);
	if (wrong && strict) {
		log_err(DEBUGINFOD_VARIABLE ": %s", wrong);
		return ENDPOINT_USAGE;
	}
	if (wrong) {
		log_warn("skipping a word of DEBUGINFOD_URLS: %s", wrong);
		return 0;
	}
	c->urls[c->n] = strdup(word);
	if (!c->urls[c->n])
		return exporter_config_no_memory();
	c->n++;
	return 0;
}

static int debuginfod_config_urls(struct debuginfod_config *c, const char *list, bool strict)
{
	char *copy = strdup(list), *save;
	const char *word;
	int r = 0;

	if (!copy)
		return exporter_config_no_memory();
	word = strtok_r(copy, " \t\n", &save);
	while (word && !r) {
		r = debuginfod_config_add(c, word, strict);
		word = strtok_r(NULL, " \t\n", &save);
	}
	free(copy);
	return r;
}

static int debuginfod_config_number(const char *name, unsigned int min, unsigned int max,
				    unsigned int *ret)
{
	const char *s = getenv(name);
	uint64_t v;

	if (!s || !*s)
		return 0;
	if (!number_parse(s, min, max, &v)) {
		log_err("%s: write a number, %u to %u", name, min, max);
		return ENDPOINT_USAGE;
	}
	*ret = (unsigned int)v;
	return 0;
}

/* 0 or an exit status. */
static int debuginfod_config_cache(struct debuginfod_config *c)
{
	const char *path = getenv(DEBUGINFOD_CACHE_VARIABLE);
	unsigned int mib = DEBUGINFOD_CACHE_MIB;
	int r = debuginfod_config_number(DEBUGINFOD_CACHE_SIZE_VARIABLE, 0,
					 DEBUGINFOD_CACHE_MIB_MAX, &mib);

	c->cache_asked = path && *path;
	if (r == 0 && c->cache_asked && (*path != '/' || !path[1])) {
		log_err(DEBUGINFOD_CACHE_VARIABLE ": name a directory by its full path");
		r = ENDPOINT_USAGE;
	}
	if (r || !mib)
		return r;
	c->cache_bytes = (uint64_t)mib << 20;
	c->cache = strdup(c->cache_asked ? path : DEBUGINFOD_CACHE);
	if (!c->cache)
		return exporter_config_no_memory();
	return 0;
}

int debuginfod_config_load(struct debuginfod_config *c)
{
	const char *list = getenv(DEBUGINFOD_VARIABLE);
	unsigned int mib = DEBUGINFOD_MIB;
	bool strict;
	int r;

	*c = (struct debuginfod_config){ .timeout_s = DEBUGINFOD_TIMEOUT_S };
	r = debuginfod_config_number(DEBUGINFOD_SIZE_VARIABLE, 1, DEBUGINFOD_MIB_MAX, &mib);
	if (r == 0)
		r = debuginfod_config_number(DEBUGINFOD_TIMEOUT_VARIABLE, 1,
					     DEBUGINFOD_TIMEOUT_MAX_S, &c->timeout_s);
	c->max_bytes = (uint64_t)mib << 20;
	if (r || !list || !*list)
		return r;
	strict = strcmp(list, "environment") != 0;
	if (!strict)
		list = getenv("DEBUGINFOD_URLS");
	if (list)
		r = debuginfod_config_urls(c, list, strict);
	if (r)
		return r;
	if (c->n)
		return debuginfod_config_cache(c);
	log_warn("DEBUGINFOD_URLS names no debuginfod server");
	return 0;
}

void debuginfod_config_fini(struct debuginfod_config *c)
{
	while (c->n)
		free(c->urls[--c->n]);
	free(c->cache);
}

/* --- options --------------------------------------------------------------- */

static int exporter_config_number(const char *option, const char *s,
				  unsigned long max, unsigned int *ret)
{
	uint64_t v;

	if (!number_parse(s, 0, max, &v)) {
		log_err("--%s: not a number that fits", option);
		return USAGE;
	}
	*ret = (unsigned int)v;
	return 0;
}

static int exporter_config_header(struct endpoint_options *o, const char *s)
{
	const char *eq = strchr(s, '=');
	char *name;
	int r;

	if (!eq) {
		log_err("--header: write NAME=VALUE");
		return USAGE;
	}
	name = strndup(s, (size_t)(eq - s));
	if (!name)
		return exporter_config_no_memory();
	r = pairs_set(&o->headers, name, strdup(eq + 1), strcasecmp);
	free(name);
	if (r < 0)
		return exporter_config_no_memory();
	return 0;
}

enum {
	OPT_UID = 256, OPT_GID, OPT_HUB, OPT_HUB_UID, OPT_ENDPOINT,
	OPT_PROFILES_ENDPOINT, OPT_HEADER, OPT_NO_NETWORK, OPT_NO_RECEIVER, OPT_RECORDER_FD,
	OPT_SPOOL, OPT_SPOOL_SIZE, OPT_DEBUG, OPT_VERSION,
};

static const struct option long_options[] = {
	{ "uid", required_argument, NULL, OPT_UID },
	{ "gid", required_argument, NULL, OPT_GID },
	{ "hub", required_argument, NULL, OPT_HUB },
	{ "hub-uid", required_argument, NULL, OPT_HUB_UID },
	{ "endpoint", required_argument, NULL, OPT_ENDPOINT },
	{ "profiles-endpoint", required_argument, NULL, OPT_PROFILES_ENDPOINT },
	{ "header", required_argument, NULL, OPT_HEADER },
	{ "no-network", no_argument, NULL, OPT_NO_NETWORK },
	{ "no-receiver", no_argument, NULL, OPT_NO_RECEIVER },
	{ "recorder-fd", required_argument, NULL, OPT_RECORDER_FD },
	{ "spool", required_argument, NULL, OPT_SPOOL },
	{ "spool-size", required_argument, NULL, OPT_SPOOL_SIZE },
	{ "debug", no_argument, NULL, OPT_DEBUG },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ 0 },
};

/* A directory by its full path; "": none. */
static int config_spool(struct exporter_config *c, const char *name,
			const char *path)
{
	if (*path && (*path != '/' || !path[1])) {
		log_err("%s: name a directory by its full path", name);
		return USAGE;
	}
	free(c->spool);
	c->spool = NULL;
	if (!*path)
		return 0;
	c->spool = strdup(path);
	if (!c->spool)
		return exporter_config_no_memory();
	return 0;
}

static int config_spool_size(struct exporter_config *c, const char *name,
			     const char *s)
{
	uint64_t mib;

	if (!number_parse(s, 1, SPOOL_MIB_MAX, &mib)) {
		log_err("%s: write a number of MiB, 1 to %d", name,
			SPOOL_MIB_MAX);
		return USAGE;
	}
	c->spool_bytes = mib << 20;
	return 0;
}

/* Options override these. */
static int config_spool_variables(struct exporter_config *c)
{
	const char *path = getenv(SPOOL_VARIABLE);
	const char *size = getenv(SPOOL_SIZE_VARIABLE);
	int r = 0;

	c->spool_bytes = (uint64_t)SPOOL_MIB << 20;
	if (path)
		r = config_spool(c, SPOOL_VARIABLE, path);
	if (r == 0 && size && *size)
		r = config_spool_size(c, SPOOL_SIZE_VARIABLE, size);
	return r;
}

static int exporter_config_recorder(struct exporter_config *c)
{
	unsigned int fd = 0;
	int r = exporter_config_number("recorder-fd", optarg, INT_MAX, &fd);

	c->recorder_fd = (int)fd;
	return r;
}

static int exporter_config_option(struct exporter_config *c, struct endpoint_options *o,
				  int opt)
{
	switch (opt) {
	case OPT_UID:
		return exporter_config_number("uid", optarg, UINT_MAX - 1, &c->uid);
	case OPT_GID:
		return exporter_config_number("gid", optarg, UINT_MAX - 1, &c->gid);
	case OPT_HUB_UID:
		return exporter_config_number("hub-uid", optarg, UINT_MAX - 1, &c->hub_uid);
	case OPT_RECORDER_FD:
		return exporter_config_recorder(c);
	case OPT_HUB:
		free(c->hub);
		c->hub = strdup(optarg);
		if (!c->hub)
			return exporter_config_no_memory();
		return 0;
	case OPT_ENDPOINT:
		o->endpoint = optarg;
		return 0;
	case OPT_PROFILES_ENDPOINT:
		o->profiles_endpoint = optarg;
		return 0;
	case OPT_HEADER:
		return exporter_config_header(o, optarg);
	case OPT_NO_NETWORK:
		c->no_network = c->no_receiver = true;
		return 0;
	case OPT_NO_RECEIVER:
		c->no_receiver = true;
		return 0;
	case OPT_SPOOL:
		return config_spool(c, "--spool", optarg);
	case OPT_SPOOL_SIZE:
		return config_spool_size(c, "--spool-size", optarg);
	case OPT_DEBUG:
		c->debug = true;
		return 0;
	case OPT_VERSION:
		puts("trifold-exporterd " TRIFOLD_VERSION);
		return -1;
	default:
		log_err("usage: trifold-exporterd --hub PATH --hub-uid N "
			"[--uid N --gid N] "
			"[--endpoint URL | --profiles-endpoint URL] "
			"[--header NAME=VALUE]... [--no-network | --no-receiver] "
			"[--spool DIRECTORY [--spool-size MIB]] "
			"[--recorder-fd N] [--debug]");
		return USAGE;
	}
}

static int exporter_config_options(struct exporter_config *c, struct endpoint_options *o,
				   int argc, char **argv)
{
	int opt, r;

	optind = 0;
	opterr = 0;
	for (;;) {
		opt = getopt_long(argc, argv, "", long_options, NULL);
		if (opt == -1)
			break;
		r = exporter_config_option(c, o, opt);
		if (r)
			return r;
	}
	if (optind < argc || !c->hub || c->hub_uid == (uid_t)-1)
		return exporter_config_option(c, o, '?');
	if (c->hub[0] != '/') {
		log_err("--hub: write a full path");
		return USAGE;
	}
	if ((c->uid == (uid_t)-1) != (c->gid == (gid_t)-1)) {
		log_err("--uid and --gid need each other");
		return USAGE;
	}
	return 0;
}

static int exporter_config_endpoints(struct exporter_config *c,
				     const struct endpoint_options *o)
{
	bool others = c->metrics.to.url != NULL;
	int r = endpoint_check_names();

	for (unsigned int i = 2; i <= ENDPOINTS_MAX; i++) {
		if (endpoint_named(i, o))
			others = true;
	}
	for (unsigned int i = 1; i <= ENDPOINTS_MAX && r == 0; i++) {
		if (!endpoint_named(i, o) && (i > 1 || others))
			continue;
		r = endpoint_load(&c->endpoints[c->n_endpoints], i, o);
		c->n_endpoints++;
	}
	return r;
}

static int config_resource(struct exporter_config *c)
{
	int r = resource_load(&c->resource, "");

	if (r == -EINVAL)
		return USAGE;
	if (r < 0)
		return exporter_config_no_memory();
	return 0;
}

int exporter_config_load(struct exporter_config *c, int argc, char **argv)
{
	struct endpoint_options o = { 0 };
	int r;

	*c = (struct exporter_config){
		.hub_uid = (uid_t)-1,
		.uid = (uid_t)-1,
		.gid = (gid_t)-1,
		.recorder_fd = -1,
	};
	r = config_spool_variables(c);
	if (r == 0)
		r = exporter_config_options(c, &o, argc, argv);
	if (r == 0)
		r = config_resource(c);
	if (r == 0 && !c->no_receiver)
		r = metrics_config_load(&c->metrics, &o);
	if (r == 0 && !c->no_receiver)
		r = exporter_config_endpoints(c, &o);
	if (r == 0 && !c->no_network)
		r = debuginfod_config_load(&c->debuginfod);
	if (r == 0 && c->spool && !c->n_endpoints)
		r = config_spool(c, "", "");	/* nothing is sent: no spool */
	pairs_fini(&o.headers);
	return r;
}

void exporter_config_fini(struct exporter_config *c)
{
	free(c->hub);
	free(c->spool);
	for (unsigned int i = 0; i < c->n_endpoints; i++)
		endpoint_fini(&c->endpoints[i]);
	endpoint_fini(&c->metrics.to);
	debuginfod_config_fini(&c->debuginfod);
	resource_fini(&c->resource);
}
