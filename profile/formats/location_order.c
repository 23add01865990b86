// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/location_order.h"

#include <stdlib.h>

static int by_use(const void *a, const void *b, void *arg)
{
	const uint32_t *uses = arg, x = *(const uint32_t *)a,
		       y = *(const uint32_t *)b;

	if (uses[x] != uses[y])
		return uses[x] > uses[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int by_place(const void *a, const void *b, void *arg)
{
	const struct batch_frame *frames = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct batch_frame *f = &frames[x], *g = &frames[y];

	if (f->exe != g->exe)
		return f->exe < g->exe ? -1 : 1;
	if (f->address != g->address)
		return f->address < g->address ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* How many of the stacks name each frame; *n: frames that any does. */
static void location_count(const struct batch *b, const uint8_t *used,
			   uint32_t *uses, uint32_t *n)
{
	*n = 0;
	for (uint32_t i = 0; i < batch_n(b, BATCH_STACKS); i++) {
		const struct batch_stack *s = &b->stacks[i];

		for (uint32_t k = 0; used[i] && k < s->n; k++)
			*n += !uses[b->stack_frames[s->first + k]]++;
	}
}

uint32_t *location_order(const struct batch *b, const uint8_t *used,
			 uint32_t *ret_n)
{
	uint32_t frames = batch_n(b, BATCH_FRAMES), n, few;
	uint32_t *uses = calloc(frames + 1, sizeof(*uses)), *v;

	if (!uses)
		return NULL;
	location_count(b, used, uses, ret_n);
	v = malloc((*ret_n + 1) * sizeof(*v));
	n = 0;
	for (uint32_t i = 0; v && i < frames; i++) {
		if (uses[i])
			v[n++] = i;
	}
	if (v) {
		few = n < LOCATION_ORDER_SHORT ? n : LOCATION_ORDER_SHORT;
		qsort_r(v, n, sizeof(*v), by_use, uses);
		qsort_r(v, few, sizeof(*v), by_place, (void *)b->frames);
		qsort_r(v + few, n - few, sizeof(*v), by_place,
			(void *)b->frames);
	}
	free(uses);
	return v;
}
