// SPDX-License-Identifier: Apache-2.0
#include "cli/top/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/count.h"
#include "common/clock.h"
#include "common/hash_table.h"

#define STALE_NS	(2 * NSEC_PER_SEC)

void top_model_init(struct top_model *m, uint64_t keep_ns)
{
	*m = (struct top_model){
		.keep_ns = keep_ns, .gap = true,
		/* names are set by profiled processes */
		.seed = hash_seed(),
	};
}

void top_model_fini(struct top_model *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->v[i].data);
	free(m->v);
	*m = (struct top_model){ 0 };
}

void top_model_gap(struct top_model *m)
{
	m->gap = true;
}

uint64_t top_model_span(const struct top_model *m)
{
	uint64_t span = 0;

	for (size_t i = 0; i < m->n; i++)
		span += m->v[i].span_ns;
	return span;
}

/* --- kept batches --------------------------------------------------------- */

static void model_drop_oldest(struct top_model *m)
{
	m->bytes -= m->v[0].len;
	free(m->v[0].data);
	memmove(m->v, m->v + 1, --m->n * sizeof(*m->v));
}

void top_model_clear(struct top_model *m)
{
	if (m->n)
		m->cleared_ns = m->v[m->n - 1].end_ns;
	for (size_t i = 0; i < m->n; i++)
		free(m->v[i].data);
	m->n = 0;
	m->bytes = 0;
}

static void top_model_make_room(struct top_model *m, size_t len)
{
	uint64_t span = top_model_span(m);

	while (m->n && m->keep_ns && span - m->v[0].span_ns >= m->keep_ns) {
		span -= m->v[0].span_ns;
		model_drop_oldest(m);
	}
	while (m->n && (m->n >= TOP_SLICES_MAX ||
			len > TOP_BYTES_MAX - m->bytes)) {
		model_drop_oldest(m);
		m->dropped++;
	}
}

/* An interval without samples has no batch, so a batch's time begins at the end
 * of the batch before. */
static void top_model_place(struct top_model *m, struct top_slice *s)
{
	const struct batch_hdr *h = s->b.hdr;
	uint64_t last;

	if (m->n)
		last = m->v[m->n - 1].end_ns;
	else
		last = m->cleared_ns;
	s->end_ns = h->end_ns;
	if (!last || m->gap) {
		s->span_ns = h->end_ns - h->start_ns;
	} else if (h->end_ns - last < UINT64_MAX / 2) {
		s->span_ns = h->end_ns - last;
		s->joined = s->span_ns == 0 && m->n;
	} else {
		/* the clock was set back */
		s->span_ns = 0;
	}
	if (s->span_ns > 3600 * NSEC_PER_SEC)
		s->span_ns = 3600 * NSEC_PER_SEC;
	m->gap = false;
}

int top_model_add(struct top_model *m, const void *data, size_t len,
		  uint64_t samples)
{
	struct top_slice s = { .len = len };

	if (len > BATCH_BYTES_MAX)
		return -EPROTO;
	top_model_make_room(m, len);
	s.data = malloc(len);
	if (!s.data || !vector_reserve(m, 1)) {
		free(s.data);
		return -ENOMEM;
	}
	memcpy(s.data, data, len);
	if (batch_open(s.data, len, &s.b) ||
	    batch_n(&s.b, BATCH_TIMES) != samples) {
		free(s.data);
		return -EPROTO;
	}
	names_choose(&s.b, s.data, m->names);
	top_model_place(m, &s);
	m->v[m->n++] = s;
	m->bytes += len;
	return 0;
}

/* --- the window ------------------------------------------------------------- */

/* How long ago the newest batch ended, if that is unusually long; else 0. */
static uint64_t model_idle_ns(const struct top_model *m, uint64_t now)
{
	const struct top_slice *last = &m->v[m->n - 1];
	uint64_t idle = now - last->end_ns;

	if (now == 0 || idle > UINT64_MAX / 2 ||
	    idle < 3 * last->span_ns + STALE_NS)
		return 0;
	return idle;
}

/* The first slice of the window; *covered: its time, ns. */
static size_t model_window(const struct top_model *m, const struct top_query *q,
			   uint64_t *covered)
{
	size_t from = m->n;

	if (m->n)
		*covered = model_idle_ns(m, q->now_ns);
	else
		*covered = 0;
	while (from > 0) {
		size_t i = from - 1;

		while (i > 0 && m->v[i].joined)
			i--;
		/* an interval belongs to the window if most of it is inside */
		if (q->window_ns && *covered &&
		    *covered + m->v[i].span_ns / 2 >= q->window_ns)
			break;
		*covered += m->v[i].span_ns;
		from = i;
	}
	return from;
}

void top_model_table(const struct top_model *m, const struct top_query *q,
		     struct top_table *t)
{
	uint64_t covered;
	size_t from = model_window(m, q, &covered);

	t->n = 0;
	t->events = 0;
	t->cpu_s = 0;
	t->busy_s = 0;
	t->cut = false;
	if (m->n)
		t->frequency = m->v[m->n - 1].b.hdr->frequency;
	else
		t->frequency = 0;
	t->seconds = (double)covered / NSEC_PER_SEC;
	if (from < m->n)
		top_count(t, m->v + from, m->n - from, q, m->seed);
}

void top_table_fini(struct top_table *t)
{
	free(t->rows);
	*t = (struct top_table){ 0 };
}
