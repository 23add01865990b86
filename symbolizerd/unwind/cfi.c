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
	uint64_t work;		/* bytes that may still be read */
	struct cfi_run run;	/* of the current FDE */
	struct cfi_cie cache[CIE_CACHE];
};

struct cfi_entry {
	size_t id_at;		/* offset of the CIE id or pointer */
	uint64_t id;
	bool is64;
	struct wire_in body;	/* what follows the id */
};

/* The entry at offset `at`; *next is the offset of the entry after it.  A
 * terminator has an empty body and id 0. */
static int cfi_get_entry(const struct cfi_walker *w, size_t at, struct cfi_entry *e,
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
	*e = (struct cfi_entry){ .is64 = v32 == UINT32_MAX };
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
	if (!r)
		e->id = v32;
	return r;
}

static bool cfi_is_cie(const struct cfi_walker *w, const struct cfi_entry *e)
{
	if (!w->src->debug_frame)
		return e->id == 0;
	return e->id == (e->is64 ? UINT64_MAX : UINT32_MAX);
}

/* Bounds the work: any number of FDEs may refer to a CIE.  False: too much. */
static bool cfi_spend(struct cfi_walker *w, const struct cfi_entry *e)
{
	size_t len = wire_left(&e->body);

	if (w->work < len)
		return false;
	w->work -= len;
	return true;
}

/* --- CIEs ------------------------------------------------------------------- */

/* A pointer to a personality routine. */
static int cfi_skip_personality(const struct cfi_source *src, struct wire_in *in)
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
	if (r)
		return r;
	return cfi_pointer(src, in, enc & PE_FORMAT, true, &v);
}

/* The data of an augmentation string that starts with 'z'. */
static int cfi_augmentation(const struct cfi_source *src, struct wire_in *in,
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
			r = cfi_skip_personality(src, &data);
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
static int cfi_address_size(struct wire_in *in)
{
	uint8_t address, selector;
	int r = wire_get_u8(in, &address);

	if (!r)
		r = wire_get_u8(in, &selector);
	if (!r && (address != 8 || selector))
		r = WIRE_FORMAT;
	return r;
}

static int cfi_parse_cie(const struct cfi_walker *w, struct cfi_entry *e, struct cfi_cie *cie)
{
	struct wire_in *in = &e->body;
	uint8_t version, v8;
	const char *aug;
	int r;

	if (!cfi_is_cie(w, e))
		return WIRE_FORMAT;
	r = wire_get_u8(in, &version);
	if (!r && version != 1 && version != 3 && version != 4)
		r = WIRE_FORMAT;
	if (!r)
		r = wire_get_cstr(in, AUGMENTATION, &aug);
	if (!r && version == 4)
		r = cfi_address_size(in);
	if (!r)
		r = wire_get_uleb(in, &cie->code_align);
	if (!r)
		r = wire_get_sleb(in, &cie->data_align);
	if (!r && version == 1) {
		r = wire_get_u8(in, &v8);
		if (!r)
			cie->ra_reg = v8;
	} else if (!r) {
		r = wire_get_uleb(in, &cie->ra_reg);
	}
	if (!r && aug[0] == 'z')
		r = cfi_augmentation(w->src, in, aug, cie);
	else if (!r && aug[0])
		r = WIRE_FORMAT;	/* "eh" and such: gcc before 3.0 */
	if (r)
		return r;
	cie->ops = in->pos;
	cie->len = wire_left(in);
	return WIRE_OK;
}

/* With loc == end == 0, a program that advances delivers no rows. */
static int cfi_execute_cie(const struct cfi_source *src, struct cfi_cie *cie)
{
	struct cfi_run x = { .src = src, .cie = cie };
	int r = cfi_execute(&x, cie->ops, cie->len);

	cie->initial = x.st;
	return r;
}

static const struct cfi_cie *cfi_get_cie(struct cfi_walker *w, size_t at)
{
	struct cfi_cie *cie = &w->cache[at / 4 % CIE_CACHE];
	struct cfi_entry e;
	size_t next;

	if (cie->at == at && cie->verdict)
		return NULL;
	if (cie->at == at)
		return cie;
	*cie = (struct cfi_cie){ .at = at };
	cie->verdict = cfi_get_entry(w, at, &e, &next);
	if (!cie->verdict && !cfi_spend(w, &e))
		cie->verdict = WIRE_RANGE;
	if (!cie->verdict)
		cie->verdict = cfi_parse_cie(w, &e, cie);
	if (!cie->verdict)
		cie->verdict = cfi_execute_cie(w->src, cie);
	if (cie->verdict)
		return NULL;
	return cie;
}

/* --- FDEs ------------------------------------------------------------------- */

/* In .debug_frame an offset into the section, in .eh_frame a distance back. */
static bool cfi_cie_offset(const struct cfi_walker *w, const struct cfi_entry *e, size_t *ret)
{
	if (w->src->debug_frame) {
		*ret = e->id;
		return e->id <= w->src->len;
	}
	*ret = e->id_at - e->id;
	return e->id <= e->id_at;
}

/* 0; positive: the FDE is broken; negative: what fn returned. */
static int cfi_walk_fde(struct cfi_walker *w, struct cfi_entry *e)
{
	const struct cfi_cie *cie;
	struct wire_in *in = &e->body;
	uint64_t start, len, aug;
	struct cfi_run *x = &w->run;
	size_t cie_at;
	int r;

	if (!cfi_cie_offset(w, e, &cie_at))
		return WIRE_RANGE;
	cie = cfi_get_cie(w, cie_at);
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
	if (r)
		return r;
	return cfi_emit(x, x->end);
}

/* The entry at `at`, if it is an FDE: 0, negative, or JOB_CORRUPT. */
static int cfi_walk_entry(struct cfi_walker *w, size_t at, size_t *next, uint32_t *bad)
{
	struct cfi_entry e;
	int r;

	if (cfi_get_entry(w, at, &e, next) || !cfi_spend(w, &e))
		return JOB_CORRUPT;
	/* a terminator may be followed by more entries */
	if (*next - at <= 4 || cfi_is_cie(w, &e))
		return 0;
	r = cfi_walk_fde(w, &e);
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
			r = cfi_walk_entry(&w, src->fdes[i], &next, bad);
		return r < 0 ? r : 0;
	}
	for (; !r && at < src->len; at = next)
		r = cfi_walk_entry(&w, at, &next, bad);
	return r;
}
