// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/samples.h"

#include <stdlib.h>

#include "common/vector.h"

#define SAMPLES_KEPT	4096u		/* of the memory: 192 KiB */

void samples_fini(struct samples *s)
{
	free(s->v);
	*s = (struct samples){ 0 };
}

struct event *samples_add(struct samples *s)
{
	if (s->n >= SAMPLES_MAX || !vector_reserve(s, 1))
		return NULL;
	return &s->v[s->n++];
}

void samples_keep(struct samples *s, uint32_t n)
{
	struct event *v;

	s->n = n;
	s->flush_at = n + SAMPLES_FLUSH;
	if (s->cap <= SAMPLES_KEPT || n > SAMPLES_KEPT / 2)
		return;
	if (n == 0) {
		free(s->v);
		*s = (struct samples){ .flush_at = SAMPLES_FLUSH };
		return;
	}
	v = reallocarray(s->v, SAMPLES_KEPT, sizeof(*v));
	if (!v)
		return;
	s->v = v;
	s->cap = SAMPLES_KEPT;
}
