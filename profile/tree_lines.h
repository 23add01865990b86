/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_lines - of rows of a tree (tree.h) their samples by line
 *
 * Most rows have one line, which costs them one number; `more` has the others.
 * What is in `more` is bounded: a program may have a million lines, or call
 * itself from a thousand places.
 */
#ifndef PROFILE_TREE_LINES_H
#define PROFILE_TREE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash_table.h"
#include "common/vector.h"

#define TREE_LINES_SPARE	1024	/* of few rows */

struct tree_line {
	uint32_t row, line;
	uint64_t n;			/* samples */
};

struct tree_lines {
	uint32_t *line;			/* of each row that with most samples; 0
					 * unknown */
	struct tree_line *more;		/* the others, by row, then line; 0:
					 * unknown ones and those left out */
	uint32_t n_more;
};

struct line_first {
	uint32_t line;
	uint64_t n;
};

/* What is being summed; .row is a node. */
struct line_sums {
	struct line_first *first;	/* of each node the line seen first */
	VECTOR(struct tree_line) more;
	struct hash_table set;		/* of these */
	uint64_t seed;
	uint32_t cap;
};

/* n samples, not 0, of a line of a node.  False: no memory. */
bool line_sums_add(struct line_sums *s, uint32_t node, uint32_t line,
		   uint64_t n);

/*
 * The sums, where node i of `nodes` is row row_of[i] of `rows`.  Of `more` at
 * most half as many as rows are kept, and TREE_LINES_SPARE: those with most
 * samples.  The rest of a row is one entry, line 0.  0, and s is empty; or
 * -ENOMEM.
 */
int line_sums_finish(struct line_sums *s, const uint32_t *row_of,
		     uint32_t nodes, uint32_t rows, struct tree_lines *ret);
void line_sums_free(struct line_sums *s);

/* The place of a line of a row: 0 it has most samples, else 1 + its index in
 * `more`. */
uint32_t tree_lines_place(const struct tree_lines *l, uint32_t row,
			  uint32_t line);

void tree_lines_fini(struct tree_lines *l);

#endif /* PROFILE_TREE_LINES_H */
