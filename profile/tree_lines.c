// SPDX-License-Identifier: Apache-2.0
#include "profile/tree_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

static bool line_sums_more(struct line_sums *s, uint32_t node, uint32_t line,
			   uint64_t n)
{
	const struct tree_line add = { node, line, n };
	uint64_t hash = hash_pair(s->seed, node, line);

	for (struct hash_slot *i = hash_find(&s->set, hash); i;
	     i = hash_next(&s->set, i)) {
		struct tree_line *have = &s->more.v[hash_index(i)];

		if (have->row == node && have->line == line) {
			have->n += n;
			return true;
		}
	}
	return hash_add(&s->set, hash, s->more.n) &&
	       vector_push(&s->more, add);
}

bool line_sums_add(struct line_sums *s, uint32_t node, uint32_t line,
		   uint64_t n)
{
	struct line_first *first;
	uint32_t cap = s->cap;

	if (!s->seed)
		s->seed = hash_seed() | 1;
	if (!array_reserve(&s->first, &s->cap, (uint64_t)node + 1))
		return false;
	if (s->cap > cap)
		memset(s->first + cap, 0, (s->cap - cap) * sizeof(*s->first));
	first = &s->first[node];
	if (!first->n)
		first->line = line;
	if (first->line != line)
		return line_sums_more(s, node, line, n);
	first->n += n;
	return true;
}

static int tree_lines_by_line(const void *pa, const void *pb)
{
	const struct tree_line *a = pa, *b = pb;
	int r = profile_order(a->row, b->row);

	if (!r)
		r = profile_order(a->line, b->line);
	return r;
}

/* Within a row, the line with most samples comes first; of equal ones the lower. */
static int tree_lines_by_most(const void *pa, const void *pb)
{
	const struct tree_line *a = pa, *b = pb;
	int r = profile_order(a->row, b->row);

	if (!r)
		r = profile_order(b->n, a->n);
	if (!r)
		r = profile_order(a->line, b->line);
	return r;
}

/* Swap the line that was met first with the line of `more` that has most samples, if that
 * has more. */
static void line_sums_choose(struct line_sums *s)
{
	struct tree_line *v = s->more.v;

	if (s->more.n)
		qsort(v, s->more.n, sizeof(*v), tree_lines_by_most);
	for (uint32_t i = 0; i < s->more.n; i++) {
		struct line_first *first = &s->first[v[i].row];
		struct tree_line most = v[i];

		if (i && v[i - 1].row == v[i].row)
			continue;
		if (first->n > most.n ||
		    (first->n == most.n && first->line < most.line))
			continue;
		v[i].line = first->line;
		v[i].n = first->n;
		first->line = most.line;
		first->n = most.n;
	}
}

/* The least number of samples with which a line is kept. */
static uint64_t line_sums_least(const struct line_sums *s, uint32_t room)
{
	uint64_t least = 1;
	uint32_t kept;

	do {
		kept = 0;
		for (uint32_t i = 0; i < s->more.n; i++) {
			if (s->more.v[i].n >= least)
				kept++;
		}
		least *= 2;
	} while (kept > room);
	return least / 2;
}

/* Lines with few samples become line 0 of their row; equal lines are merged. */
static void line_sums_bound(struct line_sums *s, const uint32_t *main_line,
			    uint32_t room)
{
	uint64_t least = line_sums_least(s, room);
	struct tree_line *v = s->more.v;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->more.n; i++) {
		if (v[i].n < least)
			v[i].line = 0;
	}
	if (s->more.n)
		qsort(v, s->more.n, sizeof(*v), tree_lines_by_line);
	for (uint32_t i = 0; i < s->more.n; i++) {
		if (n && v[n - 1].row == v[i].row && v[n - 1].line == v[i].line)
			v[n - 1].n += v[i].n;
		else if (v[i].line != main_line[v[i].row])
			v[n++] = v[i];
	}
	s->more.n = n;
}

int line_sums_finish(struct line_sums *s, const uint32_t *row_of,
		     uint32_t nodes, uint32_t rows, struct tree_lines *ret)
{
	ret->line = calloc((size_t)rows + 1, sizeof(*ret->line));
	if (!ret->line)
		return -ENOMEM;
	line_sums_choose(s);
	for (uint32_t i = 0; i < nodes && i < s->cap; i++) {
		if (s->first[i].n)
			ret->line[row_of[i]] = s->first[i].line;
	}
	for (uint32_t i = 0; i < s->more.n; i++)
		s->more.v[i].row = row_of[s->more.v[i].row];
	line_sums_bound(s, ret->line, rows / 2 + TREE_LINES_SPARE);
	ret->more = s->more.v;
	ret->n_more = s->more.n;
	s->more.v = NULL;
	line_sums_free(s);
	return 0;
}

void line_sums_free(struct line_sums *s)
{
	free(s->first);
	free(s->more.v);
	hash_free(&s->set);
	*s = (struct line_sums){ 0 };
}

uint32_t tree_lines_place(const struct tree_lines *l, uint32_t row,
			  uint32_t line)
{
	struct tree_line key = { row, line, 0 };
	const struct tree_line *found;

	if (!l->n_more || l->line[row] == line)
		return 0;
	found = bsearch(&key, l->more, l->n_more, sizeof(key),
			tree_lines_by_line);
	if (!found) {		/* left out */
		key.line = 0;
		found = bsearch(&key, l->more, l->n_more, sizeof(key),
				tree_lines_by_line);
	}
	if (!found)
		return 0;
	return 1 + (uint32_t)(found - l->more);
}

void tree_lines_fini(struct tree_lines *l)
{
	free(l->line);
	free(l->more);
}
