// SPDX-License-Identifier: Apache-2.0
#include "profile/threads.h"

#include <errno.h>
#include <stdlib.h>

#include "profile/profile.h"

static int threads_compare(const void *pa, const void *pb, void *arg)
{
	const struct batch *b = arg;
	const struct batch_sample *x = &b->samples[*(const uint32_t *)pa];
	const struct batch_sample *y = &b->samples[*(const uint32_t *)pb];
	const struct batch_attr *ax = &b->attrs[x->attr];
	const struct batch_attr *ay = &b->attrs[y->attr];
	int r = profile_order(x->resource, y->resource);

	if (!r)
		r = profile_order(ax->tid, ay->tid);
	if (!r)
		r = profile_order(ax->thread_name, ay->thread_name);
	return r;
}

int threads_number(struct threads *t, const struct batch *b)
{
	uint32_t samples = batch_n(b, BATCH_SAMPLES), last = 0;

	*t = (struct threads){
		.sample = calloc((size_t)samples + 1, sizeof(*t->sample)),
		.of = calloc((size_t)samples + 1, sizeof(*t->of)),
	};
	if (!t->sample || !t->of) {
		threads_fini(t);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < samples; i++)
		t->sample[i] = i;
	qsort_r(t->sample, samples, sizeof(*t->sample), threads_compare,
		(void *)b);
	for (uint32_t i = 0; i < samples; i++) {
		uint32_t s = t->sample[i];

		if (!i || threads_compare(&last, &s, (void *)b)) {
			t->sample[t->n] = s;
			t->n++;
		}
		last = s;
		t->of[s] = t->n - 1;
	}
	return 0;
}

void threads_fini(struct threads *t)
{
	free(t->sample);
	free(t->of);
	*t = (struct threads){ 0 };
}
