// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/unwind/cfi.h"

#include <string.h>

#include "common/wire.h"
#include "ipc/message_hub.h"
#include "symbolizerd/unwind/cfi_program.h"

#define CIE_CACHE	64
#define AUGMENTATION	32	/* bytes; those in use have five at most */

struct cfi_walker {
	const struct cfi_source *src;
	uint64_t work;		/* bytes that may still be looked at */
	struct cfi_run run;	/* of the FDE at hand */
	struct cfi_cie cache[CIE_CACHE];
};

/* An entry of the section: its body behind the length, and the CIE pointer. */
struct entry {
	size_t id_at;		/* of the CIE id or pointer */
	uint64_t id;
	bool is64;
	struct wire_in body;	/* behind the id */
};

/* The entry at `at`; *next is where the one behind it begins.  A terminator
 * has an empty body and id 0. */
static int get_entry(const struct cfi_walker *w, size_t at, struct entry *e,
		     size_t *next)
{
	struct wire_in in;
	uint32_t v32;
	uint64_t len;
	int r;

	wire_init(&in, w->src->data, w->src->len, false);
	r = wire_skip(&in, at);
	if (!r)
		r = wire_get_u32(&in, &v32);
	if (r)
		return r;
	len = v32;
	*e = (struct entry){ .is64 = v32 == UINT32_MAX };
	if (e->is64) {
		r = wire_get_u64(&in, &len);
		if (r)
			return r;
	}
	r = wire_get_sub(&in, len, &e->body);
	if (r)
		return r;
	*next = wire_offset(&in);
	e->id_at = *next - len;
	if (!len)
		return WIRE_OK;
	if (e->is64 && w->src->debug_frame)
		return wire_get_u64(&e->body, &e->id);
	r = wire_get_u32(&e->body, &v32);
	e->id = r ? 0 : v32;
	return r;
}

static bool is_cie(const struct cfi_walker *w, const struct entry *e)
{
	if (!w->src->debug_frame)
		return e->id == 0;
	return e->id == (e->is64 ? UINT64_MAX : UINT32_MAX);
}

/* Bound the work: a CIE may be referred to any number of times. */
static bool affordable(struct cfi_walker *w, const struct entry *e)
{
	size_t len = wire_left(&e->body);

	if (w->work < len)
		return false;
	w->work -= len;
	return true;
}

/* --- CIEs ------------------------------------------------------------------- */

/* The pointer to a personality routine: only its length matters. */
static int skip_personality(const struct cfi_source *src, struct wire_in *in)
{
	uint64_t v;
	uint8_t enc;
	int r = wire_get_u8(in, &enc);

	if (r || enc == PE_OMIT)
		return r;
	if ((enc & ~PE_INDIRECT) == PE_ALIGNED) {
		uint64_t at = src->vaddr + (uint64_t)(in->pos - src->data);

		r = wire_skip(in, -at & 7);
	}
	return r ? r : cfi_pointer(src, in, enc & PE_FORMAT, true, &v);
}

/* The data behind an augmentation string that starts with 'z'. */
static int augmentation(const struct cfi_source *src, struct wire_in *in,
			const char *aug, struct cfi_cie *cie)
{
	struct wire_in data;
	uint64_t len;
	uint8_t enc;
	int r = wire_get_uleb(in, &len);

	if (!r)
		r = wire_get_sub(in, len, &data);
	cie->augmented = true;
	for (aug++; !r && *aug; aug++) {
		switch (*aug) {
		case 'R':
			r = wire_get_u8(&data, &cie->pointer);
			break;
		case 'L':
			r = wire_get_u8(&data, &enc);
			break;
		case 'P':
			r = skip_personality(src, &data);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B':	/* AArch64: signed with the B key */
		case 'G':	/* AArch64: memory tagged */
			break;
		default:
			return r;	/* unknown: skipped by its length */
		}
	}
	return r;
}

/* DWARF 5, 6.4.1: in .debug_frame, sizes of an address and a selector. */
static int address_size(struct wire_in *in)
{
	uint8_t address, selector;
	int r = wire_get_u8(in, &address);

	if (!r)
		r = wire_get_u8(in, &selector);
	return !r && (address != 8 || selector) ? WIRE_FORMAT : r;
}

static int parse_cie(const struct cfi_walker *w, struct entry *e, struct cfi_cie *cie)
{
	struct wire_in *in = &e->body;
	uint8_t version, v8;
	const char *aug;
	int r;

	if (!is_cie(w, e))
		return WIRE_FORMAT;
	r = wire_get_u8(in, &version);
	if (!r && version != 1 && version != 3 && version != 4)
		r = WIRE_FORMAT;
	if (!r)
		r = wire_get_cstr(in, AUGMENTATION, &aug);
	if (!r && version == 4)
		r = address_size(in);
	if (!r)
		r = wire_get_uleb(in, &cie->code_align);
	if (!r)
		r = wire_get_sleb(in, &cie->data_align);
	if (!r && version == 1) {
		r = wire_get_u8(in, &v8);
		cie->ra_reg = r ? 0 : v8;
	} else if (!r) {
		r = wire_get_uleb(in, &cie->ra_reg);
	}
	if (!r && aug[0] == 'z')
		r = augmentation(w->src, in, aug, cie);
	else if (!r && aug[0])
		r = WIRE_FORMAT;	/* "eh" and such: no gcc since 3.0 */
	if (r)
		return r;
	cie->ops = in->pos;
	cie->len = wire_left(in);
	return WIRE_OK;
}

/* loc == end == 0: a program that advances delivers nothing. */
static int execute_cie(const struct cfi_source *src, struct cfi_cie *cie)
{
	struct cfi_run x = { .src = src, .cie = cie };
	int r = cfi_execute(&x, cie->ops, cie->len);

	cie->initial = x.st;
	return r;
}

static const struct cfi_cie *get_cie(struct cfi_walker *w, size_t at)
{
	struct cfi_cie *cie = &w->cache[at / 4 % CIE_CACHE];
	struct entry e;
	size_t next;

	if (cie->at == at)
		return cie->verdict ? NULL : cie;
	*cie = (struct cfi_cie){ .at = at };
	cie->verdict = get_entry(w, at, &e, &next);
	if (!cie->verdict && !affordable(w, &e))
		cie->verdict = WIRE_RANGE;
	if (!cie->verdict)
		cie->verdict = parse_cie(w, &e, cie);
	if (!cie->verdict)
		cie->verdict = execute_cie(w->src, cie);
	return cie->verdict ? NULL : cie;
}

/* --- FDEs ------------------------------------------------------------------- */

/* 0; positive: broken; negative: what fn returned. */
static int walk_fde(struct cfi_walker *w, struct entry *e)
{
	size_t cie_at = w->src->debug_frame ? e->id : e->id_at - e->id;
	const struct cfi_cie *cie;
	struct wire_in *in = &e->body;
	uint64_t start, len, aug;
	struct cfi_run *x = &w->run;
	int r;

	if (w->src->debug_frame ? e->id > w->src->len : e->id > e->id_at)
		return WIRE_RANGE;
	cie = get_cie(w, cie_at);
	if (!cie || (cie->pointer & PE_INDIRECT))
		return WIRE_FORMAT;
	r = cfi_pointer(w->src, in, cie->pointer, false, &start);
	if (!r)
		r = cfi_pointer(w->src, in, cie->pointer, true, &len);
	if (!r && cie->augmented) {
		r = wire_get_uleb(in, &aug);
		if (!r)
			r = wire_skip(in, aug);
	}
	if (r || !start || start + len < start)
		return r;	/* start 0: dropped by the linker */
	x->cie = cie;
	x->st = cie->initial;
	x->depth = 0;
	x->loc = start;
	x->end = start + len;
	r = cfi_execute(x, in->pos, wire_left(in));
	return r ? r : cfi_emit(x, x->end);
}

/* The entry at `at`, if it is an FDE: 0, negative, or JOB_CORRUPT. */
static int walk_entry(struct cfi_walker *w, size_t at, size_t *next, uint32_t *bad)
{
	struct entry e;
	int r;

	if (get_entry(w, at, &e, next) || !affordable(w, &e))
		return JOB_CORRUPT;
	/* terminators stand in the middle of files, too */
	if (*next - at <= 4 || is_cie(w, &e))
		return 0;
	r = walk_fde(w, &e);
	if (r > 0 && bad)
		++*bad;
	return r < 0 ? r : 0;
}

int cfi_walk(const struct cfi_source *src, cfi_row_fn fn, void *ctx,
	     uint32_t *bad)
{
	struct cfi_walker w = {
		.src = src, .work = CFI_WORK * (uint64_t)src->len,
		.run = { .src = src, .fn = fn, .ctx = ctx },
	};
	size_t at = 0, next;
	int r = 0;

	for (int i = 0; i < CIE_CACHE; i++)
		w.cache[i].at = SIZE_MAX;
	if (src->fdes) {
		for (size_t i = 0; r >= 0 && i < src->n_fdes; i++)
			r = walk_entry(&w, src->fdes[i], &next, bad);
		return r < 0 ? r : 0;
	}
	for (; !r && at < src->len; at = next)
		r = walk_entry(&w, at, &next, bad);
	return r;
}
