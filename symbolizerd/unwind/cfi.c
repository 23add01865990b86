// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/unwind/cfi.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "common/wire.h"
#include "ipc/message.h"
#include "symbolizerd/unwind/cfi_rule.h"

#define REMEMBER_MAX	16
#define CIE_CACHE	64

/* LSB 5.0, 10.5.1: DW_EH_PE_* */
#define PE_OMIT		0xff
#define PE_FORMAT	0x0f
#define PE_PCREL	0x10
#define PE_APPLY	0x70
#define PE_INDIRECT	0x80

struct cie {
	size_t at;		/* offset of its length field; SIZE_MAX: none */
	int verdict;		/* parsed once, good or bad */
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_reg;
	uint8_t pointer;	/* encoding of addresses in FDEs */
	bool augmented;		/* FDEs carry augmentation data */
	bool signal;
	const uint8_t *ops;
	size_t len;
	struct cfi_state initial;
};

struct walk {
	const struct cfi_source *src;
	cfi_row_fn fn;
	void *ctx;
	struct cie cache[CIE_CACHE];
};

struct run {			/* one FDE's program */
	struct walk *w;
	const struct cie *cie;
	struct cfi_state st;
	struct cfi_state stack[REMEMBER_MAX];
	unsigned int depth;
	uint64_t loc, end;
};

/* An entry of the section: its body behind the length, and the CIE pointer. */
struct entry {
	size_t at;		/* of the length field */
	size_t id_at;		/* of the CIE id or pointer */
	uint64_t id;
	bool is64;
	struct wire_in body;	/* behind the id */
};

static uint64_t vaddr_of(const struct walk *w, const struct wire_in *in)
{
	return w->src->vaddr + (uint64_t)(in->pos - w->src->data);
}

static int get_signed(struct wire_in *in, int bytes, uint64_t *ret)
{
	uint16_t v16;
	uint32_t v32;
	int r;

	if (bytes == 2) {
		r = wire_get_u16(in, &v16);
		*ret = r ? 0 : (uint64_t)(int64_t)(int16_t)v16;
		return r;
	}
	r = wire_get_u32(in, &v32);
	*ret = r ? 0 : (uint64_t)(int64_t)(int32_t)v32;
	return r;
}

/* A pointer as .eh_frame encodes it; size_only: a length, never relative. */
static int get_pointer(struct walk *w, struct wire_in *in, uint8_t enc,
		       bool size_only, uint64_t *ret)
{
	uint64_t at = vaddr_of(w, in), v = 0;
	uint32_t v32;
	uint16_t v16;
	int r;

	switch (enc & PE_FORMAT) {
	case 0x00: case 0x04: case 0x0c:
		r = wire_get_u64(in, &v);
		break;
	case 0x01:
		r = wire_get_uleb(in, &v);
		break;
	case 0x02:
		r = wire_get_u16(in, &v16);
		v = r ? 0 : v16;
		break;
	case 0x03:
		r = wire_get_u32(in, &v32);
		v = r ? 0 : v32;
		break;
	case 0x09:
		r = wire_get_sleb(in, (int64_t *)&v);
		break;
	case 0x0a:
		r = get_signed(in, 2, &v);
		break;
	case 0x0b:
		r = get_signed(in, 4, &v);
		break;
	default:
		return WIRE_FORMAT;
	}
	if (r)
		return r;
	if (!size_only && (enc & PE_APPLY) == PE_PCREL)
		v += at;
	else if (!size_only && (enc & PE_APPLY))
		return WIRE_FORMAT;
	*ret = v;
	return WIRE_OK;
}

/* --- the program ------------------------------------------------------------ */

static int get_expr(struct wire_in *in, const uint8_t **expr, size_t *len)
{
	struct wire_in sub;
	uint64_t n;
	int r = wire_get_uleb(in, &n);

	if (!r)
		r = wire_get_sub(in, n, &sub);
	if (r)
		return r;
	*expr = sub.pos;
	*len = n;
	return WIRE_OK;
}

static void set_reg(struct run *x, uint64_t reg, uint8_t how, int64_t value)
{
	int slot = reg == x->cie->ra_reg ? CFI_RA :
		   cfi_slot(x->w->src->machine, reg);

	if (slot >= 0)
		x->st.regs[slot] = (struct cfi_reg){ how, value, NULL, 0 };
}

static void restore_reg(struct run *x, uint64_t reg)
{
	int slot = reg == x->cie->ra_reg ? CFI_RA :
		   cfi_slot(x->w->src->machine, reg);

	if (slot >= 0)
		x->st.regs[slot] = x->cie->initial.regs[slot];
}

static int emit(struct run *x, uint64_t to)
{
	struct unwind_rule rule;
	uint64_t from = x->loc;

	x->loc = to;
	if (from >= to || from >= x->end)
		return 0;
	cfi_to_rule(x->w->src->machine, x->cie->signal, &x->st, &rule);
	return x->w->fn(x->w->ctx, from, to < x->end ? to : x->end, &rule);
}

static int advance(struct run *x, uint64_t delta)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(delta, x->cie->code_align, &bytes) ||
	    __builtin_add_overflow(x->loc, bytes, &bytes))
		return WIRE_RANGE;
	return emit(x, bytes);
}

static int factored(const struct run *x, uint64_t v, int64_t *ret)
{
	return __builtin_mul_overflow((int64_t)v, x->cie->data_align, ret) ?
	       WIRE_RANGE : WIRE_OK;
}

/* Offsets: operand forms are reg, then offset (unsigned or signed), or less. */
static int op_register(struct run *x, struct wire_in *in, uint8_t op)
{
	uint64_t reg, v = 0;
	const uint8_t *expr;
	int64_t off = 0;
	size_t len;
	int r = wire_get_uleb(in, &reg);

	if (r)
		return r;
	switch (op) {
	case DW_CFA_offset_extended:
	case DW_CFA_GNU_negative_offset_extended:
		r = wire_get_uleb(in, &v);
		if (!r)
			r = factored(x, v, &off);
		set_reg(x, reg, CFI_OFFSET,
			op == DW_CFA_offset_extended ? off : -off);
		return r;
	case DW_CFA_offset_extended_sf:
		r = wire_get_sleb(in, &off);
		if (!r)
			r = factored(x, (uint64_t)off, &off);
		set_reg(x, reg, CFI_OFFSET, off);
		return r;
	case DW_CFA_restore_extended:
		restore_reg(x, reg);
		return 0;
	case DW_CFA_undefined:
		set_reg(x, reg, CFI_UNDEFINED, 0);
		return 0;
	case DW_CFA_same_value:
		set_reg(x, reg, CFI_SAME, 0);
		return 0;
	case DW_CFA_expression:
		r = get_expr(in, &expr, &len);
		if (!r) {
			int slot = reg == x->cie->ra_reg ? CFI_RA :
				   cfi_slot(x->w->src->machine, reg);

			if (slot >= 0)
				x->st.regs[slot] = (struct cfi_reg){
					CFI_EXPR, 0, expr, len };
		}
		return r;
	case DW_CFA_val_expression:
		r = get_expr(in, &expr, &len);
		set_reg(x, reg, CFI_OTHER, 0);
		return r;
	case DW_CFA_val_offset_sf:
		r = wire_get_sleb(in, &off);
		set_reg(x, reg, CFI_OTHER, 0);
		return r;
	case DW_CFA_register:
		r = wire_get_uleb(in, &v);
		set_reg(x, reg, CFI_REGISTER, (int64_t)v);
		return r;
	default:		/* DW_CFA_val_offset */
		r = wire_get_uleb(in, &v);
		set_reg(x, reg, CFI_OTHER, 0);
		return r;
	}
}

static int op_cfa(struct run *x, struct wire_in *in, uint8_t op)
{
	uint64_t v = 0;
	int64_t off = 0;
	int r = 0;

	if (op == DW_CFA_def_cfa_expression) {
		x->st.cfa_expr = true;
		return get_expr(in, &x->st.expr, &x->st.len);
	}
	if (op == DW_CFA_def_cfa || op == DW_CFA_def_cfa_sf ||
	    op == DW_CFA_def_cfa_register) {
		r = wire_get_uleb(in, &x->st.cfa_reg);
		x->st.cfa_expr = false;
	}
	if (r || op == DW_CFA_def_cfa_register)
		return r;
	if (op == DW_CFA_def_cfa_sf || op == DW_CFA_def_cfa_offset_sf) {
		r = wire_get_sleb(in, &off);
		return r ? r : factored(x, (uint64_t)off, &x->st.cfa_off);
	}
	r = wire_get_uleb(in, &v);
	x->st.cfa_off = (int64_t)v;
	return r;
}

static int op_advance(struct run *x, struct wire_in *in, uint8_t op)
{
	uint64_t v = 0;
	uint8_t v8;
	uint16_t v16;
	uint32_t v32;
	int r;

	if (op == DW_CFA_advance_loc1) {
		r = wire_get_u8(in, &v8);
		v = r ? 0 : v8;
	} else if (op == DW_CFA_advance_loc2) {
		r = wire_get_u16(in, &v16);
		v = r ? 0 : v16;
	} else if (op == DW_CFA_advance_loc4) {
		r = wire_get_u32(in, &v32);
		v = r ? 0 : v32;
	} else {
		r = wire_get_u64(in, &v);	/* MIPS_advance_loc8 */
	}
	return r ? r : advance(x, v);
}

static int op_other(struct run *x, struct wire_in *in, uint8_t op)
{
	uint64_t v;

	switch (op) {
	case DW_CFA_nop:
	case 0x2d:		/* AARCH64_negate_ra_state, GNU_window_save */
		return 0;
	case DW_CFA_set_loc:
		if (get_pointer(x->w, in, x->cie->pointer, false, &v))
			return WIRE_FORMAT;
		return emit(x, v);
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
	case DW_CFA_MIPS_advance_loc8:
		return op_advance(x, in, op);
	case DW_CFA_remember_state:
		if (x->depth == REMEMBER_MAX)
			return WIRE_RANGE;
		x->stack[x->depth++] = x->st;
		return 0;
	case DW_CFA_restore_state:
		if (!x->depth)
			return WIRE_FORMAT;
		x->st = x->stack[--x->depth];
		return 0;
	case DW_CFA_GNU_args_size:
		return wire_get_uleb(in, &v);
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		return op_cfa(x, in, op);
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_GNU_negative_offset_extended:
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_register:
	case DW_CFA_expression:
	case DW_CFA_val_expression:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		return op_register(x, in, op);
	default:
		return WIRE_FORMAT;
	}
}

/* Positive or negative: what is wrong, or what fn returned. */
static int execute(struct run *x, const uint8_t *ops, size_t len)
{
	struct wire_in in;
	int r = 0;

	wire_init(&in, ops, len, false);
	while (!r && wire_left(&in)) {
		uint64_t v;
		uint8_t op;
		int64_t off;

		r = wire_get_u8(&in, &op);
		if (r)
			return r;
		switch (op & 0xc0) {
		case DW_CFA_advance_loc:
			r = advance(x, op & 0x3f);
			break;
		case DW_CFA_offset:
			r = wire_get_uleb(&in, &v);
			if (!r)
				r = factored(x, v, &off);
			if (!r)
				set_reg(x, op & 0x3f, CFI_OFFSET, off);
			break;
		case DW_CFA_restore:
			restore_reg(x, op & 0x3f);
			break;
		default:
			r = op_other(x, &in, op);
		}
	}
	return r;
}

/* --- entries ---------------------------------------------------------------- */

/* The entry at `at`; *next is where the one behind it begins.  A terminator
 * has an empty body and id 0. */
static int get_entry(const struct walk *w, size_t at, struct entry *e,
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
	*e = (struct entry){ .at = at, .is64 = v32 == UINT32_MAX };
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

static bool is_cie(const struct walk *w, const struct entry *e)
{
	if (!w->src->debug_frame)
		return e->id == 0;
	return e->id == (e->is64 ? UINT64_MAX : UINT32_MAX);
}

/* The data behind an augmentation string that starts with 'z'. */
static int augmentation(struct walk *w, struct wire_in *in, const char *aug,
			struct cie *cie)
{
	struct wire_in data;
	uint64_t len, v;
	uint8_t enc;
	int r = wire_get_uleb(in, &len);

	if (!r)
		r = wire_get_sub(in, len, &data);
	for (aug++; !r && *aug; aug++) {
		switch (*aug) {
		case 'R':
			r = wire_get_u8(&data, &cie->pointer);
			break;
		case 'L':
			r = wire_get_u8(&data, &enc);
			break;
		case 'P':
			r = wire_get_u8(&data, &enc);
			if (!r)
				r = get_pointer(w, &data, enc & PE_FORMAT, true,
						&v);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B':	/* AArch64: signed with the B key */
		case 'G':	/* AArch64: memory tagged */
			break;
		default:
			return r;	/* unknown: its length was told */
		}
	}
	cie->augmented = true;
	return r;
}

static int parse_cie(struct walk *w, struct entry *e, struct cie *cie)
{
	struct wire_in *in = &e->body;
	uint8_t version, v8;
	const char *aug;
	int r;

	if (!is_cie(w, e))
		return WIRE_FORMAT;
	r = wire_get_u8(in, &version);
	if (!r)
		r = wire_get_cstr(in, 32, &aug);
	if (!r && version == 4)
		r = wire_skip(in, 2);	/* address and segment selector size */
	if (!r && version != 1 && version != 3 && version != 4)
		r = WIRE_FORMAT;
	if (!r)
		r = wire_get_uleb(in, &cie->code_align);
	if (!r)
		r = wire_get_sleb(in, &cie->data_align);
	if (!r && version == 1) {
		r = wire_get_u8(in, &v8);
		cie->ra_reg = v8;
	} else if (!r) {
		r = wire_get_uleb(in, &cie->ra_reg);
	}
	if (!r && aug[0] == 'z')
		r = augmentation(w, in, aug, cie);
	else if (!r && aug[0])
		r = WIRE_FORMAT;	/* "eh" and such: no gcc since 3.0 */
	if (r)
		return r;
	cie->ops = in->pos;
	cie->len = wire_left(in);
	return WIRE_OK;
}

static const struct cie *get_cie(struct walk *w, size_t at)
{
	struct cie *cie = &w->cache[at / 4 % CIE_CACHE];
	struct entry e;
	struct run x;
	size_t next;

	if (cie->at == at)
		return cie->verdict ? NULL : cie;
	*cie = (struct cie){ .at = at };
	cie->verdict = get_entry(w, at, &e, &next);
	if (!cie->verdict)
		cie->verdict = parse_cie(w, &e, cie);
	if (cie->verdict)
		return NULL;
	/* loc == end == 0: a program that advances emits nothing */
	x = (struct run){ .w = w, .cie = cie };
	cie->verdict = execute(&x, cie->ops, cie->len);
	cie->initial = x.st;
	return cie->verdict ? NULL : cie;
}

/* 0; positive: broken; negative: what fn returned, negated. */
static int walk_fde(struct walk *w, struct entry *e)
{
	size_t cie_at = w->src->debug_frame ? e->id : e->id_at - e->id;
	const struct cie *cie;
	struct wire_in *in = &e->body;
	uint64_t start, len, aug;
	struct run x;
	int r;

	if ((w->src->debug_frame ? e->id > w->src->len : e->id > e->id_at))
		return WIRE_RANGE;
	cie = get_cie(w, cie_at);
	if (!cie)
		return WIRE_FORMAT;
	r = get_pointer(w, in, cie->pointer, false, &start);
	if (!r && (cie->pointer & PE_INDIRECT))
		r = WIRE_FORMAT;
	if (!r)
		r = get_pointer(w, in, cie->pointer, true, &len);
	if (!r && cie->augmented) {
		r = wire_get_uleb(in, &aug);
		if (!r)
			r = wire_skip(in, aug);
	}
	if (r || !start || start + len < start)
		return r ? r : 0;	/* 0: dropped by the linker */
	x = (struct run){ .w = w, .cie = cie, .st = cie->initial, .loc = start,
			  .end = start + len };
	r = execute(&x, in->pos, wire_left(in));
	return r ? r : emit(&x, x.end);
}

int cfi_walk(const struct cfi_source *src, cfi_row_fn fn, void *ctx,
	     uint32_t *bad)
{
	struct walk w = { .src = src, .fn = fn, .ctx = ctx };
	size_t at = 0, next;
	struct entry e;
	int r;

	for (int i = 0; i < CIE_CACHE; i++)
		w.cache[i].at = SIZE_MAX;
	for (; at < src->len; at = next) {
		if (get_entry(&w, at, &e, &next))
			return JOB_CORRUPT;
		/* terminators stand in the middle of files, too */
		if (next - at <= 4 || is_cie(&w, &e))
			continue;
		r = walk_fde(&w, &e);
		if (r < 0)
			return r;
		if (r > 0 && bad)
			++*bad;
	}
	return 0;
}
