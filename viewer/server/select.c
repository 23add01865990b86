// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/select.h"

#include <errno.h>
#include <stdlib.h>

#include "common/vector.h"
#include "profile/remap.h"

struct selecting {
	struct batch_builder *b;
	bool threads;
	uint64_t time_ns;		/* that of all events */
	uint32_t *counts[2];		/* of the builder's samples; [1]: base */
	uint32_t n, cap[2];
	uint64_t samples[2];
};

static int select_room(struct selecting *s, uint32_t sample)
{
	if (sample < s->n)
		return 0;
	for (int i = 0; i < 2; i++) {
		if (!array_reserve(&s->counts[i], &s->cap[i], sample + 1ul))
			return -ENOMEM;
	}
	batch_sample_times(s->b, sample, &s->time_ns, 1);
	s->counts[0][s->n] = s->counts[1][s->n] = 0;
	s->n++;
	return 0;
}

/*
 * Only kernel frames are kept: they are whole.  A stack that ended early or
 * was cut lacks only frames of the process, which were not asked for.
 */
static bool select_kernel_only(const struct query *q)
{
	return q->kinds == 1u << BATCH_FRAME_KERNEL;
}

/* Kinds of the frames that are kept; beside user frames the mark of a cut. */
static uint32_t select_kinds(const struct query *q)
{
	if (!q->kinds)
		return REMAP_ALL;
	return select_kernel_only(q) ? q->kinds :
				       q->kinds | 1u << BATCH_FRAME_CUT;
}

/* The matching samples of one segment. which: 0, or 1 for the base. */
static int add_counts(struct selecting *s, const struct match *m,
		      const uint32_t *counts, int which)
{
	struct remap r = {
		.to = s->b, .from = &m->seg->b,
		.kinds = select_kinds(m->q),
	};
	bool kernel = select_kernel_only(m->q);
	int error = remap_init(&r);

	for (uint32_t i = 0; i < batch_n(r.from, BATCH_SAMPLES) && !error; i++) {
		const struct batch_sample *v = &r.from->samples[i];
		uint32_t stack, sample, *to;

		stack = counts[i] ? remap_stack(&r, v->stack) : REMAP_NONE;
		if (stack == REMAP_NONE)
			continue;
		sample = batch_sample(s->b, stack,
				      s->threads ? remap_attr(&r, v->attr) : 0,
				      remap_named(&r, v->resource),
				      kernel ? STOP_COMPLETE : v->stop);
		if (sample == UINT32_MAX)
			break;		/* batch_builder_finish() says why */
		error = select_room(s, sample);
		if (error)
			break;
		to = &s->counts[which][sample];
		*to += counts[i] < UINT32_MAX - *to ? counts[i] :
			UINT32_MAX - *to;
	}
	remap_fini(&r);
	return error;
}

static int select_add_segment(struct selecting *s, const struct segment *seg,
			      const struct query *q, int which)
{
	uint32_t *counts = calloc(batch_n(&seg->b, BATCH_SAMPLES) + 1,
				  sizeof(*counts));
	struct match m;
	int r = match_init(&m, seg, q);

	if (!counts)
		r = -ENOMEM;
	if (r == 0) {
		s->samples[which] += match_counts(&m, 0, counts);
		r = add_counts(s, &m, counts, which);
	}
	match_fini(&m);
	free(counts);
	return r;
}

static int add_query(struct selecting *s, const struct store *st,
		     const struct query *q, int which)
{
	int r = 0;

	for (size_t i = 0; i < st->n && r == 0; i++) {
		if (select_overlaps(st->v[i], q))
			r = select_add_segment(s, st->v[i], q, which);
	}
	return r;
}

/* Put the counts into a batch that has one event for each sample. */
static int select_finish(struct selecting *s, const struct query *q, bool base,
			 struct selection *ret)
{
	struct batch_sample *samples;
	size_t len;
	int r;

	r = batch_builder_finish(s->b, q->from_ns, q->to_ns, &ret->data, &len);
	if (r)
		return r;
	r = batch_open(ret->data, len, &ret->b);
	if (r) {
		free(ret->data);
		return r;
	}
	samples = (struct batch_sample *)ret->b.samples;
	for (uint32_t i = 0; i < s->n; i++)
		samples[i].n = s->counts[0][i];
	ret->samples = s->samples[0];
	ret->base_samples = s->samples[1];
	ret->base = NULL;
	if (base) {
		ret->base = s->counts[1];
		s->counts[1] = NULL;
	}
	return 0;
}

int select_batch(const struct store *st, const struct query *q,
		 const struct query *base, bool threads, struct selection *ret)
{
	struct selecting s = {
		.b = batch_builder_new(st->frequency ? st->frequency : 1),
		.threads = threads,
		.time_ns = q->from_ns,
	};
	int r = s.b ? 0 : -ENOMEM;

	if (r == 0)
		r = add_query(&s, st, q, 0);
	if (r == 0 && base)
		r = add_query(&s, st, base, 1);
	/* an array that was never needed is still asked for */
	if (r == 0 && base && !s.counts[1])
		r = (s.counts[1] = calloc(1, sizeof(uint32_t))) ? 0 : -ENOMEM;
	if (r == 0)
		r = select_finish(&s, q, base, ret);
	batch_builder_free(s.b);
	free(s.counts[0]);
	free(s.counts[1]);
	return r;
}

void selection_fini(struct selection *s)
{
	free(s->data);
	free(s->base);
}
