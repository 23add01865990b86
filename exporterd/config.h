/* SPDX-License-Identifier: Apache-2.0 */
/* config - options, and what endpoint.h and resource.h read of variables */
#ifndef EXPORTERD_CONFIG_H
#define EXPORTERD_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/pairs.h"
#include "exporterd/debuginfod_config.h"
#include "exporterd/endpoint.h"
#include "exporterd/metrics_config.h"

struct exporter_config {
	char *hub;		/* path of the socket; not NULL */
	uid_t hub_uid;
	uid_t uid;		/* (uid_t)-1: stay */
	gid_t gid;
	bool debug;
	bool no_network;
	bool no_receiver;	/* nothing is sent; always with no_network */
	int recorder_fd;	/* -1: none */

	/* none with no_receiver; otherwise those that are named, by their
	 * number, or else the first with its default */
	struct endpoint endpoints[ENDPOINTS_MAX];
	unsigned int n_endpoints;
	struct metrics_config metrics;
	struct debuginfod_config debuginfod;	/* no server with no_network */
	struct pairs resource;
	char *spool;		/* directory; NULL: none */
	uint64_t spool_bytes;
};

/*
 * Read both.  Returns 0; or an exit status after a line in the log: 2 for a
 * mistake in use, 1 when memory is short; -1 when nothing is left to do
 * (--version). exporter_config_fini() in any case.
 */
int exporter_config_load(struct exporter_config *c, int argc, char **argv);
void exporter_config_fini(struct exporter_config *c);

#endif /* EXPORTERD_CONFIG_H */
