// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/tables/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

int rules_init(struct rules *r, uint64_t seed)
{
	*r = (struct rules){
		.v = calloc(RULES_MAX, sizeof(*r->v)),
		.refs = calloc(RULES_MAX, sizeof(*r->refs)),
		.owner = calloc(RULES_MAX, sizeof(*r->owner)),
		.free = calloc(RULES_MAX, sizeof(*r->free)),
		.top = 2, .n = 2, .seed = seed, .owners.seed = seed,
	};
	if (!r->v || !r->refs || !r->owner || !r->free) {
		rules_fini(r);
		return -ENOMEM;
	}
	r->v[RULE_END].cfa = CFA_END;
	r->refs[RULE_NONE] = r->refs[RULE_END] = 1;
	return 0;
}

void rules_fini(struct rules *r)
{
	free(r->v);
	free(r->refs);
	free(r->owner);
	owners_fini(&r->owners);
	hash_free(&r->by_rule);
	free(r->free);
	*r = (struct rules){ 0 };
}

static uint64_t rules_hash(const struct rules *r, const struct unwind_rule *u)
{
	return XXH3_64bits_withSeed(u, sizeof(*u), r->seed);
}

static struct hash_slot *rules_find(const struct rules *r,
				    const struct unwind_rule *u, uint64_t hash)
{
	struct hash_slot *s = hash_find(&r->by_rule, hash);

	while (s && memcmp(&r->v[hash_index(s)], u, sizeof(*u)))
		s = hash_next(&r->by_rule, s);
	return s;
}

int rules_get(struct rules *r, const struct unwind_rule *rule, uint32_t owner,
	      bool *is_new)
{
	uint64_t hash = rules_hash(r, rule);
	const struct hash_slot *s = rules_find(r, rule, hash);
	uint32_t n;

	*is_new = !s;
	if (s) {
		n = hash_index(s);
		r->refs[n]++;
		return (int)n;
	}
	if ((!r->n_free && r->top == RULES_MAX) ||
	    r->n >= owners_limit(&r->owners, owner, RULES_MAX))
		return -ENOSPC;
	n = r->top;
	if (r->n_free)
		n = r->free[r->n_free - 1];
	if (!hash_add(&r->by_rule, hash, n))
		return -ENOMEM;
	if (r->n_free)
		r->n_free--;
	else
		r->top++;
	r->v[n] = *rule;
	r->refs[n] = 1;
	r->owner[n] = owner;
	owners_add(&r->owners, owner, 1);
	r->n++;
	return (int)n;
}

bool rules_put(struct rules *r, uint32_t n)
{
	struct hash_slot *s;

	if (n < 2)
		return false;
	r->refs[n]--;
	if (r->refs[n])
		return false;
	s = rules_find(r, &r->v[n], rules_hash(r, &r->v[n]));
	/* if one rule was adopted with two numbers, only one of them is hashed */
	if (s && hash_index(s) == n)
		hash_remove(&r->by_rule, s);
	owners_add(&r->owners, r->owner[n], -1);
	r->n--;
	return true;
}

void rules_reuse(struct rules *r, uint32_t n)
{
	r->free[r->n_free++] = (uint16_t)n;
}

void rules_adopt(struct rules *r, uint32_t n, const struct unwind_rule *rule)
{
	uint64_t hash = rules_hash(r, rule);

	if (n < 2)
		return;
	r->refs[n]++;
	if (r->refs[n] > 1)
		return;
	r->v[n] = *rule;
	r->owner[n] = OWNER_UNKNOWN;
	owners_add(&r->owners, OWNER_UNKNOWN, 1);
	r->n++;
	/* without memory the rule gets another number the next time */
	if (!rules_find(r, rule, hash))
		(void)!hash_add(&r->by_rule, hash, n);
	if (r->top <= n)
		r->top = n + 1;
}

void rules_adopt_end(struct rules *r)
{
	for (uint32_t n = r->top; n-- > 2; ) {
		if (!r->refs[n])
			rules_reuse(r, n);
	}
}

void rules_own(struct rules *r, uint32_t n, uint32_t owner)
{
	if (n < 2 || r->owner[n] != OWNER_UNKNOWN)
		return;
	owners_add(&r->owners, OWNER_UNKNOWN, -1);
	owners_add(&r->owners, owner, 1);
	r->owner[n] = owner;
}
