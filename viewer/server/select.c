// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/vector.h"
#include "profile/remap.h"

bool select_overlaps(const struct segment *s, const struct query *q)
{
	return s->start_ns < q->to_ns && s->end_ns > q->from_ns;
}

/* --- filters, applied to each distinct element once ------------------------------ */

static bool match_has_text(const struct query *q, enum select_key k,
			   const struct batch *b, uint32_t string)
{
	size_t len;
	const char *s = batch_str(b, string, &len);

	for (uint32_t i = 0; i < q->key[k].n; i++) {
		if (q->key[k].text[i].len == len &&
		    !memcmp(q->key[k].text[i].s, s, len))
			return true;
	}
	return q->key[k].n == 0;
}

static bool match_has_number(const struct query *q, enum select_key k, uint32_t v)
{
	for (uint32_t i = 0; i < q->key[k].n; i++) {
		if (q->key[k].number[i] == v)
			return true;
	}
	return q->key[k].n == 0;
}

static void match_judge_resources(struct match *m)
{
	const struct batch *b = &m->seg->b;

	for (uint32_t i = 0; i < batch_n(b, BATCH_RESOURCES); i++) {
		const struct batch_resource *r = &b->resources[i];
		const bool right[] = {
			[KEY_PROCESS] = match_has_text(m->q, KEY_PROCESS, b, r->comm),
			[KEY_PID] = match_has_number(m->q, KEY_PID, r->pid),
			[KEY_THREAD] = true, [KEY_TID] = true,
			[KEY_CONTAINER] = match_has_text(m->q, KEY_CONTAINER, b,
							 r->container_id),
			[KEY_EXECUTABLE] = match_has_text(m->q, KEY_EXECUTABLE, b,
							  r->exe_path),
		};

		for (int k = 0; k <= KEY_EXECUTABLE; k++) {
			if (!right[k])
				m->resources[i] |= (uint8_t)(1u << k);
		}
	}
}

static void match_judge_attrs(struct match *m)
{
	const struct batch *b = &m->seg->b;

	for (uint32_t i = 0; i < batch_n(b, BATCH_ATTRS); i++) {
		const struct batch_attr *a = &b->attrs[i];

		if (!match_has_text(m->q, KEY_THREAD, b, a->thread_name))
			m->attrs[i] |= 1 << KEY_THREAD;
		if (!match_has_number(m->q, KEY_TID, a->tid))
			m->attrs[i] |= 1 << KEY_TID;
	}
}

_Static_assert(BATCH_FRAME__KINDS <= 16, "bits of match.kinds");

static void match_judge_stacks(struct match *m)
{
	const struct batch *b = &m->seg->b;

	for (uint32_t i = 0; i < batch_n(b, BATCH_STACKS); i++) {
		const struct batch_stack *s = &b->stacks[i];

		for (uint32_t k = 0; k < s->n; k++) {
			uint32_t frame = b->stack_frames[s->first + k];

			m->kinds[i] |= (uint16_t)(1u << b->frames[frame].kind);
		}
		if (m->q->kinds && !(m->kinds[i] & m->q->kinds))
			m->stacks[i] = 1 << KEY_KIND;
	}
}

int match_init(struct match *m, const struct segment *s, const struct query *q)
{
	*m = (struct match){ .seg = s, .q = q };
	m->resources = calloc(batch_n(&s->b, BATCH_RESOURCES) + 1, 1);
	m->attrs = calloc(batch_n(&s->b, BATCH_ATTRS) + 1, 1);
	m->stacks = calloc(batch_n(&s->b, BATCH_STACKS) + 1, 1);
	m->kinds = calloc(batch_n(&s->b, BATCH_STACKS) + 1, sizeof(*m->kinds));
	if (!m->resources || !m->attrs || !m->stacks || !m->kinds)
		return -ENOMEM;
	match_judge_resources(m);
	match_judge_attrs(m);
	match_judge_stacks(m);
	return 0;
}

void match_fini(struct match *m)
{
	free(m->resources);
	free(m->attrs);
	free(m->stacks);
	free(m->kinds);
}

static bool match_is_meant(const struct match *m, uint32_t i, uint32_t ignore)
{
	const struct batch_sample *s = &m->seg->b.samples[i];

	return !((uint32_t)(m->resources[s->resource] | m->attrs[s->attr] |
			    m->stacks[s->stack]) & ~ignore);
}

/* --- counts ---------------------------------------------------------------------- */

/* The number of a coarse segment's `total` events that count as before t. */
static uint64_t match_before(const struct segment *s, uint64_t total, uint64_t t)
{
	uint64_t length = s->end_ns - s->start_ns;

	if (t <= s->start_ns || length == 0)
		return 0;
	if (t >= s->end_ns)
		return total;
	return (uint64_t)((unsigned __int128)total * (t - s->start_ns) / length);
}

static uint32_t match_count_times(const struct segment *s,
				  const struct batch_sample *v, const struct query *q)
{
	const uint64_t *t = s->b.times + v->first;
	uint32_t n = 0;

	if (s->start_ns >= q->from_ns && s->end_ns <= q->to_ns)
		return v->n;
	for (uint32_t i = 0; i < v->n; i++) {
		if (t[i] >= q->from_ns && t[i] < q->to_ns)
			n++;
	}
	return n;
}

/* Replace the counts of a coarse segment by their shares in the range, each rounded so
 * that they add up.  Returns the sum. */
static uint64_t match_share(const struct match *m, uint64_t total,
			    uint32_t *counts)
{
	uint64_t part = match_before(m->seg, total, m->q->to_ns) -
			match_before(m->seg, total, m->q->from_ns);
	uint64_t sum = 0, given = 0, upto;

	if (!total)
		return 0;
	for (uint32_t i = 0; i < batch_n(&m->seg->b, BATCH_SAMPLES); i++) {
		sum += counts[i];
		upto = (uint64_t)((unsigned __int128)sum * part / total);
		counts[i] = (uint32_t)(upto - given);
		given = upto;
	}
	return part;
}

uint64_t match_counts(const struct match *m, uint32_t ignore, uint32_t *counts)
{
	const struct segment *s = m->seg;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < batch_n(&s->b, BATCH_SAMPLES); i++) {
		counts[i] = 0;
		if (!match_is_meant(m, i, ignore))
			continue;
		if (s->counts)
			counts[i] = s->counts[i];
		else
			counts[i] = match_count_times(s, &s->b.samples[i], m->q);
		sum += counts[i];
	}
	if (s->counts)
		return match_share(m, sum, counts);
	return sum;
}

/* --- the time line ----------------------------------------------------------------- */

struct query_bins query_bins(const struct query *q, uint32_t most)
{
	struct query_bins b = {
		.from_ms = q->from_ns / NSEC_PER_MSEC,
		.to_ms = (q->to_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC,
	};

	b.ms = (b.to_ms - b.from_ms + most - 1) / most;
	b.n = (size_t)((b.to_ms - b.from_ms + b.ms - 1) / b.ms);
	return b;
}

static void match_exact_timeline(const struct match *m, uint64_t bin_ns,
				 uint64_t *bins, size_t n)
{
	const struct batch *b = &m->seg->b;

	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES); i++) {
		const struct batch_sample *v = &b->samples[i];

		if (!match_is_meant(m, i, 0))
			continue;
		for (uint32_t k = 0; k < v->n; k++) {
			uint64_t t = b->times[v->first + k];
			uint64_t bin = (t - m->q->from_ns) / bin_ns;

			if (t >= m->q->from_ns && t < m->q->to_ns && bin < n)
				bins[bin]++;
		}
	}
}

void match_timeline(const struct match *m, uint64_t bin_ns, uint64_t *bins,
		    size_t n)
{
	const struct segment *s = m->seg;
	uint64_t total = 0, from = m->q->from_ns, to;

	if (!s->counts) {
		match_exact_timeline(m, bin_ns, bins, n);
		return;
	}
	for (uint32_t i = 0; i < batch_n(&s->b, BATCH_SAMPLES); i++) {
		if (match_is_meant(m, i, 0))
			total += s->counts[i];
	}
	for (size_t i = 0; i < n; i++) {
		to = m->q->to_ns;
		if (i + 1 < n && bin_ns < to - from)
			to = from + bin_ns;
		bins[i] += match_before(s, total, to) - match_before(s, total, from);
		from = to;
	}
}

/* --- into one batch ---------------------------------------------------------- */

struct selecting {
	struct batch_builder *b;
	unsigned int with;		/* SELECT_... */
	uint64_t time_ns;		/* of all events, without SELECT_TIMES */
	uint32_t *counts[2];		/* of the builder's samples; [1]: base */
	uint64_t *first;		/* of the builder's samples, with SELECT_FIRST */
	uint32_t n, cap[2], first_cap;
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
	if (s->with & SELECT_FIRST) {
		if (!array_reserve(&s->first, &s->first_cap, sample + 1ul))
			return -ENOMEM;
		s->first[sample] = UINT64_MAX;
	}
	batch_sample_times(s->b, sample, &s->time_ns, 1);
	s->counts[0][s->n] = s->counts[1][s->n] = 0;
	s->n++;
	return 0;
}

/* The start of the segment's part in the range. */
static uint64_t select_start(const struct match *m)
{
	if (m->seg->start_ns > m->q->from_ns)
		return m->seg->start_ns;
	return m->q->from_ns;
}

/*
 * Add the times of n events of the segment's sample i to the builder's `sample`: its
 * own, or, where only counts are left, spread over the part of the segment in the range.
 */
static void select_times(struct selecting *s, const struct match *m, uint32_t i,
			 uint32_t n, uint32_t sample)
{
	const struct segment *seg = m->seg;
	const struct batch_sample *v = &seg->b.samples[i];
	const struct query *q = m->q;
	uint64_t from = select_start(m), to = seg->end_ns;
	/* samples do not share the same times: each begins at another part of a step,
	 * in units of 2^-32 */
	uint64_t phase = (uint32_t)(i * 0x9e3779b1u);

	if (!seg->counts) {
		for (uint32_t k = 0; k < v->n; k++) {
			const uint64_t *t = &seg->b.times[v->first + k];

			if (*t >= q->from_ns && *t < q->to_ns)
				batch_sample_times(s->b, sample, t, 1);
		}
		return;
	}
	if (to > q->to_ns)
		to = q->to_ns;
	for (uint32_t k = 0; k < n; k++) {
		unsigned __int128 part = ((uint64_t)k << 32) + phase;
		uint64_t t = from + (uint64_t)((to - from) * part / n >> 32);

		batch_sample_times(s->b, sample, &t, 1);
	}
}

/* The time of the first matching event of sample i. */
static uint64_t select_first(const struct match *m, uint32_t i)
{
	const struct segment *seg = m->seg;
	const struct batch_sample *v = &seg->b.samples[i];
	const uint64_t *t = seg->b.times + v->first;
	uint64_t first = UINT64_MAX;

	if (seg->counts)
		return select_start(m);
	for (uint32_t k = 0; k < v->n; k++) {
		if (t[k] >= m->q->from_ns && t[k] < m->q->to_ns && t[k] < first)
			first = t[k];
	}
	return first;
}

/* Count n more events of the builder's `sample`, which are of sample v of the segment. */
static int select_count(struct selecting *s, const struct match *m, uint32_t v,
			uint32_t n, int which, uint32_t sample)
{
	int error = select_room(s, sample);
	uint64_t first;
	uint32_t *to;

	if (error)
		return error;
	to = &s->counts[which][sample];
	if (n > UINT32_MAX - *to)
		n = UINT32_MAX - *to;
	*to += n;
	if (s->with & SELECT_FIRST) {
		first = select_first(m, v);
		if (first < s->first[sample])
			s->first[sample] = first;
	}
	return 0;
}

/*
 * Only kernel frames are kept: these are complete.  A stack that ended early or was cut
 * lacks only frames of the process, which are not selected.
 */
static bool select_kernel_only(const struct query *q)
{
	return q->kinds == 1u << BATCH_FRAME_KERNEL;
}

/* Kinds of the frames that are kept; user frames with their marks. */
static uint32_t select_kinds(const struct query *q)
{
	if (!q->kinds)
		return REMAP_ALL;
	if (select_kernel_only(q))
		return q->kinds;
	return q->kinds | 1u << BATCH_FRAME_CUT | 1u << BATCH_FRAME_GUESS;
}

/* The matching samples of one segment. which: 0, or 1 for the base. */
static int select_add_counts(struct selecting *s, const struct match *m,
			     const uint32_t *counts, int which)
{
	struct remap r = {
		.to = s->b, .from = &m->seg->b,
		.kinds = select_kinds(m->q),
		.leaf = s->with & SELECT_LEAVES,
	};
	bool kernel = select_kernel_only(m->q);
	int error = remap_init(&r);

	for (uint32_t i = 0; i < batch_n(r.from, BATCH_SAMPLES) && !error; i++) {
		const struct batch_sample *v = &r.from->samples[i];
		uint32_t stack, attr = 0, stop = v->stop, sample;

		if (!counts[i])
			continue;
		stack = remap_stack(&r, v->stack);
		if (stack == REMAP_NONE)
			continue;
		if (s->with & SELECT_THREADS)
			attr = remap_attr(&r, v->attr);
		if (kernel)
			stop = STOP_COMPLETE;
		sample = batch_sample(s->b, stack, attr, remap_named(&r, v->resource), stop);
		if (sample == UINT32_MAX)
			break;		/* batch_builder_finish() returns the error */
		if (s->with & SELECT_TIMES) {
			select_times(s, m, i, counts[i], sample);
			continue;
		}
		error = select_count(s, m, i, counts[i], which, sample);
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
	if (r == 0)
		s->samples[which] += match_counts(&m, 0, counts);
	if (s->with & SELECT_TIMES && s->samples[which] > SELECT_TIMES_MAX)
		r = -E2BIG;
	if (r == 0)
		r = select_add_counts(s, &m, counts, which);
	match_fini(&m);
	free(counts);
	return r;
}

static int select_add_query(struct selecting *s, const struct store *st,
			    const struct query *q, int which)
{
	int r = 0;

	for (size_t i = 0; i < st->n && r == 0; i++) {
		if (select_overlaps(st->v[i], q))
			r = select_add_segment(s, st->v[i], q, which);
	}
	return r;
}

/* Make the batch.  Without SELECT_TIMES it has one event for each sample: set the
 * counts. */
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
	for (uint32_t i = 0; i < s->n; i++) {
		if (!(s->with & SELECT_TIMES))
			samples[i].n = s->counts[0][i];
		if (s->with & SELECT_FIRST)
			((uint64_t *)ret->b.times)[samples[i].first] = s->first[i];
	}
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
		 const struct query *base, unsigned int with,
		 struct selection *ret)
{
	struct selecting s = { .with = with, .time_ns = q->from_ns };
	uint32_t frequency = st->frequency;
	int r;

	if (!frequency)
		frequency = 1;
	s.b = batch_builder_new(frequency);
	if (!s.b)
		return -ENOMEM;
	r = select_add_query(&s, st, q, 0);
	if (r == 0 && base)
		r = select_add_query(&s, st, base, 1);
	/* without any sample there is no array yet, but the caller expects one */
	if (r == 0 && base && !s.counts[1]) {
		s.counts[1] = calloc(1, sizeof(uint32_t));
		if (!s.counts[1])
			r = -ENOMEM;
	}
	if (r == 0)
		r = select_finish(&s, q, base, ret);
	batch_builder_free(s.b);
	free(s.counts[0]);
	free(s.counts[1]);
	free(s.first);
	return r;
}

void selection_fini(struct selection *s)
{
	free(s->data);
	free(s->base);
}
