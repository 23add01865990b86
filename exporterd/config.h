/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config - options and OTEL_* variables
 *
 * Options win over OTEL_EXPORTER_OTLP_PROFILES_*, which win over
 * OTEL_EXPORTER_OTLP_*; an empty variable is as good as none (OpenTelemetry
 * specification 1.60, protocol/exporter.md and the environment variable page).
 * The per-signal names follow the specification's rule; it does not list them
 * yet.  A value that would send profiles somewhere else, or without their
 * credentials, stops the start; any other bad one is reported and ignored, as
 * the specification asks.
 */
#ifndef EXPORTERD_CONFIG_H
#define EXPORTERD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "exporterd/pairs.h"

#define CONFIG_ENDPOINT		"http://localhost:4318"
#define CONFIG_PATH		"/v1development/profiles"
#define CONFIG_TIMEOUT_MS	10000

struct config {
	char *hub;		/* path of the socket; not NULL */
	uid_t hub_uid;
	uid_t uid;		/* (uid_t)-1: stay */
	gid_t gid;
	bool debug;
	bool no_network;
	int recorder_fd;	/* -1: none */

	char *url;		/* where to POST to; NULL with no_network */
	char *shown_url;	/* without credentials and query: for the log */
	struct pairs headers;
	long timeout_ms;	/* of one attempt; 0: none */
	bool gzip;
	char *ca, *cert, *key;	/* PEM files; NULL: the system's, none, none */
	struct pairs resource;
};

/*
 * Read both.  Returns 0; or an exit status after a line in the log: 2 for a
 * mistake in use, 1 when memory is short; -1 when all was said (--version).
 * config_fini() in any case.
 */
int config_load(struct config *c, int argc, char **argv);
void config_fini(struct config *c);

#endif /* EXPORTERD_CONFIG_H */
