/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint - one receiver, and how to speak to it
 *
 * The first is that of OpenTelemetry's variables: options win over
 * OTEL_EXPORTER_OTLP_PROFILES_*, which win over OTEL_EXPORTER_OTLP_*
 * (specification 1.60, protocol/exporter.md and the environment variable page;
 * the per-signal names follow its rule, it does not list them yet).  More have
 * TRIFOLD_EXPORTER_<N>_*, N from 2, which mean the same; they take nothing
 * from the first, so its credentials go nowhere else.
 *
 * An empty variable counts as unset.  A value that would send profiles
 * somewhere else, without their credentials, or in a way that the receiver may
 * not read, stops the start; any other bad one is reported and ignored, as the
 * specification asks.
 */
#ifndef EXPORTERD_ENDPOINT_H
#define EXPORTERD_ENDPOINT_H

#include <stdbool.h>

#include "common/pairs.h"
#include "exporterd/body.h"
#include "ipc/counters.h"

#define ENDPOINTS_MAX		RECEIVERS_MAX
#define ENDPOINT_DEFAULT	"http://localhost:4318"
#define ENDPOINT_PATH		"/v1development/profiles"
#define ENDPOINT_METRICS_PATH	"/v1/metrics"
#define ENDPOINT_TIMEOUT_MS	10000
#define SPOOL_VARIABLE		"TRIFOLD_EXPORTER_SPOOL"
#define SPOOL_SIZE_VARIABLE	"TRIFOLD_EXPORTER_SPOOL_SIZE"
#define ENDPOINT_USAGE		2	/* exit status: a mistake in use */

struct endpoint {
	unsigned int number;	/* 1: OTEL_*; N: TRIFOLD_EXPORTER_<N>_*;
				 * 0: OTEL_* for metrics */
	char *url;		/* where to POST to */
	char *shown_url;	/* without credentials and query: for the log */
	char *base;		/* that a signal's path goes behind; NULL: url
				 * was given as it is */
	struct pairs headers;
	long timeout_ms;	/* of one attempt; 0: none */
	enum compression compression;
	bool bare;		/* native code is sent without names */
	bool guesses;		/* stacks are sent with guessed callers */
	char *ca, *cert, *key;	/* PEM files; NULL: the system's, none, none */
};

/* What options say of the first one; NULL: nothing. */
struct endpoint_options {
	const char *endpoint, *profiles_endpoint;
	struct pairs headers;
};

/* Is it named anywhere? */
bool endpoint_named(unsigned int number, const struct endpoint_options *o);

/*
 * Read the settings of this endpoint; the first one, if none names it, becomes
 * ENDPOINT_DEFAULT.  Returns 0, or an exit status after a line in the log:
 * ENDPOINT_USAGE, or 1 when memory is short. endpoint_fini() in any case.
 */
int endpoint_load(struct endpoint *e, unsigned int number,
		  const struct endpoint_options *o);

/*
 * The same of metrics: OTEL_EXPORTER_OTLP_METRICS_* instead of ..._PROFILES_*.
 * There is no default: unless options or variables name a place for all signals
 * or for metrics, and when a protocol is asked for that trifold does not
 * speak, url stays NULL.  Headers that are an option go where the endpoint is
 * an option, or that for all signals.
 */
int endpoint_load_metrics(struct endpoint *e, const struct endpoint_options *o);

void endpoint_fini(struct endpoint *e);

/* TRIFOLD_EXPORTER_* variables that mean nothing: a misspelled one could be
 * that of the credentials.  Returns 0, or ENDPOINT_USAGE after a line in the
 * log. */
int endpoint_check_names(void);

/* Does url lead to this host: localhost, 127.0.0.0/8 or ::1?  Proxies of the
 * environment are not asked for those. */
bool endpoint_is_loopback(const char *url);

/* base with path behind it, of malloc; NULL when it is no URL, or memory is
 * short. */
char *endpoint_url(const char *base, const char *path);

#endif /* EXPORTERD_ENDPOINT_H */
