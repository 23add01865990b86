/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_tables - unwind tables as the sampler looks into them
 *
 * Elements lie as in the kernel's slabs (bpf/table.h): rules in the first two, then
 * tables, each whole in as many slabs as it needs, with positions and rule numbers of
 * this place.
 */
#ifndef SYMBOLIZERD_SNAPSHOT_WALK_TABLES_H
#define SYMBOLIZERD_SNAPSHOT_WALK_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"
#include "common/vector.h"

/* Zero-initialised. */
struct walk_tables {
	VECTOR(union element) rules;	/* two in each */
	VECTOR(union element) elements;	/* of tables: from slab RULE_SLABS on */
	uint32_t n_rules;
};

void walk_tables_fini(struct walk_tables *t);

/* Put a worker's table there: where its directory lies.  0; -ENOMEM; -E2BIG. */
int walk_tables_add(struct walk_tables *t, const void *table, uint32_t *dir,
		    uint32_t *pages);

/* An element by its position, or NULL. */
union element *walk_tables_element(struct walk_tables *t, uint32_t pos);

/* In which file offsets around `off` does the rule of a worker's table hold? */
void walk_tables_range(const void *table, uint64_t off, uint64_t *start,
		       uint64_t *end);

#endif /* SYMBOLIZERD_SNAPSHOT_WALK_TABLES_H */
