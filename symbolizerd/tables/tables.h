/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables - where unwind tables and rules lie in loaderd's slabs
 *
 * A worker's table gets global rule numbers and room in the slabs, and goes to
 * loaderd as one MSG_INSTALL.  When a table is released its elements and rules
 * are held until loaderd has said that no BPF program reads them any more.
 * What a former hub left behind is adopted from copies of the slabs.
 */
#ifndef SYMBOLIZERD_TABLES_TABLES_H
#define SYMBOLIZERD_TABLES_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"
#include "ipc/message_hub.h"
#include "symbolizerd/tables/out.h"
#include "symbolizerd/tables/rules.h"
#include "symbolizerd/tables/slabs.h"

#define FILE_RULES_MAX	(RULES_MAX / 4)	/* of one file */
#define FILE_PART	2	/* one file may have this part of the budget */

/* One installed table; zeroes: none. */
struct table_ref {
	uint32_t dir;		/* position of its directory */
	uint32_t pages;
	uint32_t rows;
	uint32_t elements;
	struct dir_entry *entries;	/* [pages], as they are in the slabs */
	uint16_t *rules;	/* global numbers, each counted once */
	uint32_t n_rules;
};

struct held {			/* what one MSG_FREE names */
	struct held *next;
	struct table_span *spans;
	uint32_t n_spans;
	uint16_t *rules;	/* to be given again with it */
	uint32_t n_rules;
	uint64_t id;
};

struct table_policy {
	struct slabs slabs;
	struct rules rules;
	uint64_t budget;	/* bytes of elements, rules not counted */
	uint64_t rows;
	uint64_t held_elements;	/* in use, but of no table */
	struct held *first, *last;
	uint64_t free_id;	/* of the last MSG_FREE */
	uint64_t freed_id;	/* of the last MSG_FREED */
	const struct tables_out *out;
	void *ctx;
	/* while adopting */
	const struct slab_copy *copy[SLABS_MAX];
};

/* 0 or -ENOMEM.  Nothing is sent. */
int tables_init(struct table_policy *t, uint64_t seed, uint64_t budget,
		const struct tables_out *out, void *ctx);
void tables_fini(struct table_policy *t);

/*
 * Judge and install a worker's table of len bytes.  entry says the number; dir,
 * pages and state are filled in.  0 and *ret, and MSG_INSTALL was sent unless
 * the table is empty (ret->pages is 0 then); -EPROTO: not a table; -EFBIG: more
 * than one file may have; -ENOSPC: no room now; -errno.  Nothing has changed on
 * failure.
 */
int tables_install(struct table_policy *t, uint64_t id, const struct file_key *key,
		   struct file_entry *entry, const void *data, size_t len,
		   struct table_ref *ret);

/* The key does not lead to this table any more (its MSG_DROP was sent). */
void tables_release(struct table_policy *t, struct table_ref *ref);

/* Move a table to slabs below this one.  0; or -errno, and nothing happened. */
int tables_move(struct table_policy *t, const struct file_key *key,
		struct file_entry *entry, struct table_ref *ref,
		uint32_t below);

/* Has the table a part in this slab? */
bool tables_in(const struct table_ref *ref, uint32_t slab);

/* MSG_FREED: all up to this id is freed.  False if there was no such MSG_FREE. */
bool tables_freed(struct table_policy *t, uint64_t id);

/* A MSG_FREE of nothing: its answer says that all sent before is done. */
void tables_ask(struct table_policy *t);

/* --- adopting: all slabs, then all tables, then the end --------------------- */

/* Take over a mapping of sizeof(struct slab_copy); false: not such a slab, and
 * the mapping stays the caller's. */
bool tables_adopt_slab(struct table_policy *t, uint32_t slab, const void *map);

/* What the entry of a key leads to.  False: it makes no sense. */
bool tables_adopt(struct table_policy *t, const struct file_entry *entry,
		  struct table_ref *ret);

/* Free what loaderd has in use and no table claims. */
void tables_adopt_end(struct table_policy *t);

/* --- for adopt.c -------------------------------------------------------------- */

/* Add a span to *h (NULL: none yet), joined with the last one where they touch;
 * a full message is sent.  False without memory: the span stays taken for ever,
 * which is safe. */
bool tables_hold_span(struct table_policy *t, struct held **h,
		      struct table_span span);

/* Send MSG_FREE of what h names, and hold it until the answer.  Owned. */
void tables_hold(struct table_policy *t, struct held *h);

#endif /* SYMBOLIZERD_TABLES_TABLES_H */
