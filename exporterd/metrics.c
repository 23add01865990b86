// SPDX-License-Identifier: Apache-2.0
#include "exporterd/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/protobuf.h"
#include "profile/formats/otlp.h"

#define CUMULATIVE	2

struct point {
	const struct counter *row;
	const struct receiver *of;	/* NULL: not of a receiver */
	uint64_t start_ns, value;
};

struct points {
	struct point *v;
	size_t n;
	uint64_t now_ns;
};

void metrics_find_instance(struct metrics *m)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	m->instance[0] = '\0';
	if (fd < 0)
		return;
	n = read(fd, m->instance, sizeof(m->instance) - 1);
	if (n < 0)
		n = 0;
	m->instance[n] = '\0';
	m->instance[strcspn(m->instance, "\n")] = '\0';
	close(fd);
}

/* --- the resource ----------------------------------------------------------- */

static void metrics_text(struct buffer *w, unsigned int field, const char *s)
{
	pb_text(w, field, s, strlen(s));
}

static void metrics_key_text(struct buffer *w, unsigned int field, const char *key,
			     const char *s)
{
	size_t mark = pb_begin(w, field);

	metrics_text(w, 1, key);
	pb_any_text(w, 2, s, strlen(s));
	pb_end(w, mark);
}

/* Has the host's resource this key? */
static bool metrics_is_given(const struct metrics *m, const char *key)
{
	for (size_t i = 0; i < m->resource->n; i++) {
		if (strcmp(m->resource->v[2 * i], key) == 0)
			return true;
	}
	return false;
}

static void metrics_resource(struct buffer *w, const struct metrics *m)
{
	const struct { const char *key, *value; } own[] = {
		{ "service.name", "trifold" },
		{ "service.version", TRIFOLD_VERSION },
		{ "service.instance.id", m->instance },
	};
	size_t mark = pb_begin(w, 1);

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (*own[i].value && !metrics_is_given(m, own[i].key))
			metrics_key_text(w, 1, own[i].key, own[i].value);
	}
	for (size_t k = 0; k < m->resource->n; k++)
		metrics_key_text(w, 1, m->resource->v[2 * k],
				 m->resource->v[2 * k + 1]);
	pb_end(w, mark);
}

/* --- points ----------------------------------------------------------------- */

#define WITHIN(member)							\
	(row->at - offsetof(struct counted, member) <			\
	 sizeof(((struct counted *)0)->member))

/* When its process started to count it; 0: none counts it now. */
static uint64_t metrics_start_of(const struct metrics *m, const struct counted *c,
				 const struct counter *row)
{
	if (WITHIN(st.exporter))
		return c->st.exporter.start_ns;
	if (WITHIN(st.loader))
		return c->st.loader.start_ns;
	if (WITHIN(st.hub) || WITHIN(st.uptime_ns))
		return c->st.hub.start_ns;
	if (!c->st.hub.start_ns)
		return 0;
	return m->totals_start_ns;
}

static void metrics_add(struct points *ps, const struct counter *row,
			const struct receiver *of, uint64_t start_ns,
			uint64_t value)
{
	if (!start_ns)
		return;
	/* 0 bytes of memory: it could not be read */
	if (!value && strcmp(row->metric->name, "process.memory.usage") == 0)
		return;
	ps->v[ps->n++] = (struct point){ row, of, start_ns, value };
}

/* 0 or -ENOMEM; v is the caller's. */
static int metrics_find_points(const struct metrics *m, const struct counted *c,
			       struct points *ps)
{
	const struct exporter_stats *x = &c->st.exporter;

	ps->n = 0;
	ps->v = calloc(counter_table_n + RECEIVERS_MAX * receiver_table_n,
		       sizeof(*ps->v));
	if (!ps->v)
		return -ENOMEM;
	for (size_t i = 0; i < counter_table_n; i++) {
		const struct counter *row = &counter_table[i];

		if (row->metric)
			metrics_add(ps, row, NULL, metrics_start_of(m, c, row),
				    counter_value(c, row));
	}
	for (int k = 0; k < RECEIVERS_MAX && x->receivers[k].url[0]; k++) {
		const struct receiver *r = &x->receivers[k];

		for (size_t i = 0; i < receiver_table_n; i++)
			metrics_add(ps, &receiver_table[i], r, x->start_ns,
				    receiver_value(r, &receiver_table[i]));
	}
	return 0;
}

static void metrics_write_attributes(struct buffer *w, const struct point *p)
{
	const struct metric *m = p->row->metric;
	char number[24], url[RECEIVER_URL + 1];

	if (p->of) {
		snprintf(number, sizeof(number), "%" PRIu64, p->of->number);
		snprintf(url, sizeof(url), "%.*s", RECEIVER_URL, p->of->url);
		metrics_key_text(w, 7, m->key[0], number);
		metrics_key_text(w, 7, m->key[1], url);
	}
	for (int i = 0; i < METRIC_KEYS; i++) {
		if (p->row->value[i])
			metrics_key_text(w, 7, m->key[i], p->row->value[i]);
	}
}

static void metrics_write_point(struct buffer *w, const struct point *p, uint64_t now_ns)
{
	const struct metric *m = p->row->metric;
	size_t mark = pb_begin(w, 1);
	double seconds = (double)p->value / NSEC_PER_SEC;
	uint64_t bits;

	if (m->kind != METRIC_GAUGE)
		pb_fixed64(w, 2, p->start_ns);
	pb_fixed64(w, 3, now_ns);
	memcpy(&bits, &seconds, sizeof(bits));
	if (strcmp(m->unit, "s") == 0)
		pb_fixed64(w, 4, bits);
	else
		pb_fixed64(w, 6, p->value);
	metrics_write_attributes(w, p);
	pb_end(w, mark);
}

static const struct metric *metrics_metric_of(const struct points *ps, size_t i)
{
	return ps->v[i].row->metric;
}

/* All points of a metric, from the first one on. */
static void metrics_write_metric(struct buffer *w, const struct points *ps, size_t first)
{
	const struct metric *what = metrics_metric_of(ps, first);
	bool gauge = what->kind == METRIC_GAUGE;
	size_t mark = pb_begin(w, 2), data;

	metrics_text(w, 1, what->name);
	metrics_text(w, 2, what->help);
	metrics_text(w, 3, what->unit);
	data = pb_begin(w, gauge ? 5 : 7);
	for (size_t i = first; i < ps->n; i++) {
		if (metrics_metric_of(ps, i) == what)
			metrics_write_point(w, &ps->v[i], ps->now_ns);
	}
	if (!gauge)
		pb_uint(w, 2, CUMULATIVE);
	if (what->kind == METRIC_SUM)
		pb_uint(w, 3, 1);
	pb_end(w, data);
	pb_end(w, mark);
}

static bool metrics_is_first(const struct points *ps, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (metrics_metric_of(ps, k) == metrics_metric_of(ps, i))
			return false;
	}
	return true;
}

static void metrics_write_request(struct buffer *w, const struct metrics *m,
				  const struct points *ps)
{
	size_t mark = pb_begin(w, 1), scopes, scope;

	metrics_resource(w, m);
	scopes = pb_begin(w, 2);
	scope = pb_begin(w, 1);
	metrics_text(w, 1, "trifold");
	metrics_text(w, 2, TRIFOLD_VERSION);
	pb_end(w, scope);
	for (size_t i = 0; i < ps->n; i++) {
		if (metrics_is_first(ps, i))
			metrics_write_metric(w, ps, i);
	}
	metrics_text(w, 3, METRICS_SCHEMA_URL);
	pb_end(w, scopes);
	metrics_text(w, 3, METRICS_SCHEMA_URL);
	pb_end(w, mark);
}

/*
 * The totals survive the end of loaderd or of the hub, and begin anew when both
 * end.  An exporterd that was started later knows only that they are as old as the
 * older one of the two.
 */
static void metrics_find_totals_start(struct metrics *m, const struct counted *c)
{
	uint64_t loader = c->st.loader.start_ns, hub = c->st.hub.start_ns;

	if (!m->totals_start_ns || c->sum.taken < m->last_taken) {
		m->totals_start_ns = hub;
		if (loader && loader < hub)
			m->totals_start_ns = loader;
	}
	m->last_taken = c->sum.taken;
}

int metrics_encode(struct metrics *m, const struct status *st,
		   const struct exporter_stats *own, uint64_t now_ns,
		   uint8_t **ret, size_t *len)
{
	struct status known = { .version = 0 };
	struct points ps = { .now_ns = now_ns };
	struct counted c;
	struct buffer w = { 0 };

	if (st)
		known = *st;
	known.exporter = *own;
	counted_make(&known, &c);
	if (st)
		metrics_find_totals_start(m, &c);
	if (metrics_find_points(m, &c, &ps) < 0)
		return -ENOMEM;
	metrics_write_request(&w, m, &ps);
	free(ps.v);
	if (w.failed) {
		free(w.data);
		return -ENOMEM;
	}
	*ret = w.data;
	*len = w.len;
	return 0;
}
