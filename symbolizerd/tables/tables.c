// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/tables/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ipc/sealed.h"
#include "symbolizerd/tables/worker_table.h"

#define ELEMENT		sizeof(union element)
#define SLABS_DROPPED	4	/* a second: loaderd waits for the kernel */

int tables_init(struct table_policy *t, uint64_t seed, uint64_t budget,
		const struct tables_out *out, void *ctx)
{
	uint64_t limit = RULE_SLABS + 1 + (budget >> 20) * 5 / 4;

	*t = (struct table_policy){
		.budget = budget, .sent = 1, .out = out, .ctx = ctx,
		.owners.seed = seed,
	};
	t->slabs.limit = limit < SLABS_MAX ? (uint32_t)limit : SLABS_MAX;
	return rules_init(&t->rules, seed);
}

static void held_free(struct held *h)
{
	free(h->spans.v);
	free(h->rules);
	free(h);
}

void tables_fini(struct table_policy *t)
{
	while (t->first) {
		struct held *h = t->first;

		t->first = h->next;
		held_free(h);
	}
	for (uint32_t i = 0; i < SLABS_MAX; i++) {
		if (t->copy[i])
			munmap((void *)t->copy[i], sizeof(*t->copy[i]));
	}
	owners_fini(&t->owners);
	slabs_fini(&t->slabs);
	rules_fini(&t->rules);
	*t = (struct table_policy){ 0 };
}

static void table_ref_clear(struct table_ref *ref)
{
	free(ref->entries);
	free(ref->rules);
	*ref = (struct table_ref){ .owner = ref->owner };
}

static struct table_span table_ref_dir(const struct table_ref *ref)
{
	return (struct table_span){ ref->dir, (ref->pages + 7) / 8 };
}

static struct table_span table_ref_page(const struct table_ref *ref, uint32_t page)
{
	const struct dir_entry *d = &ref->entries[page];

	return (struct table_span){ d->first, d->n ? page_elements(d) : 0 };
}

/* --- giving back ---------------------------------------------------------- */

void tables_hold(struct table_policy *t, struct held *h)
{
	h->after = t->sent;
	for (uint32_t i = 0; i < h->spans.n; i++)
		t->held_elements += h->spans.v[i].n;
	if (t->first)
		t->last->next = h;
	else
		t->first = h;
	t->last = h;
}

/* Does `next` follow n elements at pos, in the same slab? */
static bool tables_adjoin(uint32_t pos, uint32_t n, uint32_t next)
{
	return pos + n == next && pos >> SLAB_SHIFT == next >> SLAB_SHIFT;
}

void tables_hold_span(struct held *h, struct table_span span)
{
	struct table_span *last = h->spans.n ? &h->spans.v[h->spans.n - 1] : NULL;

	if (last && tables_adjoin(last->pos, last->n, span.pos))
		last->n += span.n;
	else
		(void)!vector_push(&h->spans, span);
}

/* All elements of a table that no key leads to any more; NULL without memory. */
static struct held *tables_hold_elements(const struct table_ref *ref)
{
	struct held *h = calloc(1, sizeof(*h));

	for (uint32_t i = 0; h && i < ref->pages; i++) {
		if (ref->entries[i].n)
			tables_hold_span(h, table_ref_page(ref, i));
	}
	if (h)
		tables_hold_span(h, table_ref_dir(ref));
	return h;
}

/* Count one table less for each of its rules.  Rules that no table uses now are
 * moved to the start of ref->rules; returns how many they are. */
static uint32_t tables_put_rules(struct table_policy *t, struct table_ref *ref)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ref->n_rules; i++) {
		if (rules_put(&t->rules, ref->rules[i]))
			ref->rules[n++] = ref->rules[i];
	}
	ref->n_rules = 0;
	return n;
}

void tables_release(struct table_policy *t, struct table_ref *ref)
{
	struct held *h;

	if (!ref->pages)
		return;
	t->rows -= ref->rows;
	owners_add(&t->owners, ref->owner, -(int64_t)ref->elements);
	h = tables_hold_elements(ref);
	if (h) {
		h->n_rules = tables_put_rules(t, ref);
		h->rules = ref->rules;
		ref->rules = NULL;
		tables_hold(t, h);
	}
	table_ref_clear(ref);
}

/* The oldest grace period is over. */
static void tables_let_go(struct table_policy *t)
{
	struct held *h = t->first;

	t->first = h->next;
	for (uint32_t i = 0; i < h->spans.n; i++) {
		t->held_elements -= h->spans.v[i].n;
		slabs_free(&t->slabs, &h->spans.v[i]);
	}
	for (uint32_t i = 0; i < h->n_rules; i++)
		rules_reuse(&t->rules, h->rules[i]);
	held_free(h);
}

bool tables_settled(struct table_policy *t, uint64_t n)
{
	if (n < t->settled || n > t->sent)
		return false;
	t->settled = n;
	while (t->first && t->first->after <= t->settled)
		tables_let_go(t);
	return true;
}

void tables_drop_slab(struct table_policy *t, uint32_t slab)
{
	t->made[slab] = false;
	t->sent++;
	t->out->slab_drop(t->ctx, slab);
}

void tables_drop_slabs(struct table_policy *t)
{
	int left = SLABS_DROPPED;

	for (uint32_t i = RULE_SLABS + 1; left && i < SLABS_MAX; i++) {
		if (!t->made[i] || t->slabs.v[i])
			continue;
		tables_drop_slab(t, i);
		left--;
	}
}

/* --- building a message --------------------------------------------------- */

struct install {
	VECTOR(struct table_run) runs;
	union element *elements;	/* of the runs that are new */
	size_t n_elements;
};

static void install_fini(struct install *in)
{
	free(in->runs.v);
	free(in->elements);
}

/* from: as in struct table_run; the elements of a new span are the last ones that
 * the caller has added.  0 or -errno. */
static int install_run(struct install *in, struct table_span span,
		       uint32_t from)
{
	struct table_run *last = in->runs.n ? &in->runs.v[in->runs.n - 1] : NULL;
	struct table_run run = { span.pos, span.n, from, 0 };

	if (last && tables_adjoin(last->pos, last->n, span.pos) &&
	    from == TABLE_RUN_NEW && last->from == TABLE_RUN_NEW) {
		last->n += span.n;
		return 0;
	}
	if (in->runs.n == INSTALL_RUNS_MAX)
		return -EFBIG;
	return vector_push(&in->runs, run) ? 0 : -ENOMEM;
}

static int install_send(struct table_policy *t, const struct install *in,
			uint64_t id, const struct file_key *key,
			const struct file_entry *entry)
{
	const struct iovec parts[] = {
		{ in->runs.v, in->runs.n * sizeof(*in->runs.v) },
		{ in->elements, in->n_elements * ELEMENT },
	};
	int fd;

	if (parts[0].iov_len + parts[1].iov_len > INSTALL_BYTES_MAX)
		return -EFBIG;
	fd = sealed_make("install", parts, 2);
	if (fd < 0)
		return fd;
	for (uint32_t i = 0; i < in->runs.n; i++)
		t->made[in->runs.v[i].pos >> SLAB_SHIFT] = true;
	t->sent++;
	t->out->install(t->ctx, id, key, entry, in->runs.n, fd);
	return 0;
}

/* The last run: the directory, as it will be in the slabs. */
static int install_dir(struct install *in, const struct table_ref *ref)
{
	struct table_span dir = table_ref_dir(ref);

	memset(&in->elements[in->n_elements], 0, dir.n * ELEMENT);
	memcpy(&in->elements[in->n_elements], ref->entries,
	       ref->pages * sizeof(*ref->entries));
	in->n_elements += dir.n;
	return install_run(in, dir, TABLE_RUN_NEW);
}

/* --- installing ----------------------------------------------------------- */

/* Give back all that ref has.  No BPF program has seen these elements, so they are
 * free at once. */
static void table_ref_undo(struct table_policy *t, struct table_ref *ref)
{
	struct table_span dir = table_ref_dir(ref);
	uint32_t n = tables_put_rules(t, ref);

	for (uint32_t i = 0; i < n; i++)
		rules_reuse(&t->rules, ref->rules[i]);
	for (uint32_t i = 0; ref->entries && i < ref->pages; i++) {
		struct table_span span = table_ref_page(ref, i);

		if (span.n)
			slabs_free(&t->slabs, &span);
	}
	if (ref->dir)
		slabs_free(&t->slabs, &dir);
	table_ref_clear(ref);
}

/* Room for the directory and for pages as large as those of from.  0 or -errno. */
static int tables_take_elements(struct table_policy *t, const struct dir_entry *from,
				uint32_t pages, uint32_t below, struct table_ref *ref)
{
	struct table_span span;
	int r;

	ref->entries = calloc(pages, sizeof(*ref->entries));
	if (!ref->entries)
		return -ENOMEM;
	ref->pages = pages;
	for (uint32_t i = 0; i < pages; i++) {
		struct dir_entry *d = &ref->entries[i];

		d->rule_before = from[i].rule_before;
		if (!from[i].n)
			continue;
		r = slabs_alloc(&t->slabs, page_elements(&from[i]), below,
				&span);
		if (r)
			return r;
		d->n = from[i].n;
		d->first = span.pos;
		ref->elements += span.n;
	}
	r = slabs_alloc(&t->slabs, (pages + 7) / 8, below, &span);
	if (r)
		return r;
	ref->dir = span.pos;
	ref->elements += span.n;
	return 0;
}

/* Whole elements that hold the new rules, in the order of their numbers. */
static int install_rules(struct table_policy *t, struct install *in,
			 const uint64_t *is_new)
{
	int r = 0;

	for (uint32_t el = 0; el < RULES_MAX / 2 && !r; el++) {
		union element *to;

		if (!(is_new[el / 64] >> (el % 64) & 1))
			continue;
		to = &in->elements[in->n_elements++];
		to->rule[0] = t->rules.v[2 * el];
		to->rule[1] = t->rules.v[2 * el + 1];
		r = install_run(in, (struct table_span){ el, 1 },
				TABLE_RUN_NEW);
	}
	return r;
}

/* Global numbers for the rules; is_new: a bit for each element with a new rule.  The
 * first element, with the fixed rules, is sent with every table, since loaderd
 * does not know them.  Returns how many elements have their bit set, or -errno. */
static int tables_take_rules(struct table_policy *t, const struct worker_table *w,
			     struct table_ref *ref, uint64_t *is_new)
{
	int n_new = 1;

	is_new[0] |= 1;
	ref->rules = calloc(w->hdr->n_rules, sizeof(*ref->rules));
	if (!ref->rules)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->hdr->n_rules; i++) {
		bool fresh = false;
		int n = (int)i;
		uint64_t bit;

		if (i >= 2)
			n = rules_get(&t->rules, &w->rules[i], ref->owner, &fresh);
		if (n < 0)
			return n;
		ref->rules[ref->n_rules++] = (uint16_t)n;
		bit = 1ULL << (n / 2 % 64);
		if (fresh && !(is_new[n / 128] & bit)) {
			is_new[n / 128] |= bit;
			n_new++;
		}
	}
	return n_new;
}

static int install_pages(struct install *in, const struct worker_table *w,
			 const struct table_ref *ref)
{
	int r = 0;

	for (uint32_t p = 0; p < ref->pages && !r; p++) {
		const struct dir_entry *d = &w->dir[p];
		union element *to = &in->elements[in->n_elements];
		struct table_span span = table_ref_page(ref, p);

		if (!d->n)
			continue;
		memcpy(to, &w->elements[d->first], span.n * ELEMENT);
		to += span.n - d->n;
		for (uint32_t i = 0; i < d->n * (uint32_t)ELEMENT_ROWS; i++) {
			struct unwind_row *row = &to[i / ELEMENT_ROWS]
						  .row[i % ELEMENT_ROWS];

			row->rule = ref->rules[row->rule];
		}
		in->n_elements += span.n;
		r = install_run(in, span, TABLE_RUN_NEW);
	}
	return r;
}

/* May this owner have the table?  0, -EFBIG or -ENOSPC. */
static int tables_may_have(struct table_policy *t, const struct worker_table *w,
			   uint32_t owner)
{
	uint64_t bytes = ((uint64_t)w->hdr->n_elements +
			  (w->hdr->pages + 7) / 8) * ELEMENT;

	if (w->hdr->n_rules > FILE_RULES_MAX || bytes > t->budget / FILE_PART ||
	    bytes > INSTALL_BYTES_MAX / 2)
		return -EFBIG;
	if (t->slabs.elements * ELEMENT + bytes >
	    owners_limit(&t->owners, owner, t->budget))
		return -ENOSPC;
	return 0;
}

/* Take rules and elements for ref, build the message and send it. */
static int install_table(struct table_policy *t, uint64_t id,
			 const struct file_key *key, struct file_entry *entry,
			 const struct worker_table *w, struct table_ref *ref)
{
	uint64_t is_new[RULES_MAX / 128] = { 0 };
	struct install in = { 0 };
	int n = tables_take_rules(t, w, ref, is_new), r;

	if (n < 0)
		return n;
	r = tables_take_elements(t, w->dir, w->hdr->pages, SLABS_MAX, ref);
	for (uint32_t i = 0; !r && i < ref->pages; i++)
		ref->entries[i].rule_before =
			ref->rules[ref->entries[i].rule_before];
	if (!r) {
		in.elements = malloc(((size_t)n + ref->elements) * ELEMENT);
		r = in.elements ? 0 : -ENOMEM;
	}
	if (!r)
		r = install_rules(t, &in, is_new);
	if (!r)
		r = install_pages(&in, w, ref);
	if (!r)
		r = install_dir(&in, ref);
	entry->dir = ref->dir;
	entry->pages = ref->pages;
	entry->state = FILE_TABLE | (entry->state & FILE_ASK_HOST);
	if (!r)
		r = install_send(t, &in, id, key, entry);
	install_fini(&in);
	return r;
}

int tables_install(struct table_policy *t, uint64_t id, const struct file_key *key,
		   struct file_entry *entry, const void *data, size_t len,
		   struct table_ref *ret)
{
	struct table_ref ref = { .owner = ret->owner };
	struct file_entry e = *entry;
	struct worker_table w;
	int r;

	if (!worker_table_open(&w, data, len))
		return -EPROTO;
	if (w.hdr->pages) {
		r = tables_may_have(t, &w, ref.owner);
		if (!r)
			r = install_table(t, id, key, &e, &w, &ref);
		if (r) {
			table_ref_undo(t, &ref);
			return r;
		}
		ref.rows = w.hdr->n_rows;
		t->rows += ref.rows;
		owners_add(&t->owners, ref.owner, ref.elements);
		*entry = e;
	}
	*ret = ref;
	return 0;
}

void tables_own(struct table_policy *t, struct table_ref *ref, uint32_t owner)
{
	owners_add(&t->owners, ref->owner, -(int64_t)ref->elements);
	owners_add(&t->owners, owner, ref->elements);
	ref->owner = owner;
	for (uint32_t i = 0; i < ref->n_rules; i++)
		rules_own(&t->rules, ref->rules[i], owner);
}

/* --- moving ---------------------------------------------------------------- */

bool tables_in(const struct table_ref *ref, uint32_t slab)
{
	if (!ref->pages)
		return false;
	for (uint32_t i = 0; i < ref->pages; i++) {
		if (ref->entries[i].n &&
		    ref->entries[i].first >> SLAB_SHIFT == slab)
			return true;
	}
	return ref->dir >> SLAB_SHIFT == slab;
}

static int install_moved(struct install *in, const struct table_ref *from,
			 const struct table_ref *to)
{
	int r;

	in->elements = malloc(table_ref_dir(to).n * ELEMENT);
	r = in->elements ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < to->pages && !r; i++) {
		struct table_span span = table_ref_page(to, i);

		if (span.n)
			r = install_run(in, span, from->entries[i].first);
	}
	if (r)
		return r;
	return install_dir(in, to);
}

int tables_move(struct table_policy *t, const struct file_key *key,
		struct file_entry *entry, struct table_ref *ref,
		uint32_t below)
{
	struct table_ref to = { 0 };
	struct file_entry e = *entry;
	struct install in = { 0 };
	struct held *h;
	int r;

	/* both the copy and the original exist until the grace period is over */
	if ((t->slabs.elements + ref->elements) * ELEMENT > t->budget)
		return -ENOSPC;
	r = tables_take_elements(t, ref->entries, ref->pages, below, &to);
	if (!r)
		r = install_moved(&in, ref, &to);
	e.dir = to.dir;
	if (!r)
		r = install_send(t, &in, 0, key, &e);
	install_fini(&in);
	if (r) {
		table_ref_undo(t, &to);
		return r;
	}
	h = tables_hold_elements(ref);
	if (h)
		tables_hold(t, h);
	free(ref->entries);
	ref->entries = to.entries;
	ref->dir = to.dir;
	*entry = e;
	return 0;
}
