// SPDX-License-Identifier: Apache-2.0
#include "cli/diff/rows.h"

#include <stdlib.h>

double diff_share(const struct folded_tree *t, const uint64_t *v,
		  unsigned int side)
{
	return 100.0 * (double)v[side] / (double)t->samples[side];
}

double diff_points(const struct folded_tree *t, const uint64_t *v)
{
	return diff_share(t, v, 1) - diff_share(t, v, 0);
}

/* With these samples below it and in itself: of every node. */
static uint64_t (*sums(const struct folded_tree *t))[FOLDED_SIDES]
{
	uint64_t (*sum)[FOLDED_SIDES];
	uint32_t n = t->nodes_set.n;

	sum = calloc(n + 1, sizeof(*sum));
	if (!sum)
		return NULL;
	for (uint32_t i = n; i > 0; i--) {
		const struct folded_node *node = &t->nodes[i];

		for (unsigned int s = 0; s < FOLDED_SIDES; s++) {
			sum[i][s] += node->self[s];
			sum[node->parent][s] += sum[i][s];
		}
	}
	return sum;
}

/* open[name]: how many frames of this name are between here and the root. */
static void rows_add_up(const struct folded_tree *t,
			uint64_t (*sum)[FOLDED_SIDES],
			uint32_t *open, struct diff_row *rows)
{
	uint32_t path[FOLDED_DEPTH_MAX + 1], depth = 0, before = 0, i = 0;

	while ((i = folded_next(t, i, &depth))) {
		const struct folded_node *node = &t->nodes[i];
		struct diff_row *row = &rows[node->name];

		for (; before >= depth; before--)
			open[path[before]]--;
		path[depth] = node->name;
		before = depth;
		for (unsigned int s = 0; s < FOLDED_SIDES; s++) {
			row->self[s] += node->self[s];
			if (!open[node->name])
				row->total[s] += sum[i][s];
		}
		open[node->name]++;
	}
}

struct diff_order {
	const struct folded_tree *t;
	bool by_total;
};

static int rows_compare(double a, double b)
{
	if (a < 0)
		a = -a;
	if (b < 0)
		b = -b;
	if (a > b)
		return -1;
	return a < b;
}

static int diff_rows_compare(const void *pa, const void *pb, void *arg)
{
	const struct diff_row *a = pa, *b = pb;
	const struct diff_order *o = arg;
	int self = rows_compare(diff_points(o->t, a->self),
				diff_points(o->t, b->self));
	int total = rows_compare(diff_points(o->t, a->total),
				 diff_points(o->t, b->total));

	if (o->by_total && total)
		return total;
	if (self)
		return self;
	if (total)
		return total;
	return folded_compare_names(o->t, a->name, b->name);
}

struct diff_row *diff_rows(const struct folded_tree *t, bool by_total,
			   uint32_t *n)
{
	struct diff_order order = { t, by_total };
	uint64_t (*sum)[FOLDED_SIDES] = sums(t);
	uint32_t *open = calloc(t->names_set.n + 1, sizeof(*open));
	struct diff_row *rows = calloc(t->names_set.n + 1, sizeof(*rows));

	if (!sum || !open || !rows) {
		free(rows);
		rows = NULL;
		goto out;
	}
	*n = t->names_set.n;
	for (uint32_t i = 0; i < *n; i++)
		rows[i].name = i;
	rows_add_up(t, sum, open, rows);
	qsort_r(rows, *n, sizeof(*rows), diff_rows_compare, &order);
out:
	free(sum);
	free(open);
	return rows;
}
