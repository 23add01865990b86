// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/samples.h"

#include <stdlib.h>

#define ROOM_FIRST	256u
#define ROOM_KEPT	4096u		/* events: 192 KiB */

void samples_fini(struct samples *s)
{
	free(s->v);
	*s = (struct samples){ 0 };
}

struct event *samples_add(struct samples *s)
{
	size_t room = s->room ? s->room * 2 : ROOM_FIRST;
	struct event *v;

	if (s->n < s->room)
		return &s->v[s->n++];
	if (s->n >= SAMPLES_MAX)
		return NULL;
	v = reallocarray(s->v, room, sizeof(*v));
	if (!v)
		return NULL;
	s->v = v;
	s->room = room;
	return &s->v[s->n++];
}

void samples_keep(struct samples *s, size_t n)
{
	struct event *v;

	s->n = n;
	s->flush_at = n + SAMPLES_FLUSH;
	if (s->room <= ROOM_KEPT || n > ROOM_KEPT / 2)
		return;
	if (n == 0) {
		free(s->v);
		*s = (struct samples){ .flush_at = SAMPLES_FLUSH };
		return;
	}
	v = reallocarray(s->v, ROOM_KEPT, sizeof(*v));
	if (!v)
		return;
	s->v = v;
	s->room = ROOM_KEPT;
}
