// SPDX-License-Identifier: Apache-2.0
/* Requests read back by the code that protoc-c makes of metrics.proto. */
#include "exporterd/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exporterd/metrics.pb-c.h"
#include "ipc/message_hub.h"
#include "tests/unit/harness.h"
#define WRAP_REALLOC
#include "tests/unit/malloc_fails.h"

typedef Otlp__ExportMetricsServiceRequest request;
typedef Otlp__NumberDataPoint point;

/* --- what is sent ----------------------------------------------------------- */

#define NOW	5000
#define LOADER	1100
#define HUB	1000
#define OWN	1200

static char *host[] = { (char *)"host.name", (char *)"h", NULL };
static struct pairs resource = { .v = host, .n = 1 };
static struct metrics metrics = { .resource = &resource, .instance = "boot" };
static struct status st;
static struct exporter_stats own;

/* Each number is another one. */
static void fill(void)
{
	uint64_t *v = (uint64_t *)&st.loader, n = 1000000;

	memset(&st, 0, sizeof(st));
	for (size_t i = 0; i < (sizeof(st.loader) + sizeof(st.totals) +
				sizeof(st.hub) + sizeof(st.exporter)) / 8; i++)
		v[i] = n++;
	st.version = MSG_VERSION;
	st.loader_up = 1;
	st.uptime_ns = 3500000000;
	st.loader.start_ns = LOADER;
	st.hub.start_ns = HUB;
	st.exporter.requests = 7;	/* what the hub heard is not sent */
	own = (struct exporter_stats){
		.requests = 9, .start_ns = OWN, .cpu_ns = 1500000000,
		.rss_bytes = 4096,
	};
}

static request *encode_as(const struct status *s)
{
	uint8_t *data;
	size_t len;
	request *r;

	CHECK_EQ(metrics_encode(&metrics, s, &own, NOW, &data, &len), 0);
	r = otlp__export_metrics_service_request__unpack(NULL, len, data);
	CHECK(r != NULL);
	free(data);
	CHECK_EQ(r->n_resource_metrics, 1);
	CHECK_EQ(r->resource_metrics[0]->n_scope_metrics, 1);
	return r;
}

static void done(request *r)
{
	otlp__export_metrics_service_request__free_unpacked(r, NULL);
}

/* --- what is received ------------------------------------------------------- */

static const Otlp__Metric *find(const request *r, const char *name)
{
	const Otlp__ScopeMetrics *s = r->resource_metrics[0]->scope_metrics[0];
	const Otlp__Metric *found = NULL;

	for (size_t i = 0; i < s->n_metrics; i++) {
		if (strcmp(s->metrics[i]->name, name))
			continue;
		CHECK(!found);
		found = s->metrics[i];
	}
	return found;
}

static size_t points(const Otlp__Metric *m, point ***ret)
{
	if (m->data_case == OTLP__METRIC__DATA_GAUGE) {
		*ret = m->gauge->data_points;
		return m->gauge->n_data_points;
	}
	CHECK_EQ(m->data_case, OTLP__METRIC__DATA_SUM);
	CHECK_EQ(m->sum->aggregation_temporality,
		 OTLP__AGGREGATION_TEMPORALITY__AGGREGATION_TEMPORALITY_CUMULATIVE);
	*ret = m->sum->data_points;
	return m->sum->n_data_points;
}

static const char *value_of(Otlp__KeyValue **a, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(a[i]->key, key))
			return a[i]->value->string_value;
	}
	return "";
}

/* The point whose attribute key is value; NULL, NULL: the only one. */
static const point *point_of(const request *r, const char *name,
			     const char *key, const char *value)
{
	const Otlp__Metric *m = find(r, name);
	point **p;
	size_t n;

	printf("# %s %s\n", name, value ? value : "");
	CHECK(m != NULL);
	n = points(m, &p);
	CHECK(key || n == 1);
	for (size_t i = 0; i < n; i++) {
		CHECK_EQ(p[i]->time_unix_nano, NOW);
		if (!key || !strcmp(value_of(p[i]->attributes,
					     p[i]->n_attributes, key), value))
			return p[i];
	}
	return NULL;
}

#define INT_OF(r, name, key, value)					\
	((uint64_t)point_of(r, name, key, value)->as_int)

/* --- the tests -------------------------------------------------------------- */

TEST(metrics_have_the_numbers)
{
	const Otlp__Metric *m;
	const point *p;
	request *r;

	fill();
	r = encode_as(&st);
	CHECK_EQ(INT_OF(r, "trifold.sample.drained", NULL, NULL),
		 st.loader.drained);
	CHECK_EQ(INT_OF(r, "trifold.samples", "reason", "ring_full"),
		 st.loader.bpf[BPF_RING_FULL]);
	CHECK_EQ(INT_OF(r, "trifold.samples", "outcome", "delivered"),
		 st.totals.outcomes.samples[BATCH_DELIVERED]);
	CHECK_EQ(INT_OF(r, "trifold.stacks", "stop", "compat"),
		 st.loader.bpf[BPF_STOP + STOP_COMPAT]);
	CHECK_EQ(INT_OF(r, "trifold.processes", NULL, NULL),
		 st.hub.processes);
	CHECK_EQ(INT_OF(r, "trifold.export.requests", NULL, NULL), 9);
	CHECK_EQ(INT_OF(r, "trifold.up", "process.executable.name",
			"trifold-loaderd"), 1);
	p = point_of(r, "process.cpu.time", "process.executable.name",
		     "trifold-exporterd");
	CHECK_EQ(p->value_case, OTLP__NUMBER_DATA_POINT__VALUE_AS_DOUBLE);
	CHECK(p->as_double == 1.5);
	CHECK_EQ(INT_OF(r, "process.memory.usage", "role", "opener"),
		 st.loader.opener.rss_bytes);
	m = find(r, "trifold.sample.drained");
	CHECK(m->sum->is_monotonic);
	CHECK(!strcmp(m->unit, "{sample}") && m->description[0]);
	CHECK(!find(r, "process.memory.usage")->sum->is_monotonic);
	done(r);
}

TEST(metrics_are_all_there)
{
	request *r;

	fill();
	r = encode_as(&st);
	for (size_t i = 0; i < counter_table_n; i++) {
		const struct counter *c = &counter_table[i];
		size_t rows = 0;
		point **p;

		if (!c->metric)
			continue;
		printf("# %s\n", c->metric->name);
		for (size_t k = 0; k < counter_table_n; k++)
			rows += counter_table[k].metric == c->metric;
		CHECK(find(r, c->metric->name) != NULL);
		CHECK_EQ(points(find(r, c->metric->name), &p), rows);
	}
	done(r);
}

/* Two may have one URL, for two tenants, say. */
TEST(metrics_tell_receivers_apart)
{
	const char *name = "trifold.receiver.samples";
	struct receiver *two;
	size_t n, found = 0;
	request *r;
	point **p;

	fill();
	two = own.receivers;
	for (int i = 0; i < 2; i++) {
		memset(two[i].url, 'u', RECEIVER_URL);
		two[i].number = 1 + (uint64_t)i;
		two[i].rejected = 10 + (uint64_t)i;
	}
	two[1].queued = 5;
	r = encode_as(&st);
	n = points(find(r, name), &p);
	CHECK_EQ(n, 8);
	for (size_t i = 0; i < n; i++) {
		Otlp__KeyValue **a = p[i]->attributes;

		CHECK_EQ(p[i]->n_attributes, 3);
		CHECK_EQ(strlen(value_of(a, 3, "url.full")), RECEIVER_URL);
		CHECK_EQ(p[i]->start_time_unix_nano, OWN);
		if (strcmp(value_of(a, 3, "outcome"), "rejected"))
			continue;
		CHECK_EQ(p[i]->as_int,
			 value_of(a, 3, "receiver")[0] == '2' ? 11 : 10);
		found++;
	}
	CHECK_EQ(found, 2);
	CHECK_EQ(INT_OF(r, "trifold.receiver.queue.samples", "receiver", "2"),
		 5);
	for (size_t i = 0; i < receiver_table_n; i++)
		CHECK(find(r, receiver_table[i].metric->name) != NULL);
	done(r);
}

TEST(metrics_start_when_their_process_did)
{
	request *r;

	fill();
	r = encode_as(&st);
	CHECK_EQ(point_of(r, "trifold.sample.drained", NULL,
			  NULL)->start_time_unix_nano, LOADER);
	CHECK_EQ(point_of(r, "trifold.batches", NULL,
			  NULL)->start_time_unix_nano, HUB);
	CHECK_EQ(point_of(r, "trifold.export.requests", NULL,
			  NULL)->start_time_unix_nano, OWN);
	CHECK_EQ(point_of(r, "trifold.sample.taken", NULL,
			  NULL)->start_time_unix_nano, HUB);
	/* a gauge has none */
	CHECK_EQ(point_of(r, "trifold.sample.difference", NULL,
			  NULL)->start_time_unix_nano, 0);
	done(r);
	/* a hub that takes over the totals, then one that has nothing */
	st.hub.start_ns = 2000;
	r = encode_as(&st);
	CHECK_EQ(point_of(r, "trifold.sample.taken", NULL,
			  NULL)->start_time_unix_nano, HUB);
	CHECK_EQ(point_of(r, "trifold.batches", NULL,
			  NULL)->start_time_unix_nano, 2000);
	done(r);
	st.loader.bpf[BPF_TAKEN] = st.totals.former_taken = 1;
	st.loader.start_ns = 1900;
	r = encode_as(&st);
	CHECK_EQ(point_of(r, "trifold.sample.taken", NULL,
			  NULL)->start_time_unix_nano, 1900);
	done(r);
}

TEST(metrics_of_what_is_away_have_no_points)
{
	const Otlp__ScopeMetrics *s;
	request *r;

	fill();
	memset(&st.loader, 0, sizeof(st.loader));
	st.loader_up = 0;
	own.rss_bytes = 0;
	r = encode_as(&st);
	CHECK(!find(r, "trifold.sample.drained"));
	CHECK(!point_of(r, "trifold.samples", "reason", "ring_full"));
	CHECK(point_of(r, "trifold.samples", "reason", "hub_bad"));
	CHECK(!point_of(r, "process.cpu.time", "process.executable.name",
			"trifold-loaderd"));
	CHECK(!point_of(r, "process.memory.usage", "process.executable.name",
			"trifold-exporterd"));
	CHECK_EQ(INT_OF(r, "trifold.up", "process.executable.name",
			"trifold-loaderd"), 0);
	done(r);
	r = encode_as(NULL);
	s = r->resource_metrics[0]->scope_metrics[0];
	for (size_t i = 0; i < s->n_metrics; i++)
		CHECK(!strncmp(s->metrics[i]->name, "trifold.export.", 15) ||
		      !strcmp(s->metrics[i]->name, "trifold.offences") ||
		      !strcmp(s->metrics[i]->name, "process.cpu.time"));
	CHECK_EQ(INT_OF(r, "trifold.export.requests", NULL, NULL), 9);
	done(r);
}

TEST(metrics_may_be_negative)
{
	request *r;

	fill();
	memset(&st.totals, 0, sizeof(st.totals));
	memset(&st.loader, 0, sizeof(st.loader));
	st.hub.pending = st.hub.outstanding = 0;
	st.totals.outcomes.samples[BATCH_DELIVERED] = 3;
	r = encode_as(&st);
	CHECK(point_of(r, "trifold.sample.difference", NULL, NULL)->as_int ==
	      -3);
	done(r);
}

TEST(metrics_say_who_sends_them)
{
	static char *given[] = {
		(char *)"service.name", (char *)"mine", (char *)"x",
		(char *)"\xff", NULL,
	};
	const Otlp__Resource *res;
	request *r;

	fill();
	r = encode_as(&st);
	res = r->resource_metrics[0]->resource;
	CHECK_EQ(res->n_attributes, 4);
	CHECK(!strcmp(value_of(res->attributes, 4, "service.name"), "trifold"));
	CHECK(*value_of(res->attributes, 4, "service.version"));
	CHECK(!strcmp(value_of(res->attributes, 4, "service.instance.id"),
		      "boot"));
	CHECK(!strcmp(value_of(res->attributes, 4, "host.name"), "h"));
	done(r);
	resource = (struct pairs){ .v = given, .n = 2 };
	metrics.instance[0] = '\0';
	r = encode_as(&st);
	res = r->resource_metrics[0]->resource;
	CHECK_EQ(res->n_attributes, 3);
	CHECK(!strcmp(value_of(res->attributes, 3, "service.name"), "mine"));
	CHECK(!strcmp(value_of(res->attributes, 3, "x"), "\xef\xbf\xbd"));
	done(r);
}

TEST(metrics_instance_is_a_uuid)
{
	struct metrics m = { .resource = &resource };

	metrics_find_instance(&m);
	CHECK_EQ(strlen(m.instance), 36);
	CHECK_EQ(strspn(m.instance, "0123456789abcdef-"), 36);
}

TEST(metrics_survive_a_shortage_of_memory)
{
	uint8_t *data;
	size_t len;
	long n = 0;
	int r;

	fill();
	do {
		fail_at = n++;
		r = metrics_encode(&metrics, &st, &own, NOW, &data, &len);
		CHECK(r == 0 || r == -ENOMEM);
	} while (r);
	fail_at = -1;
	CHECK(n > 5);
	printf("# %zu bytes\n", len);
	free(data);
}
