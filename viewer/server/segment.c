// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/segment.h"

#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/vector.h"
#include "profile/remap.h"

#define MINUTE_NS	(60 * NSEC_PER_SEC)

static struct segment *segment_make(const struct batch *b, void *data,
				    size_t len, uint32_t *counts)
{
	struct segment *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->b = *b;
	s->data = data;
	s->counts = counts;
	s->bytes = sizeof(*s) + len;
	if (counts)
		s->bytes += batch_n(b, BATCH_SAMPLES) * sizeof(*counts);
	s->start_ns = b->hdr->start_ns;
	s->end_ns = b->hdr->end_ns;
	s->minute = s->start_ns / MINUTE_NS;
	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES); i++)
		s->samples += segment_count(s, i);
	return s;
}

int segment_new(void *data, size_t len, struct segment **ret)
{
	struct batch b;
	int r = batch_open(data, len, &b);

	if (r)
		return r;
	*ret = segment_make(&b, data, len, NULL);
	if (!*ret)
		return -ENOMEM;
	return 0;
}

void segment_free(struct segment *s)
{
	if (!s)
		return;
	free(s->data);
	free(s->counts);
	free(s);
}

/* --- merging ---------------------------------------------------------------- */

struct merging {
	struct batch_builder *b;
	enum segment_state to;
	uint32_t *counts;	/* of the builder's samples, unless exact */
	uint32_t n, cap;
	uint64_t start_ns, end_ns;
};

/* Add to the count of a sample, which may be a new one.  0 or -ENOMEM. */
static int segment_add_count(struct merging *m, uint32_t sample, uint32_t n)
{
	if (sample == UINT32_MAX)
		return 0;	/* batch_builder_finish() returns the error */
	if (!array_reserve(&m->counts, &m->cap, sample + 1ul))
		return -ENOMEM;
	if (sample == m->n) {
		batch_sample_times(m->b, sample, &m->start_ns, 1);
		m->counts[m->n++] = 0;
	}
	if (n > UINT32_MAX - m->counts[sample])
		n = UINT32_MAX - m->counts[sample];
	m->counts[sample] += n;
	return 0;
}

static int segment_add(struct merging *m, const struct segment *s)
{
	struct remap r = {
		.to = m->b, .from = &s->b, .kinds = REMAP_ALL,
		.coarse = m->to != SEGMENT_EXACT,
	};
	int error = remap_init(&r);

	for (uint32_t i = 0; i < batch_n(&s->b, BATCH_SAMPLES) && !error; i++) {
		const struct batch_sample *v = &s->b.samples[i];
		uint32_t attr = 0, sample;

		if (m->to != SEGMENT_LONG)
			attr = remap_attr(&r, v->attr);
		sample = batch_sample(m->b, remap_stack(&r, v->stack), attr,
				      remap_resource(&r, v->resource), v->stop);
		if (m->to != SEGMENT_EXACT)
			error = segment_add_count(m, sample, segment_count(s, i));
		else if (sample != UINT32_MAX)
			batch_sample_times(m->b, sample, s->b.times + v->first,
					   v->n);
	}
	remap_fini(&r);
	return error;
}

static int segment_finish(struct merging *m, struct segment **ret)
{
	struct batch b;
	void *data;
	size_t len;
	int r;

	r = batch_builder_finish(m->b, m->start_ns, m->end_ns, &data, &len);
	if (r)
		return r;
	r = batch_open(data, len, &b);
	if (r == 0) {
		*ret = segment_make(&b, data, len, m->counts);
		if (!*ret)
			r = -ENOMEM;
	}
	if (r) {
		free(data);
		return r;
	}
	(*ret)->state = m->to;
	m->counts = NULL;
	return 0;
}

int segment_merge(struct segment *const *v, size_t n, enum segment_state to,
		  struct segment **ret)
{
	struct merging m = {
		.b = batch_builder_new(v[0]->b.hdr->frequency), .to = to,
		.start_ns = v[0]->start_ns, .end_ns = v[0]->end_ns,
	};
	int r = 0;

	if (!m.b)
		return -ENOMEM;
	for (size_t i = 1; i < n; i++) {
		if (v[i]->start_ns < m.start_ns)
			m.start_ns = v[i]->start_ns;
		if (v[i]->end_ns > m.end_ns)
			m.end_ns = v[i]->end_ns;
	}
	for (size_t i = 0; i < n && r == 0; i++)
		r = segment_add(&m, v[i]);
	if (r == 0)
		r = segment_finish(&m, ret);
	batch_builder_free(m.b);
	free(m.counts);
	return r;
}
