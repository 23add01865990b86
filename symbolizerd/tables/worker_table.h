/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_table - checking the table that a worker made
 *
 * The form is that of bpf/table.h, "on its way".  A worker has read hostile files,
 * so what it sends is foreign, too.  A table that passes can be numbered, counted
 * and placed without further checks; its rows may still be wrong.
 */
#ifndef SYMBOLIZERD_TABLES_WORKER_TABLE_H
#define SYMBOLIZERD_TABLES_WORKER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"

struct worker_table {		/* points into the data that was checked */
	const struct table_hdr *hdr;
	const struct unwind_rule *rules;
	const struct dir_entry *dir;
	const union element *elements;
};

/* Check len bytes, aligned to 8, which must outlive *t.  With hdr->pages = 0 the
 * file has no unwind information, and the other members are not set. */
bool worker_table_open(struct worker_table *t, const void *data, size_t len);

/* All elements of a page: those of its index, then those of its rows. */
static inline uint32_t page_elements(const struct dir_entry *d)
{
	return (d->n + INDEX_FANOUT - 1) / INDEX_FANOUT + d->n;
}

#endif /* SYMBOLIZERD_TABLES_WORKER_TABLE_H */
