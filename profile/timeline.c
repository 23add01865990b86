// SPDX-License-Identifier: Apache-2.0
#include "profile/timeline.h"

#include <stdlib.h>

#include "profile/profile.h"

static int timeline_by_time(const void *pa, const void *pb, void *by_thread)
{
	const struct timeline_event *a = pa, *b = pb;
	int r = profile_order(a->resource, b->resource);

	if (!r && *(const bool *)by_thread)
		r = profile_order(a->tid, b->tid);
	if (!r)
		r = profile_order(a->time, b->time);
	if (!r)
		r = profile_order(a->sample, b->sample);
	return r;
}

struct timeline_event *timeline_sort(const struct batch *b, bool by_thread,
				     size_t *n)
{
	struct timeline_event *events;

	events = calloc((size_t)batch_n(b, BATCH_TIMES) + 1, sizeof(*events));
	if (!events)
		return NULL;
	*n = 0;
	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES); i++) {
		const struct batch_sample *s = &b->samples[i];

		for (uint32_t k = 0; k < s->n; k++)
			events[(*n)++] = (struct timeline_event){
				.time = b->times[s->first + k],
				.resource = s->resource,
				.tid = b->attrs[s->attr].tid, .sample = i,
			};
	}
	qsort_r(events, *n, sizeof(*events), timeline_by_time, &by_thread);
	return events;
}

struct look {
	const struct batch *b;
	bool by_line;
};

static int timeline_by_look(const void *pa, const void *pb, void *arg)
{
	const struct look *l = arg;
	const struct batch_frame *a = &l->b->frames[*(const uint32_t *)pa];
	const struct batch_frame *b = &l->b->frames[*(const uint32_t *)pb];
	int r = profile_order(a->kind, b->kind);

	if (!r)
		r = profile_order(a->function, b->function);
	if (!r)
		r = profile_order(a->exe, b->exe);
	if (!r && l->by_line)
		r = profile_order(a->line, b->line);
	if (!r && l->by_line)
		r = profile_order(a->inlined, b->inlined);
	return r;
}

static int timeline_by_look_then_number(const void *pa, const void *pb, void *arg)
{
	int r = timeline_by_look(pa, pb, arg);

	if (!r)
		r = profile_order(*(const uint32_t *)pa, *(const uint32_t *)pb);
	return r;
}

uint32_t *timeline_frames(const struct batch *b, bool by_line)
{
	uint32_t n = batch_n(b, BATCH_FRAMES), first = 0;
	uint32_t *sorted = calloc((size_t)n + 1, sizeof(*sorted));
	uint32_t *ret = calloc((size_t)n + 1, sizeof(*ret));
	struct look look = { b, by_line };

	if (!sorted || !ret) {
		free(sorted);
		free(ret);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = i;
	qsort_r(sorted, n, sizeof(*sorted), timeline_by_look_then_number, &look);
	for (uint32_t i = 0; i < n; i++) {
		if (!i || timeline_by_look(&sorted[i - 1], &sorted[i], &look))
			first = sorted[i];
		ret[sorted[i]] = first;
	}
	free(sorted);
	return ret;
}

void timeline_process(const struct batch *b, const uint32_t *names,
		      uint32_t resource, struct buffer *out)
{
	size_t len;
	const char *s = batch_str(b, names[resource], &len);

	if (len)
		buffer_add(out, s, len);
	else
		buffer_str(out, PROFILE_UNKNOWN_PROCESS);
	buffer_printf(out, " (pid %u)", b->resources[resource].pid);
}
