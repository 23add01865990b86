// SPDX-License-Identifier: Apache-2.0
#include "exporterd/config.h"

#include <string.h>

#include "tests/unit/exporter_env.h"
#include "tests/unit/harness.h"

TEST(config_metrics_go_where_all_signals_go)
{
	CHECK_EQ(load(), 0);
	CHECK(!c.metrics.to.url);
	set("PROFILES_ENDPOINT", "http://p:1/q");
	CHECK_EQ(LOAD("--profiles-endpoint", "http://p:2/q"), 0);
	CHECK(!c.metrics.to.url);
	set("ENDPOINT", "http://all:1/x");
	set("HEADERS", "a=1");
	CHECK_EQ(LOAD("--header", "b=2"), 0);
	CHECK_STR(c.metrics.to.url, "http://all:1/x/v1/metrics");
	CHECK_STR(c.endpoints[0].url, "http://p:1/q");
	CHECK_EQ(c.metrics.to.headers.n, 2);
	CHECK_EQ(c.metrics.interval_ns, 60000000000ULL);
	CHECK_EQ(LOAD("--endpoint", "http://opt:5"), 0);
	CHECK_STR(c.metrics.to.url, "http://opt:5/v1/metrics");
	setenv("OTEL_METRICS_EXPORTER", "none", 1);
	CHECK_EQ(load(), 0);
	CHECK(!c.metrics.to.url);
	setenv("OTEL_METRICS_EXPORTER", "prometheus", 1);
	CHECK_EQ(load(), 0);
	CHECK(c.metrics.to.url != NULL);
}

TEST(config_metrics_have_variables_of_their_own)
{
	set("METRICS_ENDPOINT", "https://m:1/z?t=1");
	set("METRICS_HEADERS", "a=m");
	set("HEADERS", "a=all");
	set("METRICS_TIMEOUT", "9");
	set("METRICS_COMPRESSION", "none");
	set("METRICS_CERTIFICATE", "/dev/null");
	setenv("OTEL_METRIC_EXPORT_INTERVAL", "1500", 1);
	/* a header of the profiles' option is nothing for another host */
	CHECK_EQ(LOAD("--header", "b=2"), 0);
	CHECK_STR(c.metrics.to.url, "https://m:1/z?t=1");
	CHECK_STR(c.metrics.to.shown_url, "https://m:1/z");
	CHECK_EQ(c.metrics.to.headers.n, 1);
	CHECK_STR(get(&c.metrics.to.headers, "a"), "m");
	CHECK_EQ(c.metrics.to.timeout_ms, 9);
	CHECK_EQ(c.metrics.to.compression, COMPRESSION_NONE);
	CHECK_STR(c.metrics.to.ca, "/dev/null");
	CHECK_EQ(c.metrics.interval_ns, 1500000000ULL);
	/* the default place for profiles is there for want of any other */
	CHECK_EQ(c.n_endpoints, 0);
	set("PROFILES_ENDPOINT", "http://p:1/q");
	CHECK_EQ(load(), 0);
	CHECK_EQ(c.n_endpoints, 1);
	CHECK_STR(c.metrics.to.url, "https://m:1/z?t=1");
	CHECK_STR(get(&c.endpoints[0].headers, "a"), "all");
	CHECK_EQ(c.endpoints[0].timeout_ms, 10000);
	CHECK(!c.endpoints[0].ca);
	set("METRICS_ENDPOINT", "m:1");
	CHECK_EQ(load(), 2);
}

TEST(config_metrics_bad_values)
{
	static const char *const bad[] = { "0", "-1", "x", "5s", "99999999999" };

	set("ENDPOINT", "http://h:4318");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setenv("OTEL_METRIC_EXPORT_INTERVAL", bad[i], 1);
		CHECK_EQ(load(), 0);
		CHECK_EQ(c.metrics.interval_ns, 60000000000ULL);
	}
	/* what profiles can do without, they do without */
	set("PROTOCOL", "grpc");
	set("PROFILES_PROTOCOL", "http/protobuf");
	CHECK_EQ(load(), 0);
	CHECK(c.endpoints[0].url && !c.metrics.to.url);
}

TEST(config_metrics_need_a_network)
{
	set("ENDPOINT", "nonsense");
	CHECK_EQ(LOAD("--no-network"), 0);
	CHECK(!c.metrics.to.url);
	CHECK_EQ(load(), 2);
}
