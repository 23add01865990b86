/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_table - rows as a plain list, and the table that a worker would make
 */
#ifndef TESTS_FLAT_TABLE_H
#define TESTS_FLAT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/table.h"

#define FLAT_ROWS	20000

struct flat {
	uint64_t off[FLAT_ROWS];
	uint16_t rule[FLAT_ROWS];	/* local */
	uint32_t n, n_rules;
};

static uint64_t flat_seed = 0x2545f4914f6cdd1dULL;

static inline uint32_t rnd(uint32_t below)
{
	flat_seed ^= flat_seed << 13;
	flat_seed ^= flat_seed >> 7;
	flat_seed ^= flat_seed << 17;
	return (flat_seed >> 20) % below;
}

static inline struct unwind_rule flat_rule(uint32_t salt, uint32_t i)
{
	return (struct unwind_rule){ .cfa = CFA_SP, .ra_off = -8,
				     .cfa_off = 8 * (i + 1), .aux = salt };
}

/* dense: rows a few bytes apart; else functions far from each other */
static inline void make_flat(struct flat *f, uint32_t rows, uint32_t rules, bool dense)
{
	uint64_t off = rnd(200000);

	f->n = rows;
	f->n_rules = rules;
	for (uint32_t i = 0; i < rows; i++) {
		f->off[i] = off;
		f->rule[i] = rnd(rules);
		off += 1 + (dense ? rnd(4) : rnd(40000));
	}
}

/* The form of bpf/table.h, made the plainest way. */
static inline void *make_table(const struct flat *f, uint32_t salt, size_t *len)
{
	uint32_t pages = (f->off[f->n - 1] >> 16) + 1, row = 0, els = 0;
	size_t rules = f->n_rules * sizeof(struct unwind_rule);
	size_t dir = (pages * 8 + 63) / 64 * 64;
	struct table_hdr *h = calloc(1, 32 + rules + dir +
					(f->n / 8 + 4 * pages) * 64 + 64);
	struct unwind_rule *r = (void *)(h + 1);
	struct dir_entry *d = (void *)((char *)r + rules);
	union element *e = (void *)((char *)d + dir);
	uint16_t before = RULE_NONE;

	for (uint32_t i = 0; i < f->n_rules; i++)
		r[i] = flat_rule(salt, i);
	memset(&r[0], 0, sizeof(*r));
	memset(&r[1], 0, sizeof(*r));
	r[1].cfa = CFA_END;
	for (uint32_t p = 0; p < pages; p++) {
		uint32_t first = row, n, n_index;

		while (row < f->n && f->off[row] >> 16 == p)
			row++;
		n = (row - first + 15) / 16;
		n_index = (n + 31) / 32;
		d[p] = (struct dir_entry){ n ? els : 0, n, before };
		memset(&e[els], 0xff, n_index * 64);
		for (uint32_t k = 0; k < n * 16; k++) {
			uint32_t at = first + k < row ? first + k : row - 1;
			union element *to = &e[els + n_index + k / 16];

			to->row[k % 16].rule = f->rule[at];
			to->row[k % 16].low = first + k < row ? f->off[at] :
							       PAD_LOW;
			if (k % 16 == 0)
				e[els + k / 512].index[k / 16 % 32] = f->off[at];
		}
		els += n_index + n;
		if (row > first)
			before = f->rule[row - 1];
	}
	*h = (struct table_hdr){ TABLE_MAGIC, f->n_rules, pages, els, f->n,
				 { 0 } };
	*len = 32 + rules + dir + els * 64;
	return h;
}

/* The local rule that holds at a place: bisect_right - 1. */
static inline uint16_t flat_find(const struct flat *f, uint64_t off)
{
	uint32_t lo = 0, hi = f->n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (f->off[mid] <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? f->rule[lo - 1] : RULE_NONE;
}

#endif /* TESTS_FLAT_TABLE_H */
