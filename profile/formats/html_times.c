// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/html_times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "profile/profile.h"
#include "profile/threads.h"

struct html_event {
	uint64_t ms;
	uint32_t row, place, thread;
};

struct html_threads {
	const struct batch *b;
	struct threads threads;
	uint32_t *names;	/* by string: its number in names + 1, or 0 */
	uint32_t *process;	/* by row: the label of its process */
	struct html_event *events;
};

static int html_by_row(const void *pa, const void *pb)
{
	const struct html_event *a = pa, *b = pb;
	int r = profile_order(a->row, b->row);

	if (!r)
		r = profile_order(a->place, b->place);
	if (!r)
		r = profile_order(a->ms, b->ms);
	if (!r)
		r = profile_order(a->thread, b->thread);
	return r;
}

static void html_name(struct html_threads *h, struct json *j, uint32_t string,
		      uint32_t *n)
{
	size_t len;
	const char *s = batch_str(h->b, string, &len);

	if (h->names[string])
		return;
	json_chars(j, NULL, s, len);
	(*n)++;
	h->names[string] = *n;
}

static void html_put_threads(struct html_threads *h, const struct tree *t,
			     struct json *j)
{
	const struct batch *b = h->b;
	uint32_t names = 0, n = h->threads.n;

	json_line(j);
	json_open(j, "threads", '{');
	json_open(j, "names", '[');
	for (uint32_t i = 0; i < n; i++) {
		const struct batch_sample *s = &b->samples[h->threads.sample[i]];
		const struct batch_resource *r = &b->resources[s->resource];

		html_name(h, j, b->attrs[s->attr].thread_name, &names);
		html_name(h, j, r->exe_path, &names);
		html_name(h, j, r->container_id, &names);
	}
	json_close(j, ']');
	json_open(j, "list", '[');
	for (uint32_t i = 0; i < n; i++) {
		const struct batch_sample *s = &b->samples[h->threads.sample[i]];
		const struct batch_resource *r = &b->resources[s->resource];
		const struct batch_attr *a = &b->attrs[s->attr];

		json_num(j, NULL, h->process[t->places[h->threads.sample[i]]]);
		json_num(j, NULL, r->pid);
		json_num(j, NULL, a->tid);
		json_num(j, NULL, h->names[a->thread_name] - 1);
		json_num(j, NULL, h->names[r->exe_path] - 1);
		json_num(j, NULL, h->names[r->container_id] - 1);
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void html_put_events(struct html_threads *h, const struct tree *t,
			    struct json *j)
{
	const struct batch *b = h->b;
	uint64_t start = b->hdr->start_ns / NSEC_PER_MSEC;
	uint32_t n = 0;

	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES); i++) {
		const struct batch_sample *s = &b->samples[i];
		uint32_t row = t->places[i];
		uint32_t place = tree_lines_place(&t->self, row,
						  tree_sample_line(t, b, i));

		for (uint32_t k = 0; k < s->n; k++)
			h->events[n++] = (struct html_event){
				b->times[s->first + k] / NSEC_PER_MSEC - start,
				row, place, h->threads.of[i],
			};
	}
	qsort(h->events, n, sizeof(*h->events), html_by_row);
	json_line(j);
	json_open(j, "times", '[');
	for (uint32_t i = 0; i < n; i++) {
		const struct html_event *e = &h->events[i];
		uint64_t since = 0;

		if (i && e[-1].row == e->row && e[-1].place == e->place)
			since = e[-1].ms;
		json_num(j, NULL, e->ms - since);
		json_num(j, NULL, e->thread);
	}
	json_close(j, ']');
}

int html_put_first(struct json *j, const struct batch *b, const struct tree *t)
{
	uint64_t start = b->hdr->start_ns / NSEC_PER_MSEC;
	uint64_t *first = malloc(((size_t)t->n_rows + 1) * sizeof(*first));

	if (!first)
		return -ENOMEM;
	memset(first, 0xff, ((size_t)t->n_rows + 1) * sizeof(*first));
	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES); i++) {
		const struct batch_sample *s = &b->samples[i];
		uint64_t *row = &first[t->places[i]];

		if (s->n && b->times[s->first] / NSEC_PER_MSEC < *row)
			*row = b->times[s->first] / NSEC_PER_MSEC;
	}
	json_line(j);
	json_open(j, "first", '[');
	for (uint32_t i = 0; i < t->n_rows; i++) {
		if (t->rows[i].self)
			json_num(j, NULL, first[i] - start);
	}
	json_close(j, ']');
	free(first);
	return 0;
}

int html_put_times(struct json *j, const struct batch *b, const struct tree *t)
{
	struct html_threads h = {
		.b = b,
		.names = calloc((size_t)batch_n(b, BATCH_STRINGS) + 1,
				sizeof(*h.names)),
		.process = calloc((size_t)t->n_rows + 1, sizeof(*h.process)),
		.events = calloc((size_t)batch_n(b, BATCH_TIMES) + 1,
				 sizeof(*h.events)),
	};
	int r = -ENOMEM;

	if (threads_number(&h.threads, b) == 0 && h.names && h.process && h.events) {
		for (uint32_t i = 0; i < t->n_rows; i++) {
			if (t->rows[i].depth)
				h.process[i] = h.process[i - 1];
			else
				h.process[i] = t->rows[i].label;
		}
		html_put_threads(&h, t, j);
		html_put_events(&h, t, j);
		r = 0;
	}
	threads_fini(&h.threads);
	free(h.names);
	free(h.process);
	free(h.events);
	return r;
}
