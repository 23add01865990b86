// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/location_order.h"

#include <stdlib.h>

#define LOCATION_USES	1024	/* as many or more are the same */

static uint32_t location_uses(uint32_t uses)
{
	return uses < LOCATION_USES ? uses : LOCATION_USES - 1;
}

static int location_by_place(const void *a, const void *b, void *arg)
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
static void location_count(const struct batch *b, const uint32_t *depth,
			   uint32_t *uses, uint32_t *n)
{
	*n = 0;
	for (uint32_t i = 0; i < batch_n(b, BATCH_STACKS); i++) {
		const struct batch_stack *s = &b->stacks[i];

		for (uint32_t k = 0; k < depth[i]; k++)
			*n += !uses[b->stack_frames[s->first + k]]++;
	}
}

/*
 * Sort the frames with uses into two: the first `few` of v, which most stacks
 * name, and the others behind them.  Of those with as many uses as the last of
 * the few, the lower numbers are taken.
 */
static void location_divide(const uint32_t *uses, uint32_t frames, uint32_t few,
			    uint32_t *v)
{
	uint32_t with[LOCATION_USES] = { 0 }, least = LOCATION_USES - 1;
	uint32_t left = few, n = 0, behind = few;

	for (uint32_t i = 0; i < frames; i++)
		with[location_uses(uses[i])]++;
	for (; least > 1 && with[least] <= left; least--)
		left -= with[least];
	for (uint32_t i = 0; i < frames; i++) {
		uint32_t u = location_uses(uses[i]);

		if (u > least || (u == least && left)) {
			left -= u == least;
			v[n++] = i;
		} else if (u) {
			v[behind++] = i;
		}
	}
}

uint32_t *location_order(const struct batch *b, const uint32_t *depth,
			 uint32_t *n)
{
	uint32_t frames = batch_n(b, BATCH_FRAMES), few;
	uint32_t *uses = calloc(frames + 1, sizeof(*uses)), *v = NULL;

	if (uses) {
		location_count(b, depth, uses, n);
		v = malloc((*n + 1) * sizeof(*v));
	}
	if (v) {
		few = *n < LOCATION_ORDER_SHORT ? *n : LOCATION_ORDER_SHORT;
		location_divide(uses, frames, few, v);
		qsort_r(v, few, sizeof(*v), location_by_place, (void *)b->frames);
		qsort_r(v + few, *n - few, sizeof(*v), location_by_place,
			(void *)b->frames);
	}
	free(uses);
	return v;
}
