// SPDX-License-Identifier: Apache-2.0
#include "exporterd/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "exporterd/otlp.h"
#include "exporterd/protobuf.h"

#define CUMULATIVE	2

struct point {
	const struct counter *row;
	uint64_t start_ns, now_ns, value;
};

void metrics_find_instance(struct metrics *m)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, m->instance, sizeof(m->instance) - 1);

	m->instance[n > 0 ? n : 0] = '\0';
	m->instance[strcspn(m->instance, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

/* --- the resource ----------------------------------------------------------- */

static void text(struct pb *w, unsigned int field, const char *s)
{
	pb_text(w, field, s, strlen(s));
}

static void key_text(struct pb *w, unsigned int field, const char *key,
		     const char *s)
{
	size_t mark = pb_begin(w, field);

	text(w, 1, key);
	pb_any_text(w, 2, s, strlen(s));
	pb_end(w, mark);
}

static void resource(struct pb *w, const struct metrics *m)
{
	const struct { const char *key, *value; } own[] = {
		{ "service.name", "trifold" },
		{ "service.version", TRIFOLD_VERSION },
		{ "service.instance.id", m->instance },
	};
	size_t mark = pb_begin(w, 1);

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		bool said = !*own[i].value;

		for (size_t k = 0; k < m->resource->n; k++)
			said |= !strcmp(m->resource->v[2 * k], own[i].key);
		if (!said)
			key_text(w, 1, own[i].key, own[i].value);
	}
	for (size_t k = 0; k < m->resource->n; k++)
		key_text(w, 1, m->resource->v[2 * k],
			 m->resource->v[2 * k + 1]);
	pb_end(w, mark);
}

/* --- points ----------------------------------------------------------------- */

#define WITHIN(member)							\
	(row->at - offsetof(struct counted, member) <			\
	 sizeof(((struct counted *)0)->member))

/* Since when the number counts; 0: nobody counts it now. */
static uint64_t start_of(const struct metrics *m, const struct counted *c,
			 const struct counter *row)
{
	if (WITHIN(st.exporter))
		return c->st.exporter.start_ns;
	if (WITHIN(st.loader))
		return c->st.loader.start_ns;
	if (WITHIN(st.hub) || WITHIN(st.uptime_ns))
		return c->st.hub.start_ns;
	return c->st.hub.start_ns ? m->totals_start_ns : 0;
}

static bool find_point(const struct metrics *m, const struct counted *c,
		       const struct counter *row, struct point *p)
{
	p->row = row;
	p->start_ns = start_of(m, c, row);
	p->value = counter_value(c, row);
	/* no process has no memory: it could not be read */
	return p->start_ns && (p->value || strcmp(row->metric->name,
						  "process.memory.usage"));
}

static void write_point(struct pb *w, const struct point *p)
{
	const struct metric *m = p->row->metric;
	size_t mark = pb_begin(w, 1);
	double seconds = (double)p->value / NSEC_PER_SEC;
	uint64_t bits;

	if (m->kind != METRIC_GAUGE)
		pb_fixed64(w, 2, p->start_ns);
	pb_fixed64(w, 3, p->now_ns);
	memcpy(&bits, &seconds, sizeof(bits));
	if (strcmp(m->unit, "s") == 0)
		pb_fixed64(w, 4, bits);
	else
		pb_fixed64(w, 6, p->value);
	for (int i = 0; i < METRIC_KEYS; i++) {
		if (p->row->value[i])
			key_text(w, 7, m->key[i], p->row->value[i]);
	}
	pb_end(w, mark);
}

/* All points of a metric, from the first row that has it on. */
static void write_metric(struct pb *w, const struct metrics *m,
			 const struct counted *c, size_t first, uint64_t now_ns)
{
	const struct metric *what = counter_table[first].metric;
	bool gauge = what->kind == METRIC_GAUGE;
	struct point p = { .now_ns = now_ns };
	size_t mark = pb_begin(w, 2), data;

	text(w, 1, what->name);
	text(w, 2, what->help);
	text(w, 3, what->unit);
	data = pb_begin(w, gauge ? 5 : 7);
	for (size_t i = first; i < counter_table_n; i++) {
		if (counter_table[i].metric == what &&
		    find_point(m, c, &counter_table[i], &p))
			write_point(w, &p);
	}
	if (!gauge)
		pb_uint(w, 2, CUMULATIVE);
	if (what->kind == METRIC_SUM)
		pb_uint(w, 3, 1);
	pb_end(w, data);
	pb_end(w, mark);
}

/* Is this the first row of its metric, and is there a point of it? */
static bool opens_metric(const struct metrics *m, const struct counted *c,
			 size_t i)
{
	const struct metric *what = counter_table[i].metric;
	struct point p;
	bool any = false;

	if (!what)
		return false;
	for (size_t k = 0; k < i; k++) {
		if (counter_table[k].metric == what)
			return false;
	}
	for (; i < counter_table_n; i++)
		any |= counter_table[i].metric == what &&
		       find_point(m, c, &counter_table[i], &p);
	return any;
}

static void write_request(struct pb *w, const struct metrics *m,
			  const struct counted *c, uint64_t now_ns)
{
	size_t mark = pb_begin(w, 1), scopes, scope;

	resource(w, m);
	scopes = pb_begin(w, 2);
	scope = pb_begin(w, 1);
	text(w, 1, "trifold");
	text(w, 2, TRIFOLD_VERSION);
	pb_end(w, scope);
	for (size_t i = 0; i < counter_table_n; i++) {
		if (opens_metric(m, c, i))
			write_metric(w, m, c, i, now_ns);
	}
	text(w, 3, METRICS_SCHEMA_URL);
	pb_end(w, scopes);
	text(w, 3, METRICS_SCHEMA_URL);
	pb_end(w, mark);
}

/*
 * The totals go on when a loaderd or a hub dies, and begin anew when both do.
 * An exporterd that comes later knows only that they are as old as the elder
 * of the two.
 */
static void find_totals_start(struct metrics *m, const struct counted *c)
{
	uint64_t loader = c->st.loader.start_ns, hub = c->st.hub.start_ns;

	if (!m->totals_start_ns || c->sum.taken < m->last_taken)
		m->totals_start_ns = loader && loader < hub ? loader : hub;
	m->last_taken = c->sum.taken;
}

int metrics_encode(struct metrics *m, const struct status *st,
		   const struct exporter_stats *own, uint64_t now_ns,
		   uint8_t **ret, size_t *len)
{
	struct status known = { .version = 0 };
	struct counted c;
	struct pb w = { 0 };

	if (st)
		known = *st;
	known.exporter = *own;
	counted_make(&known, &c);
	if (st)
		find_totals_start(m, &c);
	write_request(&w, m, &c, now_ns);
	if (w.failed) {
		free(w.data);
		return -ENOMEM;
	}
	*ret = w.data;
	*len = w.len;
	return 0;
}
