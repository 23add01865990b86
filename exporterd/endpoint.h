/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint - one receiver, and how to speak to it
 *
 * The first is configured by OpenTelemetry's variables: options override
 * OTEL_EXPORTER_OTLP_PROFILES_*, which override OTEL_EXPORTER_OTLP_*
 * (specification 1.60, protocol/exporter.md and the environment variable page;
 * it does not list names for profiles yet, these follow its rule).  Others have
 * TRIFOLD_EXPORTER_<N>_*, N from 2, with the same meaning; they inherit nothing
 * from the first, so its credentials are sent nowhere else.
 *
 * An empty variable counts as unset.  A bad value that would send profiles
 * to another place, without credentials, or in a form that the receiver may
 * not read, stops the start; any other bad value is reported and ignored, as the
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
	char *url;		/* of requests */
	char *shown_url;	/* without credentials and query: for the log */
	char *base;		/* to which a signal's path is appended; NULL: url
				 * was given as it is */
	struct pairs headers;
	long timeout_ms;	/* of one attempt; 0: none */
	enum compression compression;
	bool bare;		/* native code is sent without names */
	bool guesses;		/* stacks are sent with guessed callers */
	bool nameless;		/* no function stands for code without a name */
	char *ca, *cert, *key;	/* PEM files; NULL: the system's, none, none */
};

/* Options for the first one; NULL: not given. */
struct endpoint_options {
	const char *endpoint, *profiles_endpoint;
	struct pairs headers;
};

/* Has it an option or a variable with its URL? */
bool endpoint_named(unsigned int number, const struct endpoint_options *o);

/*
 * Read the settings of this endpoint; without a URL the first one becomes
 * ENDPOINT_DEFAULT.  Returns 0, or an exit status after a line in the log:
 * ENDPOINT_USAGE, or 1 when memory is short.  endpoint_fini() in any case.
 */
int endpoint_load(struct endpoint *e, unsigned int number,
		  const struct endpoint_options *o);

/*
 * The same for metrics: OTEL_EXPORTER_OTLP_METRICS_* instead of ..._PROFILES_*.
 * There is no default: url stays NULL unless options or variables name an endpoint
 * for all signals or for metrics, and with a protocol that trifold does not
 * support.  Headers of options are sent if the endpoint is that of an option or
 * of all signals.
 */
int endpoint_load_metrics(struct endpoint *e, const struct endpoint_options *o);

void endpoint_fini(struct endpoint *e);

/* Refuse unknown TRIFOLD_EXPORTER_* variables: a misspelled one could hold the
 * credentials.  Returns 0, or ENDPOINT_USAGE after a line in the log. */
int endpoint_check_names(void);

/* Is this the URL of this host: localhost, 127.0.0.0/8 or ::1?  Proxies of the
 * environment are not used for them. */
bool endpoint_is_loopback(const char *url);

/* base with path appended, malloc'ed; NULL when it is no URL, or memory is short. */
char *endpoint_url(const char *base, const char *path);

#endif /* EXPORTERD_ENDPOINT_H */
