// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/go/pclntab.h"

#include <string.h>

#define HEADER		72	/* bytes: magic and so on, then 8 words */
#define INLINED_MAX	(1u << 20)	/* entries of a function */
#define INLINED_AHEAD 4096

static uint32_t pclntab_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t pclntab_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* --- the header -------------------------------------------------------------- */

/* Magic, two zeros, quantum, size of a pointer. */
bool pclntab_is_header(const uint8_t *p)
{
	uint32_t magic = pclntab_u32(p);

	return (magic == PCLNTAB_116 || magic == PCLNTAB_118 ||
		magic == PCLNTAB_120) &&
	       !p[4] && !p[5] && (p[6] == 1 || p[6] == 4) && p[7] == 8;
}

static bool pclntab_is_old(const struct pclntab *t)
{
	return t->magic == PCLNTAB_116;
}

static size_t pclntab_entry_size(const struct pclntab *t)
{
	return pclntab_is_old(t) ? 8 : 4;
}

/* As wide as an entry. */
static uint64_t pclntab_number(const struct pclntab *t, const uint8_t *p)
{
	if (pclntab_is_old(t))
		return pclntab_u64(p);
	return pclntab_u32(p);
}

/* Word i of the table of functions: of each its entry and the place of its record. */
static uint64_t pclntab_entry(const struct pclntab *t, size_t i)
{
	const uint8_t *p = t->funcs.data + i * pclntab_entry_size(t);

	return pclntab_number(t, p);
}

/* The parts follow each other in this order. */
static bool pclntab_parts(struct pclntab *t, const uint8_t *words)
{
	struct pclntab_part *part[] = {
		&t->names, &t->units, &t->files, &t->pcs, &t->funcs,
	};
	size_t n = sizeof(part) / sizeof(part[0]);

	for (size_t i = 0; i < n; i++) {
		uint64_t at = pclntab_u64(words + 8 * i), end = t->bytes.len;

		if (i + 1 < n)
			end = pclntab_u64(words + 8 * (i + 1));
		if (at < HEADER - 8 || at >= t->bytes.len || end < at ||
		    end > t->bytes.len)
			return false;
		part[i]->data = t->bytes.data + at;
		part[i]->len = end - at;
	}
	return true;
}

/* Entries ascend: otherwise the runtime itself ends the program at its start
 * (runtime/symtab.go, moduledataverify1).  So no two functions overlap, and
 * tables that they share are walked at most once for each byte of code. */
static bool pclntab_entries_ascend(const struct pclntab *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (pclntab_entry(t, 2 * i) > pclntab_entry(t, 2 * i + 2))
			return false;
	}
	return true;
}

bool pclntab_header(struct pclntab *t, uint64_t *text)
{
	const uint8_t *p = t->bytes.data, *words = p + 24;
	uint64_t n, size;

	if (t->bytes.len < HEADER || !pclntab_is_header(p))
		return false;
	t->magic = pclntab_u32(p);
	t->quantum = p[6];
	n = pclntab_u64(p + 8);
	*text = 0;
	if (!pclntab_is_old(t)) {
		*text = pclntab_u64(words);
		words += 8;
	}
	if (!n || n > PCLNTAB_FUNCS_MAX || !pclntab_parts(t, words))
		return false;
	size = (2 * n + 1) * pclntab_entry_size(t);
	if (t->funcs.len < size)
		return false;
	t->n = n;
	/* the record of the first function begins with its entry, too */
	n = pclntab_entry(t, 1);
	if (t->funcs.len < 8 || n > t->funcs.len - 8)
		return false;
	p = t->funcs.data + n;
	return pclntab_entry(t, 0) == pclntab_number(t, p) &&
	       pclntab_entry(t, 0) < pclntab_entry(t, 2 * t->n) && pclntab_entries_ascend(t);
}

void pclntab_close(struct pclntab *t)
{
	elf_bytes_free(&t->bytes);
	t->n = 0;
}

/* --- functions ------------------------------------------------------------------ */

const char *pclntab_string(const struct pclntab_part *part, uint32_t off)
{
	size_t max;

	if (off >= part->len)
		return NULL;
	max = part->len - off;
	if (max > PCLNTAB_NAME_MAX)
		max = PCLNTAB_NAME_MAX;
	if (!memchr(part->data + off, 0, max))
		return NULL;
	return (const char *)part->data + off;
}

/* struct _func: an entry, then words of 4 bytes; then four bytes. */
static bool pclntab_record(const struct pclntab *t, uint64_t at,
			   struct pclntab_func *ret)
{
	size_t words = t->magic == PCLNTAB_120 ? 9 : 8;
	size_t len = pclntab_entry_size(t) + 4 * words + 4;
	const uint8_t *p;

	if (at > t->funcs.len || t->funcs.len - at < len)
		return false;
	p = t->funcs.data + at + pclntab_entry_size(t);
	ret->name = pclntab_string(&t->names, pclntab_u32(p));
	if (!ret->name)
		ret->name = "";
	ret->pcsp = pclntab_u32(p + 12);
	ret->pcfile = pclntab_u32(p + 16);
	ret->pcln = pclntab_u32(p + 20);
	ret->n_pcdata = pclntab_u32(p + 24);
	ret->unit = pclntab_u32(p + 28);
	ret->start_line = words == 9 ? pclntab_u32(p + 32) : 0;
	p += 4 * words;
	ret->flags = p[1];
	ret->n_funcdata = p[3];
	ret->data = at + len;
	return true;
}

bool pclntab_func(const struct pclntab *t, uint32_t i,
		  struct pclntab_func *ret)
{
	uint64_t off, left;

	if (i >= t->n)
		return false;
	ret->entry = t->text + pclntab_entry(t, 2 * (size_t)i);
	ret->end = t->text + pclntab_entry(t, 2 * (size_t)i + 2);
	if (ret->entry >= ret->end ||
	    !elf_file_offset(t->f, ret->entry, true, &off, &left))
		return false;
	if (ret->end - ret->entry > left)
		ret->end = ret->entry + left;
	return pclntab_record(t, pclntab_entry(t, 2 * (size_t)i + 1), ret);
}

uint32_t pclntab_pcdata(const struct pclntab *t, const struct pclntab_func *fn,
			uint32_t which)
{
	if (which >= fn->n_pcdata ||
	    t->funcs.len - fn->data < 4 * ((size_t)which + 1))
		return 0;
	return pclntab_u32(t->funcs.data + fn->data + 4 * which);
}

uint64_t pclntab_funcdata(const struct pclntab *t,
			  const struct pclntab_func *fn, uint32_t which)
{
	size_t room = t->funcs.len - fn->data, at, size = pclntab_entry_size(t);
	const uint8_t *p;

	if (which >= fn->n_funcdata || fn->n_pcdata > room / 4)
		return 0;
	/* pointers are aligned, as the record is */
	at = fn->data + 4 * (size_t)fn->n_pcdata;
	at = (at + size - 1) / size * size + which * size;
	if (at > t->funcs.len || t->funcs.len - at < size)
		return 0;
	p = t->funcs.data + at;
	if (pclntab_is_old(t))
		return pclntab_u64(p);
	if (!t->gofunc || pclntab_u32(p) == UINT32_MAX)
		return 0;
	return t->gofunc + pclntab_u32(p);
}

const char *pclntab_file(const struct pclntab *t, uint32_t unit, int32_t file)
{
	uint64_t i = (uint64_t)unit + (uint32_t)file;

	if (file < 0 || unit == UINT32_MAX || i >= t->units.len / 4)
		return NULL;
	return pclntab_string(&t->files, pclntab_u32(t->units.data + 4 * i));
}

const uint8_t *pclntab_at(const struct pclntab *t, struct pclntab_window *w,
			  uint64_t vaddr, size_t len, size_t ahead)
{
	uint64_t in = vaddr - w->b.vaddr, off, left;

	if (in < w->b.len && w->b.len - in >= len)
		return w->b.data + in;
	elf_bytes_free(&w->b);
	if (!elf_file_offset(t->f, vaddr, false, &off, &left) || left < len)
		return NULL;
	if (left > ahead)
		left = ahead;
	if (left < len || elf_file_read(t->f, off, left, &w->b))
		return NULL;
	w->b.vaddr = vaddr;
	return w->b.data;
}

/* Go 1.20: ID of a function, name, offset, line.  Before: parent and ID, file,
 * line, name, offset. */
bool pclntab_inlined(const struct pclntab *t, const struct pclntab_func *fn,
		     uint32_t i, struct pclntab_window *w,
		     struct pclntab_inlined *ret)
{
	bool old = t->magic != PCLNTAB_120;
	size_t size = old ? 20 : 16;
	uint64_t at = pclntab_funcdata(t, fn, FUNCDATA_INLTREE);
	const uint8_t *p;

	if (!at || i >= INLINED_MAX)
		return false;
	p = pclntab_at(t, w, at + i * size, size, INLINED_AHEAD);
	if (!p)
		return false;
	ret->first_line = 0;
	if (old)
		p += 8;
	else
		ret->first_line = pclntab_u32(p + 12);
	ret->name = pclntab_string(&t->names, pclntab_u32(p + 4));
	ret->parent_pc = pclntab_u32(p + 8);
	return ret->name;
}

/* --- values by address -------------------------------------------------------------- */

void pclntab_walk(const struct pclntab *t, const struct pclntab_func *fn,
		  uint32_t off, struct pclntab_walk *w)
{
	*w = (struct pclntab_walk){
		.pos = t->pcs.data, .end = t->pcs.data,
		.quantum = t->quantum, .start = fn->entry, .stop = fn->entry,
		.limit = fn->end, .value = -1, .first = true,
	};
	if (off && off < t->pcs.len) {
		w->pos += off;
		w->end += t->pcs.len;
	}
}

static bool pclntab_varint(struct pclntab_walk *w, uint32_t *ret)
{
	uint32_t v = 0;

	for (int shift = 0; shift < 35 && w->pos < w->end; shift += 7) {
		uint8_t b = *w->pos++;

		v |= (uint32_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

bool pclntab_step(struct pclntab_walk *w)
{
	uint32_t delta, len;

	if (w->stop >= w->limit || !pclntab_varint(w, &delta) ||
	    (!delta && !w->first) || !pclntab_varint(w, &len) || !len)
		return false;
	w->first = false;
	w->value = (int32_t)((uint32_t)w->value +
			     (-(delta & 1) ^ (delta >> 1)));
	w->start = w->stop;
	w->stop += (uint64_t)len * w->quantum;
	if (w->stop > w->limit)
		w->stop = w->limit;
	return true;
}
