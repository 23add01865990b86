// SPDX-License-Identifier: Apache-2.0
#include "exporterd/config.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/log.h"
#include "common/number.h"
#include "exporterd/resource.h"
#include "profile/formats/otlp.h"

#define USAGE		ENDPOINT_USAGE
#define SPOOL_MIB	256	/* unless something else is said */
#define SPOOL_MIB_MAX	65536

static int exporter_config_no_memory(void)
{
	log_err("out of memory");
	return 1;
}

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
	r = pairs_set(&o->headers, name, strdup(eq + 1), strcasecmp) < 0
		    ? exporter_config_no_memory()
		    : 0;
	free(name);
	return r;
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

/* A directory that is named by its full path; "": none. */
static int config_spool(struct exporter_config *c, const char *name,
			const char *path)
{
	if (*path && (*path != '/' || !path[1])) {
		log_err("%s: name a directory by its full path", name);
		return USAGE;
	}
	free(c->spool);
	c->spool = *path ? strdup(path) : NULL;
	return *path && !c->spool ? exporter_config_no_memory() : 0;
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

/* Options win over these. */
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

static int exporter_config_number_option(struct exporter_config *c, int opt)
{
	const char *name = opt == OPT_UID ? "uid" : opt == OPT_GID ? "gid" :
			   opt == OPT_HUB_UID ? "hub-uid" : "recorder-fd";
	unsigned int v = 0;
	int r = exporter_config_number(name, optarg,
				       opt == OPT_RECORDER_FD ? INT_MAX : UINT_MAX - 1, &v);

	if (opt == OPT_UID)
		c->uid = v;
	else if (opt == OPT_GID)
		c->gid = v;
	else if (opt == OPT_HUB_UID)
		c->hub_uid = v;
	else
		c->recorder_fd = (int)v;
	return r;
}

static int exporter_config_option(struct exporter_config *c, struct endpoint_options *o,
				  int opt)
{
	switch (opt) {
	case OPT_UID:
	case OPT_GID:
	case OPT_HUB_UID:
	case OPT_RECORDER_FD:
		return exporter_config_number_option(c, opt);
	case OPT_HUB:
		free(c->hub);
		c->hub = strdup(optarg);
		return c->hub ? 0 : exporter_config_no_memory();
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
	int opt, r = 0;

	optind = 0;
	opterr = 0;
	while (r == 0 && (opt = getopt_long(argc, argv, "", long_options,
					    NULL)) != -1)
		r = exporter_config_option(c, o, opt);
	if (r)
		return r;
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
	bool more = c->metrics.to.url != NULL;
	int r = endpoint_check_names();

	for (unsigned int i = 2; i <= ENDPOINTS_MAX; i++)
		more |= endpoint_named(i, o);
	for (unsigned int i = 1; i <= ENDPOINTS_MAX && r == 0; i++) {
		if (!endpoint_named(i, o) && (i > 1 || more))
			continue;
		r = endpoint_load(&c->endpoints[c->n_endpoints++], i, o);
	}
	return r;
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
	if (r == 0 && resource_load(&c->resource, "") < 0)
		r = exporter_config_no_memory();
	if (r == 0 && !c->no_receiver)
		r = metrics_config_load(&c->metrics, &o);
	if (r == 0 && !c->no_receiver)
		r = exporter_config_endpoints(c, &o);
	if (r == 0 && !c->no_network)
		r = debuginfod_config_load(&c->debuginfod);
	if (r == 0 && c->spool && !c->n_endpoints)
		r = config_spool(c, "", "");	/* nothing is sent */
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
	pairs_fini(&c->resource);
}
