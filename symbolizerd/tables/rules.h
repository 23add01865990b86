/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules - one number for each distinct unwind rule, shared by all tables
 *
 * Numbers are places in slabs 0 and 1.  A rule counts the tables that use it.
 * Without any it is no longer found; its number is reused when the caller says
 * that no BPF program can be using it any more.  Rules come from foreign files,
 * so the hash has a seed.
 */
#ifndef SYMBOLIZERD_TABLES_RULES_H
#define SYMBOLIZERD_TABLES_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/table.h"
#include "common/hash_table.h"
#include "symbolizerd/tables/owners.h"

struct rules {
	struct unwind_rule *v;	/* [RULES_MAX]: what slabs 0 and 1 hold */
	uint32_t *refs;		/* [RULES_MAX] */
	uint32_t *owner;	/* [RULES_MAX]: of the first file that used it */
	struct owners owners;	/* rules of each owner */
	struct hash_table by_rule;	/* numbers; not 0 and 1 */
	uint16_t *free;		/* [RULES_MAX]: below top, to be reused */
	uint32_t n_free;
	uint32_t top;		/* all numbers ever given are below */
	uint32_t n;		/* in use, with RULE_NONE and RULE_END */
	uint64_t seed;
};

/* 0 or -ENOMEM. */
int rules_init(struct rules *r, uint64_t seed);
void rules_fini(struct rules *r);

/* The number of *rule for a file of this owner; counts one more table.  *is_new: it
 * was not in use before.  -ENOSPC if there are RULES_MAX, or as many as this owner
 * may use (owners_limit()); -ENOMEM. */
int rules_get(struct rules *r, const struct unwind_rule *rule, uint32_t owner,
	      bool *is_new);

/* Count one table less.  True if that was the last one: the caller passes the number
 * to rules_reuse() later. */
bool rules_put(struct rules *r, uint32_t n);
void rules_reuse(struct rules *r, uint32_t n);

/* A former hub gave number n to *rule, and one more table uses it.  Only before
 * the first rules_get(); rules_adopt_end() ends this. */
void rules_adopt(struct rules *r, uint32_t n, const struct unwind_rule *rule);
void rules_adopt_end(struct rules *r);

/* A file of this owner uses rule n: charge the rule, if its owner was unknown. */
void rules_own(struct rules *r, uint32_t n, uint32_t owner);

#endif /* SYMBOLIZERD_TABLES_RULES_H */
