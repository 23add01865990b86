// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/trace.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/vector.h"

void traces_init(struct traces *t, uint64_t seed)
{
	*t = (struct traces){ .seed = seed, .bytes_max = TRACE_BYTES_MAX };
}

void traces_clear(struct traces *t)
{
	for (uint32_t i = 0; i < t->top; i++)
		free(t->v[i]);
	free(t->v);
	hash_free(&t->by_words);
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

/* A free index, or TRACE_NONE. */
static uint32_t trace_take_index(struct traces *t)
{
	for (; t->free_hint < t->top; t->free_hint++) {
		if (!t->v[t->free_hint])
			return t->free_hint;
	}
	if (!array_reserve(&t->v, &t->cap, (uint64_t)t->top + 1))
		return TRACE_NONE;
	t->v[t->top] = NULL;
	return t->top++;
}

static uint32_t trace_insert(struct traces *t, const struct trace_rec *rec,
			     uint32_t space, uint64_t hash)
{
	size_t words = (size_t)rec->n_kernel + rec->n_user;
	size_t size = trace_size(words);
	struct trace *tr;
	uint32_t i;

	if (size > t->bytes_max - t->bytes)
		return TRACE_NONE;
	i = trace_take_index(t);
	if (i == TRACE_NONE)
		return TRACE_NONE;
	tr = malloc(size);
	if (!tr || !hash_add(&t->by_words, hash, i)) {
		free(tr);
		return TRACE_NONE;
	}
	*tr = (struct trace){
		.hash = hash,
		.space = space,
		.n_kernel = rec->n_kernel,
		.n_user = rec->n_user,
	};
	memcpy(tr->words, rec->words, words * sizeof(uint64_t));
	t->v[i] = tr;
	t->n++;
	t->bytes += size;
	return i;
}

static bool trace_same(const struct trace *tr, const struct trace_rec *rec,
		       uint32_t space, uint64_t hash, size_t len)
{
	return tr->hash == hash && tr->space == space && tr->n_kernel == rec->n_kernel &&
	       tr->n_user == rec->n_user && !memcmp(tr->words, rec->words, len);
}

uint32_t traces_add(struct traces *t, const struct trace_rec *rec, uint32_t space,
		    uint32_t interval, int *first)
{
	size_t len = ((size_t)rec->n_kernel + rec->n_user) * sizeof(uint64_t);
	uint64_t hash = XXH3_64bits_withSeed(rec->words, len, t->seed + space);
	const struct hash_slot *s = hash_find(&t->by_words, hash);
	uint32_t i;

	while (s && !trace_same(t->v[hash_index(s)], rec, space, hash, len))
		s = hash_next(&t->by_words, s);
	i = s ? hash_index(s) : trace_insert(t, rec, space, hash);
	*first = i != TRACE_NONE && t->v[i]->used != interval;
	if (i == TRACE_NONE)
		return i;
	t->v[i]->used = interval;
	if (t->v[i]->met < UINT8_MAX)
		t->v[i]->met++;
	return i;
}

void traces_sweep(struct traces *t, uint32_t interval)
{
	uint32_t idle = t->bytes > t->bytes_max / 2 ? 1 : TRACE_IDLE_INTERVALS;

	for (uint32_t i = 0; i < t->top; i++) {
		struct trace *tr = t->v[i];

		if (!tr || interval - tr->used < idle)
			continue;
		t->bytes -= trace_size((size_t)tr->n_kernel + tr->n_user);
		t->n--;
		t->v[i] = NULL;
		hash_remove_index(&t->by_words, tr->hash, i);
		free(tr);
	}
	if (t->n == 0) {
		traces_clear(t);
		return;
	}
	t->free_hint = 0;
}
