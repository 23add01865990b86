// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/lanes.h"

#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/json.h"
#include "profile/profile.h"
#include "profile/threads.h"
#include "profile/tree.h"

struct lane {
	uint32_t thread;
	uint64_t samples;
};

struct lane_sample {
	uint32_t thread, label, sample;
};

/* A part of a thread's time. */
struct lane_part {
	uint32_t count;			/* samples of the label that is being counted */
	uint32_t top, most;		/* the label with most samples so far */
	uint32_t all;
};

struct lanes {
	const struct batch *b;
	struct tree t;
	struct threads threads;
	uint64_t from_ns;
	struct query_bins bins;
	struct lane *lanes;		/* of each thread, most samples first */
	struct lane_sample *samples;	/* by thread, then label */
	uint32_t *first;		/* of each thread in .samples; one more */
	uint32_t *process;		/* by row: the label of its process */
	uint32_t *number;		/* by label: from 1 on; 0: not used */
	uint32_t *used;			/* labels by number */
	uint32_t n_used;
	struct lane_part *parts;
};

static int lanes_by_samples(const void *pa, const void *pb)
{
	const struct lane *a = pa, *b = pb;
	int r = profile_order(b->samples, a->samples);

	if (!r)
		r = profile_order(a->thread, b->thread);
	return r;
}

static int lanes_by_label(const void *pa, const void *pb)
{
	const struct lane_sample *a = pa, *b = pb;
	int r = profile_order(a->thread, b->thread);

	if (!r)
		r = profile_order(a->label, b->label);
	return r;
}

static int lanes_alloc(struct lanes *l)
{
	size_t n = batch_n(l->b, BATCH_SAMPLES), threads = l->threads.n;

	l->lanes = calloc(threads + 1, sizeof(*l->lanes));
	l->first = calloc(threads + 1, sizeof(*l->first));
	l->samples = calloc(n + 1, sizeof(*l->samples));
	l->process = calloc((size_t)l->t.n_rows + 1, sizeof(*l->process));
	l->number = calloc((size_t)l->t.n_labels + 1, sizeof(*l->number));
	l->used = calloc((size_t)l->t.n_labels + 1, sizeof(*l->used));
	l->parts = calloc(l->bins.n, sizeof(*l->parts));
	if (!l->lanes || !l->first || !l->samples || !l->process || !l->number ||
	    !l->used || !l->parts)
		return -ENOMEM;
	return 0;
}

static void lanes_sort(struct lanes *l)
{
	uint32_t n = batch_n(l->b, BATCH_SAMPLES);

	for (uint32_t i = 0; i < l->t.n_rows; i++) {
		if (l->t.rows[i].depth)
			l->process[i] = l->process[i - 1];
		else
			l->process[i] = l->t.rows[i].label;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t thread = l->threads.of[i];

		l->samples[i] = (struct lane_sample){
			thread, l->t.rows[l->t.places[i]].label, i,
		};
		l->lanes[thread].samples += l->b->samples[i].n;
		l->first[thread + 1]++;
	}
	for (uint32_t k = 0; k < l->threads.n; k++) {
		l->lanes[k].thread = k;
		l->first[k + 1] += l->first[k];
	}
	qsort(l->samples, n, sizeof(*l->samples), lanes_by_label);
	qsort(l->lanes, l->threads.n, sizeof(*l->lanes), lanes_by_samples);
}

static struct lane_part *lanes_part(const struct lanes *l, uint64_t t)
{
	uint64_t at = (t - l->from_ns) / (l->bins.ms * NSEC_PER_MSEC);

	if (at >= l->bins.n)
		at = l->bins.n - 1;
	return &l->parts[at];
}

/* Count samples v[0..n), all of one label, and make it the top of the parts where it has
 * most. */
static void lanes_count(struct lanes *l, const struct lane_sample *v,
			uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct batch_sample *s = &l->b->samples[v[i].sample];

		for (uint32_t k = 0; k < s->n; k++)
			lanes_part(l, l->b->times[s->first + k])->count++;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct batch_sample *s = &l->b->samples[v[i].sample];

		for (uint32_t k = 0; k < s->n; k++) {
			struct lane_part *p =
				lanes_part(l, l->b->times[s->first + k]);

			if (p->count > p->most) {
				p->most = p->count;
				p->top = v->label;
			}
			p->all += p->count;
			p->count = 0;
		}
	}
}

static uint32_t lanes_label(struct lanes *l, uint32_t label)
{
	if (!l->number[label]) {
		l->used[l->n_used] = label;
		l->n_used++;
		l->number[label] = l->n_used;
	}
	return l->number[label] - 1;
}

static void lanes_put(struct lanes *l, const struct lane *lane, struct json *j)
{
	const struct lane_sample *v = l->samples + l->first[lane->thread];
	uint32_t n = l->first[lane->thread + 1] - l->first[lane->thread];
	const struct batch_sample *s = &l->b->samples[v->sample];
	const struct batch_attr *a = &l->b->attrs[s->attr];
	size_t len;
	const char *name = batch_str(l->b, a->thread_name, &len);

	for (uint32_t i = 0, k; i < n; i = k) {
		k = i + 1;
		while (k < n && v[k].label == v[i].label)
			k++;
		lanes_count(l, v + i, k - i);
	}
	json_line(j);
	json_open(j, NULL, '[');
	json_num(j, NULL, lanes_label(l, l->process[l->t.places[v->sample]]));
	json_num(j, NULL, l->b->resources[s->resource].pid);
	json_num(j, NULL, a->tid);
	json_chars(j, NULL, name, len);
	json_num(j, NULL, lane->samples);
	json_open(j, NULL, '[');
	for (size_t i = 0; i < l->bins.n; i++) {
		const struct lane_part p = l->parts[i];

		l->parts[i] = (struct lane_part){ 0 };
		if (!p.all)
			continue;
		json_num(j, NULL, i);
		json_num(j, NULL, lanes_label(l, p.top));
		json_num(j, NULL, p.most);
		json_num(j, NULL, p.all);
	}
	json_close(j, ']');
	json_close(j, ']');
}

static void lanes_put_labels(const struct lanes *l, struct json *j)
{
	json_line(j);
	json_open(j, "labels", '[');
	for (uint32_t i = 0; i < l->n_used; i++) {
		const struct tree_label *label = &l->t.labels[l->used[i]];

		json_open(j, NULL, '[');
		json_chars(j, NULL, l->t.text + label->name, label->name_len);
		json_chars(j, NULL, l->t.text + label->module,
			   label->module_len);
		json_num(j, NULL, label->kind);
		json_close(j, ']');
	}
	json_close(j, ']');
}

static void lanes_put_all(struct lanes *l, uint32_t limit, struct json *j)
{
	uint64_t others = 0, n = 0;

	json_open(j, NULL, '{');
	json_num(j, "from", l->bins.from_ms);
	json_num(j, "to", l->bins.to_ms);
	json_num(j, "bin_ms", l->bins.ms);
	json_open(j, "threads", '[');
	for (uint32_t i = 0; i < l->threads.n && i < limit; i++)
		lanes_put(l, &l->lanes[i], j);
	json_close(j, ']');
	for (uint32_t i = limit; i < l->threads.n; i++) {
		n++;
		others += l->lanes[i].samples;
	}
	json_open(j, "others", '{');
	json_num(j, "threads", n);
	json_num(j, "samples", others);
	json_close(j, '}');
	lanes_put_labels(l, j);
	json_close(j, '}');
	buffer_str(j->out, "\n");
}

static void lanes_free(struct lanes *l)
{
	threads_fini(&l->threads);
	free(l->lanes);
	free(l->first);
	free(l->samples);
	free(l->process);
	free(l->number);
	free(l->used);
	free(l->parts);
}

int lanes_encode(const struct store *s, const struct query *q, uint32_t bins,
		 uint32_t limit, struct buffer *out)
{
	struct lanes l = { .from_ns = q->from_ns, .bins = query_bins(q, bins) };
	struct json j = { .out = out };
	struct selection sel;
	int r = select_batch(s, q, NULL,
			     SELECT_THREADS | SELECT_TIMES | SELECT_LEAVES, &sel);

	if (r)
		return r;
	l.b = &sel.b;
	r = tree_build_as(&l.t, l.b, &(struct tree_how){ .places = true });
	if (r == 0) {
		r = threads_number(&l.threads, l.b);
		if (r == 0)
			r = lanes_alloc(&l);
		if (r == 0) {
			lanes_sort(&l);
			lanes_put_all(&l, limit, &j);
		}
		lanes_free(&l);
		tree_fini(&l.t);
	}
	selection_fini(&sel);
	if (r)
		return r;
	if (out->failed)
		return -ENOMEM;
	return 0;
}
