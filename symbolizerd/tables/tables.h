/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables - where unwind tables and rules are in loaderd's slabs
 *
 * A worker's table gets global rule numbers and room in the slabs; its elements are
 * written there, and its entry is sent to loaderd.  What a former hub left behind
 * is adopted from copies of the slabs.
 *
 * When a table is released its elements and rules are held for a grace period: a
 * BPF program that found the table just before its key was dropped may still be
 * reading it, for microseconds.  loaderd handles messages in their order, and
 * says with its statistics how many are settled: by its own clock a second has
 * passed since it handled them, and all samples taken before have been sent.
 * Once the drop is settled the grace period is over.  However slow loaderd is,
 * nothing is reused too early.
 */
#ifndef SYMBOLIZERD_TABLES_TABLES_H
#define SYMBOLIZERD_TABLES_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"
#include "common/vector.h"
#include "ipc/message_hub.h"
#include "symbolizerd/tables/out.h"
#include "symbolizerd/tables/owners.h"
#include "symbolizerd/tables/rules.h"
#include "symbolizerd/tables/slabs.h"

#define FILE_RULES_MAX	(RULES_MAX / 4)	/* of one file */
#define FILE_PART	2	/* one file may have this fraction of the budget */

/* One installed table; zeroes: none. */
struct table_ref {
	uint32_t dir;		/* position of its directory */
	uint32_t pages;
	uint32_t rows;
	uint32_t elements;
	struct dir_entry *entries;	/* [pages], as in the slabs */
	uint16_t *rules;	/* global numbers, each counted once */
	uint32_t n_rules;
	uint32_t owner;		/* of the file */
};

struct held {			/* in its grace period */
	struct held *next;
	VECTOR(struct table_span) spans;
	uint16_t *rules;
	uint32_t n_rules;
	uint64_t after;		/* the message after which nothing leads there */
};

struct table_policy {
	struct slabs slabs;
	struct rules rules;
	uint64_t budget;	/* bytes of elements, rules not counted */
	uint64_t rows;
	struct owners owners;	/* elements in tables of each owner */
	uint64_t held_elements;	/* in use, but in no table */
	struct held *first, *last;
	uint64_t sent;		/* messages to loaderd; its hello was the first */
	uint64_t settled;	/* of them, as its last statistics said */
	bool made[SLABS_MAX];	/* loaderd has it */
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
 * Check and install a worker's table of len bytes.  entry has the number, and gets
 * dir, pages and state; ret->owner is the owner.  0 and *ret, and
 * tables_out.install was called unless the table is empty (ret->pages is 0 then);
 * -EPROTO: not a table; -EFBIG: more than one file may have; -ENOSPC: no room
 * now for this owner; -errno.  On failure nothing has changed.
 */
int tables_install(struct table_policy *t, uint64_t id, const struct file_key *key,
		   struct file_entry *entry, const void *data, size_t len,
		   struct table_ref *ret);

/* The key does not lead to this table any more (its MSG_DROP was sent). */
void tables_release(struct table_policy *t, struct table_ref *ref);

/* Charge the table to this owner. */
void tables_own(struct table_policy *t, struct table_ref *ref, uint32_t owner);

/* Move a table to slabs below this one.  0; or -errno, and nothing has changed. */
int tables_move(struct table_policy *t, const struct file_key *key,
		struct file_entry *entry, struct table_ref *ref,
		uint32_t below);

/* Has the table a part in this slab? */
bool tables_in(const struct table_ref *ref, uint32_t slab);

/* loaderd's statistics: n messages are settled.  False if fewer were sent, or more
 * were settled before. */
bool tables_settled(struct table_policy *t, uint64_t n);

/* Have loaderd drop some of the slabs that are empty; the first one stays, since it
 * will be needed again.  Called each second. */
void tables_drop_slabs(struct table_policy *t);

/* --- adopting: all slabs, then all tables, then the end --------------------- */

/* Take over a mapping of sizeof(struct slab_copy); false: not a valid slab number,
 * or known already, and the caller keeps the mapping. */
bool tables_adopt_slab(struct table_policy *t, uint32_t slab, const void *map);

/* The table that the entry of a key leads to.  False: the entry is invalid. */
bool tables_adopt(struct table_policy *t, const struct file_entry *entry,
		  struct table_ref *ret);

/* Elements in no table are free after the grace period; slabs without any table
 * are dropped at once. */
void tables_adopt_end(struct table_policy *t);

/* --- for adopt.c -------------------------------------------------------------- */

/* Add a span to h, joined with the last one where they adjoin.  Without memory
 * the span stays taken for ever, which is safe. */
void tables_hold_span(struct held *h, struct table_span span);

/* After the messages sent so far, nothing leads to the spans of h: their grace
 * period begins.  Takes over h. */
void tables_hold(struct table_policy *t, struct held *h);

/* Have loaderd drop this slab. */
void tables_drop_slab(struct table_policy *t, uint32_t slab);

#endif /* SYMBOLIZERD_TABLES_TABLES_H */
