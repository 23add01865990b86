/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_config - whether, where and how often metrics are sent
 *
 * OTEL_METRICS_EXPORTER (otlp, none) and OTEL_METRIC_EXPORT_INTERVAL (ms) are
 * those of the specification 1.60, environment variable page; an unknown value
 * is reported and ignored, as it asks.
 */
#ifndef EXPORTERD_METRICS_CONFIG_H
#define EXPORTERD_METRICS_CONFIG_H

#include <stdint.h>

#include "exporterd/endpoint.h"

#define METRICS_INTERVAL_MS	60000	/* the specification's default */

struct metrics_config {
	struct endpoint to;		/* to.url NULL: not sent */
	uint64_t interval_ns;
};

/* Returns 0, or an exit status after a line in the log (endpoint.h);
 * endpoint_fini(&c->to) in any case. */
int metrics_config_load(struct metrics_config *c,
			const struct endpoint_options *o);

#endif /* EXPORTERD_METRICS_CONFIG_H */
