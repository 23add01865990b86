// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/tables/slabs.h"

#include <errno.h>
#include <stdlib.h>

void slabs_fini(struct slabs *s)
{
	for (uint32_t i = 0; i < SLABS_MAX; i++)
		free(s->v[i]);
	*s = (struct slabs){ 0 };
}

static struct slab_use *slabs_begin(struct slabs *s, uint32_t i)
{
	if (!s->v[i]) {
		s->v[i] = calloc(1, sizeof(*s->v[i]));
		if (s->v[i])
			s->v[i]->run_max = SLAB_ELEMENTS;
	}
	return s->v[i];
}

static bool slab_bit(const struct slab_use *u, uint32_t i)
{
	return u->bits[i / 64] >> (i % 64) & 1;
}

static void slabs_mark(struct slabs *s, const struct table_span *span,
		       bool used)
{
	struct slab_use *u = s->v[span->pos >> SLAB_SHIFT];
	uint32_t first = span->pos & (SLAB_ELEMENTS - 1);

	for (uint32_t i = first; i < first + span->n; i++) {
		if (used)
			u->bits[i / 64] |= 1ULL << (i % 64);
		else
			u->bits[i / 64] &= ~(1ULL << (i % 64));
	}
	if (used) {
		u->used += span->n;
		s->elements += span->n;
	} else {
		u->used -= span->n;
		s->elements -= span->n;
	}
}

/* The first of n successive free elements, at or above `from`; or SLAB_ELEMENTS. */
static uint32_t slab_find(const struct slab_use *u, uint32_t from, uint32_t n)
{
	uint32_t len = 0;

	for (uint32_t i = from; i < SLAB_ELEMENTS; i++) {
		if (i % 64 == 0 && u->bits[i / 64] == ~0ULL) {
			len = 0;
			i += 63;
			continue;
		}
		len++;
		if (slab_bit(u, i))
			len = 0;
		if (len == n)
			return i + 1 - n;
	}
	return SLAB_ELEMENTS;
}

static uint32_t slab_place(struct slab_use *u, uint32_t n)
{
	uint32_t at;

	if (SLAB_ELEMENTS - u->used < n || u->run_max < n)
		return SLAB_ELEMENTS;
	at = slab_find(u, u->hint, n);
	if (at == SLAB_ELEMENTS)
		at = slab_find(u, 0, n);
	if (at == SLAB_ELEMENTS)
		u->run_max = n - 1;
	else
		u->hint = at + n;
	return at;
}

int slabs_alloc(struct slabs *s, uint32_t n, uint32_t below,
		struct table_span *ret)
{
	for (uint32_t i = RULE_SLABS; i < below && i < s->limit; i++) {
		struct slab_use *u = s->v[i];
		uint32_t at;

		if (!u && below < SLABS_MAX)
			continue;
		u = slabs_begin(s, i);
		if (!u)
			return -ENOMEM;
		at = slab_place(u, n);
		if (at == SLAB_ELEMENTS)
			continue;
		*ret = (struct table_span){ i << SLAB_SHIFT | at, n };
		slabs_mark(s, ret, true);
		return 0;
	}
	return -ENOSPC;
}

void slabs_free(struct slabs *s, const struct table_span *span)
{
	uint32_t i = span->pos >> SLAB_SHIFT;

	slabs_mark(s, span, false);
	s->v[i]->hint = 0;
	s->v[i]->run_max = SLAB_ELEMENTS;
	if (!s->v[i]->used) {
		free(s->v[i]);
		s->v[i] = NULL;
	}
}

bool slabs_within(const struct table_span *span)
{
	uint32_t slab = span->pos >> SLAB_SHIFT;

	return slab >= RULE_SLABS && slab < SLABS_MAX && span->n &&
	       span->n <= SLAB_ELEMENTS - (span->pos & (SLAB_ELEMENTS - 1));
}

bool slabs_take(struct slabs *s, const struct table_span *span)
{
	struct slab_use *u = slabs_begin(s, span->pos >> SLAB_SHIFT);
	uint32_t first = span->pos & (SLAB_ELEMENTS - 1);

	for (uint32_t i = first; u && i < first + span->n; i++) {
		if (slab_bit(u, i))
			return false;
	}
	if (u)
		slabs_mark(s, span, true);
	return u != NULL;
}

uint32_t slabs_spare(const struct slabs *s)
{
	uint64_t slabs = 0;
	uint32_t last = 0;

	for (uint32_t i = RULE_SLABS; i < SLABS_MAX; i++) {
		if (!s->v[i] || !s->v[i]->used)
			continue;
		slabs++;
		last = i;
	}
	/* three quarters: each table that is moved needs room in one piece */
	if (slabs < 2 || s->elements * 4 >= (slabs - 1) * SLAB_ELEMENTS * 3)
		return 0;
	return last;
}
