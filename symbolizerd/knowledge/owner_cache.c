// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/owner_cache.h"

#include <stdlib.h>
#include <string.h>

static struct cache_entry *owner_cache_entry(const struct owner_cache *c, uint32_t i)
{
	return owner_cache_at(c, i);
}

static struct owner_cache *owner_cache_payer(struct owner_cache *c)
{
	return c->payer ? c->payer : c;
}

void owner_cache_fini(struct owner_cache *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		if (owner_cache_has(c, i))
			c->dropped(c->ctx, i);
	}
	free(c->v);
	free(c->unused.v);
	free(c->lists.v);
	hash_free(&c->by_hash);
	owners_fini(&c->bytes);
	*c = (struct owner_cache){
		.size = c->size, .max = c->max, .limit = c->limit, .seed = c->seed,
		.payer = c->payer,
		.same = c->same, .dropped = c->dropped, .ctx = c->ctx,
	};
}

/* --- lists by owner --------------------------------------------------------------- */

/* The list of an owner that is in .bytes; it may be empty. */
static struct cache_list *owner_cache_list(struct owner_cache *c, uint32_t owner)
{
	uint32_t at = owners_index(&c->bytes, owner);

	return at < c->lists.n ? &c->lists.v[at] : NULL;
}

/* Charge an owner.  False: no memory, and nothing changed. */
static bool owner_cache_charge(struct owner_cache *c, uint32_t owner, uint32_t bytes)
{
	static const struct cache_list none = { INDEX_NONE, INDEX_NONE };

	c->bytes.seed = c->seed;
	owners_add(&c->bytes, owner, bytes);
	if (owners_index(&c->bytes, owner) == INDEX_NONE)
		return false;
	while (c->lists.n < c->bytes.list.n) {
		if (vector_push(&c->lists, none))
			continue;
		owners_add(&c->bytes, owner, -(int64_t)bytes);
		return false;
	}
	return true;
}

static void owner_cache_unlink(struct owner_cache *c, uint32_t i)
{
	struct cache_entry *e = owner_cache_entry(c, i);
	struct cache_list *list = owner_cache_list(c, e->owner);

	if (!e->listed)
		return;
	if (e->older == INDEX_NONE)
		list->oldest = e->newer;
	else
		owner_cache_entry(c, e->older)->newer = e->newer;
	if (e->newer == INDEX_NONE)
		list->newest = e->older;
	else
		owner_cache_entry(c, e->newer)->older = e->older;
	e->listed = false;
}

/* As the newest. */
static void owner_cache_link(struct owner_cache *c, uint32_t i)
{
	struct cache_entry *e = owner_cache_entry(c, i);
	struct cache_list *list = owner_cache_list(c, e->owner);

	e->older = list->newest;
	e->newer = INDEX_NONE;
	e->listed = true;
	if (list->newest == INDEX_NONE)
		list->oldest = i;
	else
		owner_cache_entry(c, list->newest)->newer = i;
	list->newest = i;
}

void owner_cache_hold(struct owner_cache *c, uint32_t i)
{
	owner_cache_unlink(c, i);
}

void owner_cache_touch(struct owner_cache *c, uint32_t i)
{
	if (c->payer)
		return;
	owner_cache_unlink(c, i);
	owner_cache_link(c, i);
}

/* --- memory ----------------------------------------------------------------------- */

/* The owner with the most loses its oldest entry.  False: all of them are held. */
static bool owner_cache_lose(struct owner_cache *c)
{
	const struct cache_list *list;
	uint32_t most;

	if (!owners_most(&c->bytes, &most))
		return false;
	list = owner_cache_list(c, most);
	if (list->oldest == INDEX_NONE)
		return false;
	owner_cache_drop(c, list->oldest);
	c->lost++;
	return true;
}

/* Charge so many bytes more.  False: nothing is charged. */
static bool owner_cache_pay(struct owner_cache *c, uint32_t owner, uint32_t bytes)
{
	if (bytes > c->max)
		return false;
	while (c->bytes.total + bytes > c->max) {
		if (!owner_cache_lose(c))
			return false;
	}
	return owner_cache_charge(c, owner, bytes);
}

/* --- entries ---------------------------------------------------------------------- */

uint32_t owner_cache_find(const struct owner_cache *c, uint64_t hash, const void *key)
{
	const struct hash_slot *s = hash_find(&c->by_hash, hash);

	while (s && !c->same(owner_cache_at(c, hash_index(s)), key))
		s = hash_next(&c->by_hash, s);
	return s ? hash_index(s) : INDEX_NONE;
}

/* An unused index, or INDEX_NONE. */
static uint32_t owner_cache_take(struct owner_cache *c)
{
	if (c->unused.n) {
		c->unused.n--;
		return c->unused.v[c->unused.n];
	}
	if (c->n == (c->limit ? c->limit : UINT32_MAX - 1) ||
	    !array_room(&c->v, &c->cap, (uint64_t)c->n + 1, c->size))
		return INDEX_NONE;
	return c->n++;
}

uint32_t owner_cache_add(struct owner_cache *c, uint32_t owner, uint32_t more)
{
	uint32_t bytes = owner_cache_cost(c) + more, i;
	struct owner_cache *payer = owner_cache_payer(c);
	struct cache_entry *e;

	if (bytes < more || !owner_cache_pay(payer, owner, bytes))
		return INDEX_NONE;
	i = owner_cache_take(c);
	if (i == INDEX_NONE) {
		owners_add(&payer->bytes, owner, -(int64_t)bytes);
		return INDEX_NONE;
	}
	e = owner_cache_entry(c, i);
	memset(e, 0, c->size);
	e->owner = owner;
	e->bytes = bytes;
	owner_cache_touch(c, i);
	return i;
}

uint32_t owner_cache_add_key(struct owner_cache *c, uint32_t owner, uint64_t hash,
			     uint32_t more)
{
	uint32_t i = owner_cache_add(c, owner, more);
	struct cache_entry *e;

	if (i == INDEX_NONE)
		return INDEX_NONE;
	if (!hash_add(&c->by_hash, hash, i)) {
		owner_cache_drop(c, i);
		return INDEX_NONE;
	}
	e = owner_cache_entry(c, i);
	e->hash = hash;
	e->hashed = true;
	return i;
}

bool owner_cache_resize(struct owner_cache *c, uint32_t i, uint32_t more)
{
	struct cache_entry *e = owner_cache_entry(c, i);
	uint32_t bytes = owner_cache_cost(c) + more;
	bool listed = e->listed, paid = true;

	if (bytes < more)
		return false;
	if (bytes <= e->bytes) {
		owners_add(&owner_cache_payer(c)->bytes, e->owner, (int64_t)bytes - e->bytes);
	} else {
		owner_cache_hold(c, i);
		paid = owner_cache_pay(owner_cache_payer(c), e->owner, bytes - e->bytes);
		if (listed)
			owner_cache_link(c, i);
	}
	if (paid)
		e->bytes = bytes;
	return paid;
}

void owner_cache_give(struct owner_cache *c, uint32_t i, uint32_t owner)
{
	struct cache_entry *e = owner_cache_entry(c, i);
	struct owner_cache *payer = owner_cache_payer(c);
	bool listed = e->listed;

	if (e->owner == owner || !owner_cache_charge(payer, owner, e->bytes))
		return;
	owner_cache_unlink(c, i);
	owners_add(&payer->bytes, e->owner, -(int64_t)e->bytes);
	e->owner = owner;
	if (listed)
		owner_cache_link(c, i);
}

void owner_cache_drop(struct owner_cache *c, uint32_t i)
{
	struct cache_entry *e = owner_cache_entry(c, i);

	if (e->hashed)
		hash_remove_index(&c->by_hash, e->hash, i);
	e->hashed = false;
	owner_cache_unlink(c, i);
	owners_add(&owner_cache_payer(c)->bytes, e->owner, -(int64_t)e->bytes);
	e->bytes = 0;
	if (!c->dropped(c->ctx, i))
		owner_cache_reuse(c, i);
}

void owner_cache_reuse(struct owner_cache *c, uint32_t i)
{
	/* without memory for the list it stays unused */
	(void)vector_push(&c->unused, i);
}
