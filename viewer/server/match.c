// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "viewer/server/select.h"

bool select_overlaps(const struct segment *s, const struct query *q)
{
	return s->start_ns < q->to_ns && s->end_ns > q->from_ns;
}

/* --- filters: each distinct element is judged once ------------------------------- */

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

		for (int k = 0; k <= KEY_EXECUTABLE; k++)
			m->resources[i] |= (uint8_t)(!right[k] << k);
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

		for (uint32_t k = 0; k < s->n; k++)
			m->kinds[i] |=
				(uint16_t)(1
					   << b->frames[b->stack_frames
								[s->first + k]]
						      .kind);
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

/* Of `total` events of a segment, how many count as before t. */
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
	for (uint32_t i = 0; i < v->n; i++)
		n += t[i] >= q->from_ns && t[i] < q->to_ns;
	return n;
}

/* A part of a coarse segment: every sample's share, in the order of samples. */
static uint64_t match_share(const struct match *m, uint64_t total,
			    uint32_t *counts)
{
	uint64_t part = match_before(m->seg, total, m->q->to_ns) -
			match_before(m->seg, total, m->q->from_ns);
	uint64_t sum = 0, given = 0, upto;

	for (uint32_t i = 0; i < batch_n(&m->seg->b, BATCH_SAMPLES); i++) {
		sum += counts[i];
		upto = total ? (uint64_t)((unsigned __int128)sum * part / total) :
			0;
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
		counts[i] = !match_is_meant(m, i, ignore) ? 0 :
			s->counts ? s->counts[i] :
			match_count_times(s, &s->b.samples[i], m->q);
		sum += counts[i];
	}
	return s->counts ? match_share(m, sum, counts) : sum;
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

		for (uint32_t k = 0; match_is_meant(m, i, 0) && k < v->n; k++) {
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
	for (uint32_t i = 0; i < batch_n(&s->b, BATCH_SAMPLES); i++)
		total += match_is_meant(m, i, 0) ? s->counts[i] : 0;
	for (size_t i = 0; i < n; i++, from = to) {
		to = i + 1 < n && bin_ns < m->q->to_ns - from ? from + bin_ns :
			m->q->to_ns;
		bins[i] += match_before(s, total, to) - match_before(s, total, from);
	}
}
