// SPDX-License-Identifier: Apache-2.0
#include "exporterd/metrics_config.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/number.h"

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
