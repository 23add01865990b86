// SPDX-License-Identifier: Apache-2.0
/*
 * Adopting what a former hub left.  The copies of the slabs are foreign: a
 * compromised hub may have written anything there.  Every position is checked, and
 * no element belongs to two tables.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "symbolizerd/tables/tables.h"
#include "symbolizerd/tables/worker_table.h"

#define RULE_WORDS	(RULES_MAX / 64)

bool tables_adopt_slab(struct table_policy *t, uint32_t slab, const void *map)
{
	if (slab >= SLABS_MAX || t->copy[slab])
		return false;
	t->copy[slab] = map;
	return true;
}

/* The elements of a span; NULL if it is not within a slab that was sent and may
 * stay. */
static const union element *adopt_at(const struct table_policy *t,
				     const struct table_span *span)
{
	uint32_t slab = span->pos >> SLAB_SHIFT;
	uint32_t first = span->pos & (SLAB_ELEMENTS - 1);

	if (!slabs_within(span) || slab >= t->slabs.limit || !t->copy[slab])
		return NULL;
	return &t->copy[slab]->element[first];
}

static const struct unwind_rule *adopt_rule(const struct table_policy *t, uint32_t n)
{
	const struct slab_copy *c = t->copy[n >> (SLAB_SHIFT + 1)];

	if (!c)
		return NULL;
	return &c->element[n / 2 % SLAB_ELEMENTS].rule[n % 2];
}

static void adopt_note(uint64_t *used, uint32_t rule)
{
	used[rule / 64] |= 1ULL << (rule % 64);
}

/* Mark the rules that the rows of a page use.  False: the page is not in a slab. */
static bool adopt_page(const struct table_policy *t, const struct dir_entry *d,
		       uint64_t *used)
{
	struct table_span span = { d->first, page_elements(d) };
	const union element *e = adopt_at(t, &span);

	if (!e || d->n > PAGE_ELEMENTS_MAX)
		return false;
	e += span.n - d->n;
	for (uint32_t i = 0; i < d->n * (uint32_t)ELEMENT_ROWS; i++)
		adopt_note(used, e[i / ELEMENT_ROWS].row[i % ELEMENT_ROWS].rule);
	return true;
}

/* Read the directory, and mark the rules that the table uses. */
static bool adopt_read(const struct table_policy *t, struct table_ref *ref,
		       uint64_t *used)
{
	struct table_span dir = { ref->dir, (ref->pages + 7) / 8 };
	const union element *e = adopt_at(t, &dir);

	if (!e)
		return false;
	ref->entries = calloc(ref->pages, sizeof(*ref->entries));
	if (!ref->entries)
		return false;
	memcpy(ref->entries, e, ref->pages * sizeof(*ref->entries));
	for (uint32_t i = 0; i < ref->pages; i++) {
		adopt_note(used, ref->entries[i].rule_before);
		if (ref->entries[i].n && !adopt_page(t, &ref->entries[i], used))
			return false;
	}
	return true;
}

/* List the rules; they are not counted yet.  False: one of them is not in a slab. */
static bool adopt_list(const struct table_policy *t, struct table_ref *ref,
		       const uint64_t *used)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < RULE_WORDS; i++)
		n += (uint32_t)__builtin_popcountll(used[i]);
	ref->rules = calloc(n, sizeof(*ref->rules));
	if (!ref->rules)
		return false;
	for (uint32_t i = 0; i < RULES_MAX; i++) {
		if (!(used[i / 64] >> (i % 64) & 1))
			continue;
		if (i >= 2 && !adopt_rule(t, i))
			return false;
		ref->rules[ref->n_rules++] = (uint16_t)i;
	}
	return true;
}

/* Take all elements of the table, or none. */
static bool adopt_take(struct table_policy *t, struct table_ref *ref)
{
	struct table_span span = { ref->dir, (ref->pages + 7) / 8 };
	uint32_t i;

	if (!slabs_take(&t->slabs, &span))
		return false;
	ref->elements = span.n;
	for (i = 0; i < ref->pages; i++) {
		const struct dir_entry *d = &ref->entries[i];

		span = (struct table_span){ d->first, page_elements(d) };
		if (d->n && !slabs_take(&t->slabs, &span))
			break;
		if (d->n)
			ref->elements += span.n;
		ref->rows += d->n * (uint32_t)ELEMENT_ROWS;
	}
	if (i == ref->pages)
		return true;
	while (i-- > 0) {
		const struct dir_entry *d = &ref->entries[i];

		span = (struct table_span){ d->first, page_elements(d) };
		if (d->n)
			slabs_free(&t->slabs, &span);
	}
	span = (struct table_span){ ref->dir, (ref->pages + 7) / 8 };
	slabs_free(&t->slabs, &span);
	return false;
}

bool tables_adopt(struct table_policy *t, const struct file_entry *entry,
		  struct table_ref *ret)
{
	struct table_ref ref = { .dir = entry->dir, .pages = entry->pages,
				 .owner = OWNER_UNKNOWN };
	uint64_t used[RULE_WORDS] = { 0 };

	if (!entry->pages || entry->pages > 8 * SLAB_ELEMENTS ||
	    !adopt_read(t, &ref, used) || !adopt_list(t, &ref, used) ||
	    !adopt_take(t, &ref)) {
		free(ref.entries);
		free(ref.rules);
		return false;
	}
	for (uint32_t i = 0; i < ref.n_rules; i++) {
		if (ref.rules[i] >= 2)
			rules_adopt(&t->rules, ref.rules[i],
				    adopt_rule(t, ref.rules[i]));
	}
	t->rows += ref.rows;
	owners_add(&t->owners, ref.owner, ref.elements);
	*ret = ref;
	return true;
}

/* Hold the elements of a slab that no table claims. */
static void adopt_leftover(struct table_policy *t, uint32_t slab, struct held *h)
{
	struct table_span span = { 0 };

	for (uint32_t i = 0; i <= SLAB_ELEMENTS; i++) {
		const struct slab_use *u = t->slabs.v[slab];

		if (i < SLAB_ELEMENTS &&
		    !(u && u->bits[i / 64] >> (i % 64) & 1)) {
			span.pos = slab << SLAB_SHIFT | (i - span.n);
			span.n++;
			continue;
		}
		if (span.n && slabs_take(&t->slabs, &span))
			tables_hold_span(h, span);
		span.n = 0;
	}
}

/* loaderd can have no more slabs than the limit, so those without any table are
 * dropped first. */
void tables_adopt_end(struct table_policy *t)
{
	struct held *h = calloc(1, sizeof(*h));

	for (uint32_t i = 0; i < SLABS_MAX; i++) {
		if (!t->copy[i])
			continue;
		munmap((void *)t->copy[i], sizeof(*t->copy[i]));
		t->copy[i] = NULL;
		t->made[i] = true;
		if (i > RULE_SLABS && !t->slabs.v[i])
			tables_drop_slab(t, i);
		else if (h && i >= RULE_SLABS)
			adopt_leftover(t, i, h);
	}
	if (h && h->spans.n)
		tables_hold(t, h);
	else
		free(h);
	rules_adopt_end(&t->rules);
}
