// SPDX-License-Identifier: Apache-2.0
#include "loaderd/tables.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ELEMENT		sizeof(union element)
#define SLAB_BYTES	(SLAB_ELEMENTS * ELEMENT)
#define HASH_SIZE	(2 * RULES_MAX)

/* --- slabs ---------------------------------------------------------------- */

static int slab_make(struct tables *t, uint32_t i)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	struct slab *s;
	int r;

	if (i >= SLABS_MAX)
		return -ENOSPC;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->run_max = SLAB_ELEMENTS;
	s->fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "slab", sizeof(uint32_t),
			       ELEMENT, SLAB_ELEMENTS, &opts);
	r = s->fd < 0 ? -errno : 0;
	if (!r && bpf_map_update_elem(t->outer_fd, &i, &s->fd, BPF_ANY))
		r = -errno;
	if (r) {
		if (s->fd >= 0)
			close(s->fd);
		free(s);
		return r;
	}
	t->slabs[i] = s;
	t->n_slabs++;
	return 0;
}

static void slab_drop(struct tables *t, uint32_t i)
{
	bpf_map_delete_elem(t->outer_fd, &i);
	close(t->slabs[i]->fd);
	free(t->slabs[i]);
	t->slabs[i] = NULL;
	t->n_slabs--;
}

static bool bit(const struct slab *s, uint32_t i)
{
	return s->bits[i / 64] >> (i % 64) & 1;
}

static void mark(struct slab *s, uint32_t first, uint32_t n, bool used)
{
	for (uint32_t i = first; i < first + n; i++) {
		if (used)
			s->bits[i / 64] |= 1ULL << (i % 64);
		else
			s->bits[i / 64] &= ~(1ULL << (i % 64));
	}
	s->used += used ? n : -n;
}

/* First of n free elements in a row at or above `from`, or SLAB_ELEMENTS. */
static uint32_t find_run(const struct slab *s, uint32_t from, uint32_t n)
{
	uint32_t len = 0;

	for (uint32_t i = from; i < SLAB_ELEMENTS; i++) {
		if (i % 64 == 0 && s->bits[i / 64] == ~0ULL) {
			len = 0;
			i += 63;
			continue;
		}
		len = bit(s, i) ? 0 : len + 1;
		if (len == n)
			return i + 1 - n;
	}
	return SLAB_ELEMENTS;
}

/* In slabs below this one; SLABS_MAX: a new one may be made. */
static int run_alloc(struct tables *t, uint32_t n, uint32_t below,
		     struct run *ret)
{
	int r;

	for (uint32_t i = RULE_SLABS; i < below; i++) {
		struct slab *s;
		uint32_t at;

		if (!t->slabs[i]) {
			if (below < SLABS_MAX)
				continue;
			r = slab_make(t, i);
			if (r)
				return r;
		}
		s = t->slabs[i];
		if (SLAB_ELEMENTS - s->used < n || s->run_max < n)
			continue;
		at = find_run(s, s->hint, n);
		if (at == SLAB_ELEMENTS)
			at = find_run(s, 0, n);
		if (at == SLAB_ELEMENTS) {
			s->run_max = n - 1;
			continue;
		}
		mark(s, at, n, true);
		s->hint = at + n;
		ret->pos = i << SLAB_SHIFT | at;
		ret->n = n;
		t->elements += n;
		return 0;
	}
	return -ENOSPC;
}

static void run_free(struct tables *t, const struct run *run)
{
	uint32_t i = run->pos >> SLAB_SHIFT;

	mark(t->slabs[i], run->pos & (SLAB_ELEMENTS - 1), run->n, false);
	t->slabs[i]->hint = 0;
	t->slabs[i]->run_max = SLAB_ELEMENTS;
	t->elements -= run->n;
	/* the first stays: to make and drop a slab waits for the kernel */
	if (!t->slabs[i]->used && i > RULE_SLABS)
		slab_drop(t, i);
}

/* Mapped for the time of one table only: what is mapped is resident. */
static void *slab_map(struct tables *t, uint32_t i)
{
	void *p = mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		       t->slabs[i]->fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* --- rules ---------------------------------------------------------------- */

static uint32_t rule_home(const struct unwind_rule *r)
{
	const uint32_t *w = (const uint32_t *)r;
	uint64_t h = 0;

	for (size_t i = 0; i < sizeof(*r) / 4; i++)
		h = (h ^ w[i]) * 0x9e3779b97f4a7c15ULL, h ^= h >> 29;
	return h % HASH_SIZE;
}

static uint32_t tables_rule_slot(const struct tables *t,
				 const struct unwind_rule *r)
{
	for (uint32_t i = rule_home(r); ; i = (i + 1) % HASH_SIZE) {
		uint16_t n = t->rule_hash[i];

		/* 0 is an empty place; rules 0 and 1 are never hashed */
		if (!n || !memcmp(&t->rules[n], r, sizeof(*r)))
			return i;
	}
}

static int rule_store(struct tables *t, uint32_t n)
{
	uint32_t slab = n / (2 * SLAB_ELEMENTS);
	uint32_t el = n / 2 % SLAB_ELEMENTS;
	union element e;
	int r;

	if (!t->slabs[slab]) {
		r = slab_make(t, slab);
		if (r)
			return r;
	}
	e.rule[0] = t->rules[n & ~1u];
	e.rule[1] = t->rules[n | 1];
	return bpf_map_update_elem(t->slabs[slab]->fd, &el, &e, BPF_ANY) ?
	       -errno : 0;
}

/* The number of *r, counted once more: the one it has, a freed one, a new one. */
static int rule_get(struct tables *t, const struct unwind_rule *r)
{
	uint32_t slot = tables_rule_slot(t, r), n = t->rule_hash[slot];
	int err;

	if (n) {
		t->rule_refs[n]++;
		return n;
	}
	if (!t->n_rule_free && t->rule_top == RULES_MAX)
		return -ENOSPC;
	n = t->n_rule_free ? t->rule_free[t->n_rule_free - 1] : t->rule_top;
	t->rules[n] = *r;
	err = rule_store(t, n);
	if (err)
		return err;
	if (t->n_rule_free)
		t->n_rule_free--;
	else
		t->rule_top++;
	t->rule_hash[slot] = n;
	t->rule_refs[n] = 1;
	t->n_rules++;
	return n;
}

/* Empty a place; what stands behind it moves up, so that no chain is broken. */
static void rule_unhash(struct tables *t, uint32_t hole)
{
	for (uint32_t i = (hole + 1) % HASH_SIZE; t->rule_hash[i];
	     i = (i + 1) % HASH_SIZE) {
		uint32_t home = rule_home(&t->rules[t->rule_hash[i]]);

		if ((i - home) % HASH_SIZE < (i - hole) % HASH_SIZE)
			continue;
		t->rule_hash[hole] = t->rule_hash[i];
		hole = i;
	}
	t->rule_hash[hole] = 0;
}

static void rule_put(struct tables *t, uint32_t n)
{
	if (--t->rule_refs[n])
		return;
	rule_unhash(t, tables_rule_slot(t, &t->rules[n]));
	t->rule_free[t->n_rule_free++] = n;
	t->n_rules--;
}

int tables_init(struct tables *t, int outer_fd, int slab0_fd, uint64_t budget)
{
	*t = (struct tables){ .outer_fd = outer_fd, .budget = budget };
	t->slabs[0] = calloc(1, sizeof(*t->slabs[0]));
	t->rule_refs = calloc(RULES_MAX, sizeof(*t->rule_refs));
	t->rules = calloc(RULES_MAX, sizeof(*t->rules));
	t->rule_hash = calloc(HASH_SIZE, sizeof(*t->rule_hash));
	t->rule_free = calloc(RULES_MAX, sizeof(*t->rule_free));
	if (!t->slabs[0] || !t->rule_refs || !t->rules || !t->rule_hash ||
	    !t->rule_free)
		return -ENOMEM;
	t->slabs[0]->fd = slab0_fd;
	t->n_slabs = 1;
	t->rules[RULE_END].cfa = CFA_END;
	t->rule_refs[RULE_NONE] = t->rule_refs[RULE_END] = 1;
	t->rule_top = t->n_rules = 2;
	return rule_store(t, RULE_NONE);
}

/* --- checking ------------------------------------------------------------- */

struct view {
	const struct table_hdr *hdr;
	const struct unwind_rule *rules;
	const struct dir_entry *dir;
	const union element *elements;
};

static uint32_t tables_index_elements(const struct dir_entry *d)
{
	return (d->n + INDEX_FANOUT - 1) / INDEX_FANOUT;
}

static bool rules_sound(const struct view *v)
{
	static const struct unwind_rule none = { .cfa = CFA_NONE };
	static const struct unwind_rule end = { .cfa = CFA_END };

	if (memcmp(&v->rules[RULE_NONE], &none, sizeof(none)) ||
	    memcmp(&v->rules[RULE_END], &end, sizeof(end)))
		return false;
	for (uint32_t i = 2; i < v->hdr->n_rules; i++) {
		const struct unwind_rule *r = &v->rules[i];

		if (r->cfa >= CFA__MAX || r->ra >= RA__MAX ||
		    r->cfa_reg >= REGS_MAX || r->ra_reg >= REGS_MAX)
			return false;
	}
	return true;
}

/* Elements belong to pages in their order, each to one. */
static bool pages_sound(const struct view *v)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < v->hdr->pages; i++) {
		const struct dir_entry *d = &v->dir[i];

		if (d->rule_before >= v->hdr->n_rules ||
		    d->n > PAGE_ELEMENTS_MAX)
			return false;
		if (!d->n)
			continue;
		if (d->first != next ||
		    v->hdr->n_elements - next < tables_index_elements(d) + d->n)
			return false;
		next += tables_index_elements(d);
		for (uint32_t e = next; e < next + d->n; e++) {
			for (int k = 0; k < ELEMENT_ROWS; k++) {
				if (v->elements[e].row[k].rule >=
				    v->hdr->n_rules)
					return false;
			}
		}
		next += d->n;
	}
	return next == v->hdr->n_elements;
}

static bool view_open(struct view *v, const void *data, size_t len)
{
	const struct table_hdr *h = data;
	size_t rules, dir;

	if (len < sizeof(*h) || h->magic != TABLE_MAGIC)
		return false;
	v->hdr = h;
	if (!h->pages)
		return len == sizeof(*h) && !h->n_rules && !h->n_elements;
	if (h->n_rules < 2 || h->n_rules > RULES_MAX ||
	    h->pages > 8 * SLAB_ELEMENTS ||
	    h->n_elements > SLABS_MAX * SLAB_ELEMENTS)
		return false;
	rules = (size_t)h->n_rules * sizeof(*v->rules);
	dir = ((size_t)h->pages * sizeof(*v->dir) + 63) / 64 * 64;
	if (len != sizeof(*h) + rules + dir + h->n_elements * ELEMENT)
		return false;
	v->rules = (const void *)(h + 1);
	v->dir = (const void *)((const char *)v->rules + rules);
	v->elements = (const void *)((const char *)v->dir + dir);
	return rules_sound(v) && pages_sound(v);
}

/* --- installing ----------------------------------------------------------- */

static void ref_free(struct table_ref *ref)
{
	free(ref->runs);
	free(ref->rules);
	*ref = (struct table_ref){ 0 };
}

void tables_release(struct tables *t, struct table_ref *ref)
{
	for (uint32_t i = 0; i < ref->n_runs; i++)
		run_free(t, &ref->runs[i]);
	for (uint32_t i = 0; i < ref->n_rules; i++)
		rule_put(t, ref->rules[i]);
	t->rows -= ref->rows;
	ref_free(ref);
}

/* Global numbers for all rules, and room for all elements. */
static int take_room(struct tables *t, const struct view *v,
		     struct table_ref *ref)
{
	uint32_t dir = (v->hdr->pages + 7) / 8;
	uint64_t bytes = ((uint64_t)v->hdr->n_elements + dir) * ELEMENT;
	int r;

	if (bytes > t->budget)
		return -EFBIG;

	ref->rules = calloc(v->hdr->n_rules, sizeof(*ref->rules));
	ref->runs = calloc(v->hdr->pages + 1, sizeof(*ref->runs));
	if (!ref->rules || !ref->runs)
		return -ENOMEM;
	if (t->elements * ELEMENT + bytes > t->budget)
		return -ENOSPC;
	for (uint32_t i = 0; i < v->hdr->n_rules; i++) {
		r = i < 2 ? (int)i : rule_get(t, &v->rules[i]);
		if (r < 0)
			return r;
		if (i < 2)
			t->rule_refs[i]++;
		ref->rules[ref->n_rules++] = r;
	}
	r = run_alloc(t, dir, SLABS_MAX, &ref->runs[0]);
	if (r)
		return r;
	ref->n_runs = 1;
	for (uint32_t i = 0; i < v->hdr->pages; i++) {
		const struct dir_entry *d = &v->dir[i];

		if (!d->n)
			continue;
		r = run_alloc(t, tables_index_elements(d) + d->n, SLABS_MAX,
			      &ref->runs[ref->n_runs]);
		if (r)
			return r;
		ref->n_runs++;
	}
	return 0;
}

static void copy_page(const struct view *v, const struct dir_entry *d,
		      const struct table_ref *ref, union element *to)
{
	const union element *from = &v->elements[d->first];
	uint32_t n_index = tables_index_elements(d);

	memcpy(to, from, n_index * ELEMENT);
	for (uint32_t e = n_index; e < n_index + d->n; e++) {
		for (int k = 0; k < ELEMENT_ROWS; k++) {
			to[e].row[k].low = from[e].row[k].low;
			to[e].row[k].rule = ref->rules[from[e].row[k].rule];
		}
	}
}

/* Keeps the slab of the last call mapped in *at, *base. */
static union element *tables_place(struct tables *t, uint32_t pos, uint32_t *at,
				   union element **base)
{
	uint32_t slab = pos >> SLAB_SHIFT;

	if (*base && *at != slab) {
		munmap(*base, SLAB_BYTES);
		*base = NULL;
	}
	if (!*base)
		*base = slab_map(t, slab);
	*at = slab;
	return *base ? *base + (pos & (SLAB_ELEMENTS - 1)) : NULL;
}

static int copy_in(struct tables *t, const struct view *v,
		   const struct table_ref *ref)
{
	union element *base = NULL, *to, *dir;
	uint32_t at = 0, run = 1, n_dir = ref->runs[0].n;

	dir = calloc(n_dir, ELEMENT);
	if (!dir)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->hdr->pages; i++) {
		const struct dir_entry *d = &v->dir[i];
		struct dir_entry *out = &dir[i / 8].dir[i % 8];

		out->rule_before = ref->rules[d->rule_before];
		if (!d->n)
			continue;
		to = tables_place(t, ref->runs[run].pos, &at, &base);
		if (!to)
			break;
		copy_page(v, d, ref, to);
		out->n = d->n;
		out->first = ref->runs[run++].pos;
	}
	to = run == ref->n_runs ? tables_place(t, ref->runs[0].pos, &at, &base)
				: NULL;
	if (to)
		memcpy(to, dir, n_dir * ELEMENT);
	if (base)
		munmap(base, SLAB_BYTES);
	free(dir);
	return to ? 0 : -ENOMEM;
}

int tables_install(struct tables *t, const void *data, size_t len,
		   struct table_ref *ret)
{
	struct table_ref ref = { 0 };
	struct view v;
	int r;

	if (!view_open(&v, data, len))
		return -EPROTO;
	if (!v.hdr->pages) {
		*ret = ref;
		return 0;
	}
	r = take_room(t, &v, &ref);
	if (!r)
		r = copy_in(t, &v, &ref);
	if (r) {
		tables_release(t, &ref);
		return r;
	}
	ref.pages = v.hdr->pages;
	ref.dir = ref.runs[0].pos;
	ref.rows = v.hdr->n_rows;
	for (uint32_t i = 0; i < ref.n_runs; i++)
		ref.elements += ref.runs[i].n;
	t->rows += ref.rows;
	*ret = ref;
	return 0;
}

/* --- moving ---------------------------------------------------------------- */

uint32_t tables_spare(const struct tables *t)
{
	uint64_t slabs = 0;
	uint32_t last = 0;

	for (uint32_t i = RULE_SLABS; i < SLABS_MAX; i++) {
		slabs += t->slabs[i] != NULL;
		last = t->slabs[i] ? i : last;
	}
	/* three quarters: what is moved must find room in one piece */
	return slabs > 1 && t->elements * 4 < (slabs - 1) * SLAB_ELEMENTS * 3 ?
	       last : 0;
}

bool tables_in(const struct table_ref *ref, uint32_t slab)
{
	for (uint32_t i = 0; i < ref->n_runs; i++) {
		if (ref->runs[i].pos >> SLAB_SHIFT == slab)
			return true;
	}
	return false;
}

static int copy_runs(struct tables *t, const struct table_ref *from,
		     const struct table_ref *to)
{
	union element *from_base = NULL, *to_base = NULL, *a, *b = NULL;
	uint32_t from_at = 0, to_at = 0, run = 1;

	/* backwards: the directory is the first run, and is looked at then */
	for (uint32_t i = from->n_runs; i-- > 0; ) {
		a = tables_place(t, from->runs[i].pos, &from_at, &from_base);
		b = tables_place(t, to->runs[i].pos, &to_at, &to_base);
		if (!a || !b)
			break;
		memcpy(b, a, from->runs[i].n * ELEMENT);
	}
	for (uint32_t p = 0; a && b && p < from->pages; p++) {
		struct dir_entry *d = &b[p / 8].dir[p % 8];

		if (d->n)
			d->first = to->runs[run++].pos;
	}
	if (from_base)
		munmap(from_base, SLAB_BYTES);
	if (to_base)
		munmap(to_base, SLAB_BYTES);
	return a && b ? 0 : -ENOMEM;
}

int tables_copy(struct tables *t, const struct table_ref *ref, uint32_t below,
		struct table_ref *ret)
{
	struct table_ref to = {
		.pages = ref->pages, .elements = ref->elements,
		.runs = calloc(ref->n_runs, sizeof(*to.runs)),
		.rules = calloc(ref->n_rules, sizeof(*to.rules)),
	};
	int r = to.runs && to.rules ? 0 : -ENOMEM;

	for (; !r && to.n_rules < ref->n_rules; to.n_rules++) {
		to.rules[to.n_rules] = ref->rules[to.n_rules];
		t->rule_refs[to.rules[to.n_rules]]++;
	}
	while (!r && to.n_runs < ref->n_runs) {
		r = run_alloc(t, ref->runs[to.n_runs].n, below,
			      &to.runs[to.n_runs]);
		to.n_runs += !r;
	}
	if (!r)
		r = copy_runs(t, ref, &to);
	if (r) {
		tables_release(t, &to);
		return r;
	}
	to.dir = to.runs[0].pos;
	to.rows = ref->rows;
	t->rows += to.rows;
	*ret = to;
	return 0;
}
