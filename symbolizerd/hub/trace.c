// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/trace.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define BUCKETS_FIRST	256u

void traces_init(struct traces *t, uint64_t seed)
{
	*t = (struct traces){ .seed = seed, .bytes_max = TRACE_BYTES_MAX };
}

void traces_clear(struct traces *t)
{
	for (uint32_t i = 0; i < t->top; i++)
		free(t->v[i]);
	free(t->v);
	free(t->buckets);
	*t = (struct traces){ .seed = t->seed, .bytes_max = t->bytes_max };
}

void traces_fini(struct traces *t)
{
	traces_clear(t);
}

static size_t trace_size(size_t words)
{
	return sizeof(struct trace) + words * sizeof(uint64_t);
}

static void trace_link_in(struct traces *t, uint32_t i)
{
	uint32_t *head = &t->buckets[t->v[i]->hash_lo & (t->n_buckets - 1)];

	t->v[i]->next = *head;
	*head = i;
}

static void trace_relink(struct traces *t)
{
	memset(t->buckets, 0xff, t->n_buckets * sizeof(*t->buckets));
	for (uint32_t i = 0; i < t->top; i++) {
		if (t->v[i])
			trace_link_in(t, i);
	}
}

static int grow_buckets(struct traces *t)
{
	uint32_t n = t->n_buckets ? t->n_buckets * 2 : BUCKETS_FIRST;
	uint32_t *b;

	if (t->n < t->n_buckets)
		return 0;
	b = reallocarray(t->buckets, n, sizeof(*b));
	if (!b)
		return -1;
	t->buckets = b;
	t->n_buckets = n;
	trace_relink(t);
	return 0;
}

/* A free index, or TRACE_NONE. */
static uint32_t trace_take_index(struct traces *t)
{
	uint32_t room = t->room ? t->room * 2 : BUCKETS_FIRST;
	struct trace **v;

	for (; t->free_hint < t->top; t->free_hint++) {
		if (!t->v[t->free_hint])
			return t->free_hint;
	}
	if (t->top == t->room) {
		v = reallocarray(t->v, room, sizeof(*v));
		if (!v)
			return TRACE_NONE;
		t->v = v;
		t->room = room;
	}
	t->v[t->top] = NULL;
	return t->top++;
}

static uint32_t trace_insert(struct traces *t, const struct trace_rec *rec,
			     XXH128_hash_t hash)
{
	size_t words = (size_t)rec->n_kernel + rec->n_user;
	size_t size = trace_size(words);
	struct trace *tr;
	uint32_t i;

	if (size > t->bytes_max - t->bytes || grow_buckets(t) < 0)
		return TRACE_NONE;
	i = trace_take_index(t);
	if (i == TRACE_NONE)
		return TRACE_NONE;
	tr = malloc(size);
	if (!tr)
		return TRACE_NONE;
	*tr = (struct trace){
		.hash_lo = hash.low64,
		.hash_hi = hash.high64,
		.n_kernel = rec->n_kernel,
		.n_user = rec->n_user,
	};
	memcpy(tr->words, rec->words, words * sizeof(uint64_t));
	t->v[i] = tr;
	t->n++;
	t->bytes += size;
	trace_link_in(t, i);
	return i;
}

uint32_t traces_add(struct traces *t, const struct trace_rec *rec,
		    uint32_t interval, int *is_new)
{
	size_t len = ((size_t)rec->n_kernel + rec->n_user) * sizeof(uint64_t);
	XXH128_hash_t h = XXH3_128bits_withSeed(rec->words, len, t->seed);
	uint32_t i = TRACE_NONE;

	*is_new = 0;
	if (t->n_buckets)
		i = t->buckets[h.low64 & (t->n_buckets - 1)];
	for (; i != TRACE_NONE; i = t->v[i]->next) {
		const struct trace *tr = t->v[i];

		if (tr->hash_lo == h.low64 && tr->hash_hi == h.high64 &&
		    tr->n_kernel == rec->n_kernel &&
		    tr->n_user == rec->n_user &&
		    !memcmp(tr->words, rec->words, len))
			break;
	}
	if (i == TRACE_NONE) {
		i = trace_insert(t, rec, h);
		*is_new = i != TRACE_NONE;
	}
	if (i != TRACE_NONE)
		t->v[i]->used = interval;
	return i;
}

void traces_sweep(struct traces *t, uint32_t interval)
{
	uint32_t idle = t->bytes > t->bytes_max / 2 ? 1 : TRACE_IDLE_INTERVALS;
	uint32_t before = t->n;

	for (uint32_t i = 0; i < t->top; i++) {
		struct trace *tr = t->v[i];

		if (!tr || interval - tr->used < idle)
			continue;
		t->bytes -= trace_size((size_t)tr->n_kernel + tr->n_user);
		t->n--;
		t->v[i] = NULL;
		free(tr);
	}
	if (t->n == 0) {
		traces_clear(t);
		return;
	}
	t->free_hint = 0;
	if (t->n != before)
		trace_relink(t);
}
