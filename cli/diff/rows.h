/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_rows - what each function has in both recordings
 *
 * Shares are in percent of all samples of their own recording, so recordings
 * of different length compare.
 */
#ifndef CLI_DIFF_ROWS_H
#define CLI_DIFF_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/convert/folded_read.h"

struct diff_row {
	uint32_t name;			/* in the tree */
	uint64_t self[FOLDED_SIDES];	/* samples that end in it */
	uint64_t total[FOLDED_SIDES];	/* samples with it anywhere, once each */
};

/*
 * One row for each name of a tree that folded_sort() ordered and whose sides
 * both have samples.  Largest difference between the shares of self first (of
 * total, if asked for; then the other), then by name.  malloc'ed, *n of them;
 * or NULL: no memory.
 */
struct diff_row *diff_rows(const struct folded_tree *t, bool by_total,
			   uint32_t *n);

/* v[side] of that side's samples, in percent; and how much it grew. */
double diff_share(const struct folded_tree *t, const uint64_t *v,
		  unsigned int side);
double diff_points(const struct folded_tree *t, const uint64_t *v);

#endif /* CLI_DIFF_ROWS_H */
