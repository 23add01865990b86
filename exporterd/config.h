/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config - options, and what endpoint.h, resource.h and this read of variables
 *
 * OTEL_METRICS_EXPORTER (otlp, none) and OTEL_METRIC_EXPORT_INTERVAL (ms) are
 * those of the specification 1.60, environment variable page; an unknown value
 * is reported and ignored, as it asks.
 *
 * TRIFOLD_DEBUGINFOD_URLS: URLs separated by blanks, as elfutils writes
 * DEBUGINFOD_URLS; "environment" stands for the value of that variable, which
 * has no effect otherwise.
 */
#ifndef EXPORTERD_CONFIG_H
#define EXPORTERD_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/pairs.h"
#include "exporterd/endpoint.h"
#include "exporterd/resource.h"

#define METRICS_INTERVAL_MS	60000	/* the specification's default */

struct metrics_config {
	struct endpoint to;		/* to.url NULL: not sent */
	uint64_t interval_ns;
};

#define DEBUGINFOD_VARIABLE		"TRIFOLD_DEBUGINFOD_URLS"
#define DEBUGINFOD_SIZE_VARIABLE	"TRIFOLD_DEBUGINFOD_SIZE"
#define DEBUGINFOD_TIMEOUT_VARIABLE	"TRIFOLD_DEBUGINFOD_TIMEOUT"
#define DEBUGINFOD_CACHE_VARIABLE	"TRIFOLD_DEBUGINFOD_CACHE"
#define DEBUGINFOD_CACHE_SIZE_VARIABLE	"TRIFOLD_DEBUGINFOD_CACHE_SIZE"
#define DEBUGINFOD_SERVERS_MAX		8
#define DEBUGINFOD_MIB			128	/* the default */
#define DEBUGINFOD_MIB_MAX		512	/* of one file */
#define DEBUGINFOD_TIMEOUT_S		90
#define DEBUGINFOD_TIMEOUT_MAX_S	600
#define DEBUGINFOD_CACHE		"/var/cache/trifold-exporterd"	/* if it exists */
#define DEBUGINFOD_CACHE_MIB		1024
#define DEBUGINFOD_CACHE_MIB_MAX	65536

/* Which debuginfod servers may be asked, and within which limits. */
struct debuginfod_config {
	char *urls[DEBUGINFOD_SERVERS_MAX];	/* http or https; owned */
	unsigned int n;			/* 0: no server is asked */
	uint64_t max_bytes;		/* of a debug file */
	unsigned int timeout_s;		/* of a request */
	char *cache;			/* directory of debug_cache.h; NULL: none; owned */
	bool cache_asked;		/* the directory was configured */
	uint64_t cache_bytes;		/* of all files in it */
};

struct exporter_config {
	char *hub;		/* path of the socket; not NULL */
	uid_t hub_uid;
	uid_t uid;		/* (uid_t)-1: stay */
	gid_t gid;
	bool debug;
	bool no_network;
	bool no_receiver;	/* nothing is sent; always with no_network */
	int recorder_fd;	/* -1: none */

	/* none with no_receiver; otherwise the configured ones, by their number,
	 * or else the first with its default */
	struct endpoint endpoints[ENDPOINTS_MAX];
	unsigned int n_endpoints;
	struct metrics_config metrics;
	struct debuginfod_config debuginfod;	/* no server with no_network */
	struct resource resource;
	char *spool;		/* directory; NULL: none */
	uint64_t spool_bytes;
};

/*
 * Read options and variables.  Returns 0; or an exit status after a line in the log:
 * 2 for a mistake in use, 1 when memory is short; -1 when nothing is left to do
 * (--version).  exporter_config_fini() in any case.
 */
int exporter_config_load(struct exporter_config *c, int argc, char **argv);
void exporter_config_fini(struct exporter_config *c);

/*
 * Its parts, of variables alone.  Of DEBUGINFOD_URLS, words that are no URLs of http or
 * https are skipped with a line in the log; in TRIFOLD_DEBUGINFOD_URLS they are a mistake.
 * Return 0, or an exit status after a line in the log.  endpoint_fini(&c->to) and
 * debuginfod_config_fini() in any case.
 */
int metrics_config_load(struct metrics_config *c, const struct endpoint_options *o);
int debuginfod_config_load(struct debuginfod_config *c);
void debuginfod_config_fini(struct debuginfod_config *c);

#endif /* EXPORTERD_CONFIG_H */
