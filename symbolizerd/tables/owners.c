// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/tables/owners.h"

#include <stdlib.h>

void owners_fini(struct owners *o)
{
	free(o->list.v);
	hash_free(&o->by_owner);
	*o = (struct owners){ .seed = o->seed };
}

uint32_t owners_index(const struct owners *o, uint32_t owner)
{
	const struct hash_slot *s;

	s = hash_find(&o->by_owner, hash_pair(o->seed, owner, 0));
	while (s && o->list.v[hash_index(s)].owner != owner)
		s = hash_next(&o->by_owner, s);
	return s ? hash_index(s) : INDEX_NONE;
}

static struct owner_share *owners_find(const struct owners *o, uint32_t owner)
{
	uint32_t i = owners_index(o, owner);

	return i == INDEX_NONE ? NULL : &o->list.v[i];
}

void owners_add(struct owners *o, uint32_t owner, int64_t n)
{
	struct owner_share *share = owners_find(o, owner);

	if (!share) {
		if (n <= 0 || !vector_reserve(&o->list, 1) ||
		    !hash_add(&o->by_owner, hash_pair(o->seed, owner, 0),
			      o->list.n))
			return;
		share = &o->list.v[o->list.n++];
		*share = (struct owner_share){ .owner = owner };
	}
	if (n < 0 && share->amount < (uint64_t)-n)
		n = -(int64_t)share->amount;
	share->amount += (uint64_t)n;
	o->total += (uint64_t)n;
	if (share == &o->list.v[o->most] && n < 0)
		o->stale = true;
	else if (share->amount > o->list.v[o->most].amount)
		o->most = (uint32_t)(share - o->list.v);
}

uint64_t owners_have(const struct owners *o, uint32_t owner)
{
	const struct owner_share *share = owners_find(o, owner);

	return share ? share->amount : 0;
}

bool owners_most(struct owners *o, uint32_t *ret)
{
	for (uint32_t i = 0; o->stale && i < o->list.n; i++) {
		if (o->list.v[i].amount > o->list.v[o->most].amount)
			o->most = i;
	}
	o->stale = false;
	if (!o->total)
		return false;
	*ret = o->list.v[o->most].owner;
	return true;
}

uint64_t owners_limit(struct owners *o, uint32_t owner, uint64_t all)
{
	uint32_t most;

	if (!owners_most(o, &most) || most != owner ||
	    owners_have(o, owner) == o->total)
		return all;
	return all - all / OWNER_SPARE;
}
