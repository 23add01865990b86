// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/tables/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define HASH_SIZE	(2 * RULES_MAX)

int rules_init(struct rules *r, uint64_t seed)
{
	*r = (struct rules){
		.v = calloc(RULES_MAX, sizeof(*r->v)),
		.refs = calloc(RULES_MAX, sizeof(*r->refs)),
		.hash = calloc(HASH_SIZE, sizeof(*r->hash)),
		.free = calloc(RULES_MAX, sizeof(*r->free)),
		.top = 2, .n = 2, .seed = seed,
	};
	if (!r->v || !r->refs || !r->hash || !r->free) {
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
	free(r->hash);
	free(r->free);
	*r = (struct rules){ 0 };
}

static uint32_t rules_home(const struct rules *r, const struct unwind_rule *u)
{
	return XXH3_64bits_withSeed(u, sizeof(*u), r->seed) % HASH_SIZE;
}

/* The place in the hash of this rule, or the empty one where it belongs. */
static uint32_t rules_slot(const struct rules *r, const struct unwind_rule *u)
{
	for (uint32_t i = rules_home(r, u); ; i = (i + 1) % HASH_SIZE) {
		uint16_t n = r->hash[i];

		/* 0 is an empty place: rules 0 and 1 are never hashed */
		if (!n || !memcmp(&r->v[n], u, sizeof(*u)))
			return i;
	}
}

int rules_get(struct rules *r, const struct unwind_rule *rule, bool *is_new)
{
	uint32_t slot = rules_slot(r, rule), n = r->hash[slot];

	*is_new = !n;
	if (n) {
		r->refs[n]++;
		return (int)n;
	}
	if (r->n_free)
		n = r->free[--r->n_free];
	else if (r->top < RULES_MAX)
		n = r->top++;
	else
		return -ENOSPC;
	r->v[n] = *rule;
	r->hash[slot] = (uint16_t)n;
	r->refs[n] = 1;
	r->n++;
	return (int)n;
}

/* Empty a place.  What stands behind it moves up, so that a search does not end
 * at the hole too early. */
static void rules_unhash(struct rules *r, uint32_t hole)
{
	for (uint32_t i = (hole + 1) % HASH_SIZE; r->hash[i];
	     i = (i + 1) % HASH_SIZE) {
		uint32_t home = rules_home(r, &r->v[r->hash[i]]);

		if ((i - home) % HASH_SIZE < (i - hole) % HASH_SIZE)
			continue;
		r->hash[hole] = r->hash[i];
		hole = i;
	}
	r->hash[hole] = 0;
}

bool rules_put(struct rules *r, uint32_t n)
{
	uint32_t slot;

	if (n < 2 || --r->refs[n])
		return false;
	slot = rules_slot(r, &r->v[n]);
	/* of two adopted numbers for one rule only one is hashed */
	if (r->hash[slot] == n)
		rules_unhash(r, slot);
	r->n--;
	return true;
}

void rules_reuse(struct rules *r, uint32_t n)
{
	r->free[r->n_free++] = (uint16_t)n;
}

void rules_adopt(struct rules *r, uint32_t n, const struct unwind_rule *rule)
{
	uint32_t slot;

	if (n < 2 || r->refs[n]++)
		return;
	r->v[n] = *rule;
	r->n++;
	slot = rules_slot(r, rule);
	if (!r->hash[slot])
		r->hash[slot] = (uint16_t)n;
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
