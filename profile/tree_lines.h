/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_lines - the samples of a tree's rows (tree.h) by line
 *
 * Most rows have one line, which costs one number; `more` has the others.  `more` is
 * bounded: a program may have a million lines, or call itself from a thousand places.
 */
#ifndef PROFILE_TREE_LINES_H
#define PROFILE_TREE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash_table.h"
#include "common/vector.h"

#define TREE_LINES_SPARE	1024	/* allowed in addition, for small trees */

struct tree_line {
	uint32_t row, line;
	uint64_t n;			/* samples */
};

struct tree_lines {
	uint32_t *line;			/* of each row, the line with most samples; 0:
					 * unknown */
	struct tree_line *more;		/* the others, by row, then line; line 0:
					 * unknown and left out ones */
	uint32_t n_more;
};

struct line_first {
	uint32_t line;
	uint64_t n;
};

/* Sums in the making; .row is a node. */
struct line_sums {
	struct line_first *first;	/* of each node, the line that was met first */
	VECTOR(struct tree_line) more;
	struct hash_table set;		/* of these */
	uint64_t seed;
	uint32_t cap;
};

/* Add n samples (n > 0) of a line of a node.  False: no memory. */
bool line_sums_add(struct line_sums *s, uint32_t node, uint32_t line,
		   uint64_t n);

/*
 * Finish the sums; node i of `nodes` is row row_of[i] of `rows`.  `more` keeps at most
 * rows / 2 + TREE_LINES_SPARE lines, those with most samples; the other lines of a row
 * become one entry, line 0.  0, and s is empty; or -ENOMEM.
 */
int line_sums_finish(struct line_sums *s, const uint32_t *row_of,
		     uint32_t nodes, uint32_t rows, struct tree_lines *ret);
void line_sums_free(struct line_sums *s);

/* The place of a line of a row: 0: the line with most samples; else 1 + its index in
 * `more`. */
uint32_t tree_lines_place(const struct tree_lines *l, uint32_t row,
			  uint32_t line);

void tree_lines_fini(struct tree_lines *l);

#endif /* PROFILE_TREE_LINES_H */
