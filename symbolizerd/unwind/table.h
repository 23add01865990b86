/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table - the rows of one file as an unwind table (bpf/table.h)
 */
#ifndef SYMBOLIZERD_UNWIND_TABLE_H
#define SYMBOLIZERD_UNWIND_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"
#include "common/hash_table.h"
#include "common/vector.h"

#define TABLE_ROWS_MAX	(32u << 20)	/* of one file, before they are merged */
#define TABLE_GAP	15		/* bytes of padding between functions */

struct table_builder {
	VECTOR(uint64_t) rows;	/* file offset << 17 | has rule << 16 | rule */
	uint32_t settled;	/* of earlier sources, sorted */
	uint64_t work;		/* settled rows that this source has visited */
	uint64_t ranges;	/* added by this source */
	VECTOR(struct unwind_rule) rules;	/* by local number */
	struct hash_table by_rule;
	uint64_t seed;		/* of the hash: rules are chosen by foreign files */
};

/* 0 or -ENOMEM. */
int table_builder_init(struct table_builder *b);
void table_builder_fini(struct table_builder *b);

/* At file offsets [start, end) this rule holds.  Ranges come in any order.  In a
 * sound file they do not overlap; where they do, the one that begins later
 * counts, and no rule holds after the first end.  0, -ENOMEM, -E2BIG. */
int table_builder_add(struct table_builder *b, uint64_t start, uint64_t end,
		      const struct unwind_rule *rule);

/*
 * Begin the next source: its ranges count only where no earlier source has a row.
 * A range costs a visit to each settled row that it spans; in a sound file, whose
 * ranges do not overlap, that is one visit to each row.  Above TABLE_WORK times as
 * much, the rest of a source is ignored.  0 or -ENOMEM.
 */
#define TABLE_WORK	4
int table_builder_next_source(struct table_builder *b);

/* Set these bits of by_fp in the rules of all rows that begin at file offsets
 * [start, end).  0, -ENOMEM, -E2BIG. */
int table_builder_mark(struct table_builder *b, uint64_t start, uint64_t end,
		       uint8_t by_fp);

/* Lay out the table: 0 and malloc'ed bytes, or -ENOMEM, -E2BIG.  The builder can
 * only be freed then.  Without rows the table has no pages. */
int table_builder_finish(struct table_builder *b, void **ret, size_t *len);

/* The rule of a finished table for a file offset, by a plain search: for tests and
 * show.h.  NULL beyond its pages. */
const struct unwind_rule *table_lookup(const void *table, uint64_t off);

#endif /* SYMBOLIZERD_UNWIND_TABLE_H */
