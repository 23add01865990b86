// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/unwind/cfi_program.h"

#include <dwarf.h>
#include <elf.h>

#define AARCH64_NEGATE_RA_STATE_WITH_PC	0x2c
#define AARCH64_NEGATE_RA_STATE		0x2d	/* or GNU_window_save */

#define PLT_ENTRY	16	/* bytes */
#define PLT_MAX		(1u << 20)	/* bytes, of all FDEs together */

static int cfi_program_get_signed(struct wire_in *in, int bytes, uint64_t *ret)
{
	uint16_t v16;
	uint32_t v32;
	int r;

	if (bytes == 2) {
		r = wire_get_u16(in, &v16);
		if (!r)
			*ret = (uint64_t)(int64_t)(int16_t)v16;
		return r;
	}
	r = wire_get_u32(in, &v32);
	if (!r)
		*ret = (uint64_t)(int64_t)(int32_t)v32;
	return r;
}

static int cfi_program_get_unsigned(struct wire_in *in, int bytes, uint64_t *ret)
{
	uint8_t v8 = 0;
	uint16_t v16 = 0;
	uint32_t v32 = 0;
	int r;

	switch (bytes) {
	case 1:
		r = wire_get_u8(in, &v8);
		*ret = v8;
		return r;
	case 2:
		r = wire_get_u16(in, &v16);
		*ret = v16;
		return r;
	case 4:
		r = wire_get_u32(in, &v32);
		*ret = v32;
		return r;
	default:
		return wire_get_u64(in, ret);
	}
}

static int cfi_program_get_format(struct wire_in *in, uint8_t format, uint64_t *ret)
{
	switch (format) {
	case 0x00: case 0x04: case 0x0c:
		return cfi_program_get_unsigned(in, 8, ret);
	case 0x01:
		return wire_get_uleb(in, ret);
	case 0x02:
		return cfi_program_get_unsigned(in, 2, ret);
	case 0x03:
		return cfi_program_get_unsigned(in, 4, ret);
	case 0x09:
		return wire_get_sleb(in, (int64_t *)ret);
	case 0x0a:
		return cfi_program_get_signed(in, 2, ret);
	case 0x0b:
		return cfi_program_get_signed(in, 4, ret);
	default:
		return WIRE_FORMAT;
	}
}

int cfi_pointer(const struct cfi_source *src, struct wire_in *in, uint8_t enc,
		bool size_only, uint64_t *ret)
{
	uint64_t at = src->vaddr + (uint64_t)(in->pos - src->data), v = 0;
	int r = cfi_program_get_format(in, enc & PE_FORMAT, &v);

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

static int cfi_program_get_expression(struct wire_in *in, const uint8_t **expr, size_t *len)
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

static int cfi_program_slot_of(const struct cfi_run *x, uint64_t reg)
{
	if (reg == x->cie->ra_reg)
		return CFI_RA;
	return cfi_slot(x->src->machine, reg);
}

static void cfi_program_set_reg(struct cfi_run *x, uint64_t reg, uint8_t how, int64_t value)
{
	int slot = cfi_program_slot_of(x, reg);

	if (slot >= 0)
		x->st.regs[slot] = (struct cfi_reg){ how, value, NULL, 0 };
}

static void cfi_program_restore_reg(struct cfi_run *x, uint64_t reg)
{
	int slot = cfi_program_slot_of(x, reg);

	if (slot >= 0)
		x->st.regs[slot] = x->cie->initial.regs[slot];
}

/* A PLT whose push is not where CFA_PLT expects it: two rows for each entry. */
static int cfi_program_emit_plt(struct cfi_run *x, uint64_t from, uint64_t to,
				const struct unwind_rule *plt)
{
	struct unwind_rule rule = *plt;
	int r = 0;

	rule.aux = 0;
	if (to - from > PLT_MAX - x->plt) {
		rule.cfa = CFA_UNSUPPORTED;
		return x->fn(x->ctx, from, to, &rule);
	}
	rule.cfa = CFA_SP;
	x->plt += to - from;
	while (!r && from < to) {
		uint64_t entry = from & -(uint64_t)PLT_ENTRY;
		uint64_t next = entry + PLT_ENTRY;

		rule.cfa_off = 16;
		if (from < entry + plt->aux) {
			rule.cfa_off = 8;
			next = entry + plt->aux;
		}
		if (next > to || next < from)
			next = to;
		r = x->fn(x->ctx, from, next, &rule);
		from = next;
	}
	return r;
}

int cfi_emit(struct cfi_run *x, uint64_t to)
{
	struct unwind_rule rule;
	uint64_t from = x->loc;

	x->loc = to;
	if (from >= to || from >= x->end)
		return 0;
	if (to > x->end)
		to = x->end;
	cfi_to_rule(x->src->machine, x->cie->signal, &x->st, &rule);
	if (rule.cfa == CFA_PLT && rule.aux)
		return cfi_program_emit_plt(x, from, to, &rule);
	return x->fn(x->ctx, from, to, &rule);
}

static int cfi_program_advance(struct cfi_run *x, uint64_t delta)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(delta, x->cie->code_align, &bytes) ||
	    __builtin_add_overflow(x->loc, bytes, &bytes))
		return WIRE_RANGE;
	return cfi_emit(x, bytes);
}

static int cfi_program_factored(const struct cfi_run *x, uint64_t v, int64_t *ret)
{
	if (__builtin_mul_overflow((int64_t)v, x->cie->data_align, ret))
		return WIRE_RANGE;
	return WIRE_OK;
}

static int cfi_program_op_offset(struct cfi_run *x, struct wire_in *in, uint8_t op,
				 uint64_t reg)
{
	int64_t off = 0;
	uint64_t v = 0;
	int r;

	if (op == DW_CFA_offset_extended_sf || op == DW_CFA_val_offset_sf)
		r = wire_get_sleb(in, (int64_t *)&v);
	else
		r = wire_get_uleb(in, &v);
	if (!r)
		r = cfi_program_factored(x, v, &off);
	if (!r && op == DW_CFA_GNU_negative_offset_extended &&
	    __builtin_sub_overflow(0, off, &off))
		r = WIRE_RANGE;
	if (r)
		return r;
	if (op == DW_CFA_val_offset || op == DW_CFA_val_offset_sf)
		cfi_program_set_reg(x, reg, CFI_VAL_OFFSET, off);
	else
		cfi_program_set_reg(x, reg, CFI_OFFSET, off);
	return 0;
}

static int cfi_program_op_expression(struct cfi_run *x, struct wire_in *in, uint8_t op,
				     uint64_t reg)
{
	int slot = cfi_program_slot_of(x, reg);
	const uint8_t *expr;
	size_t len;
	int r = cfi_program_get_expression(in, &expr, &len);

	if (r || slot < 0)
		return r;
	x->st.regs[slot] = (struct cfi_reg){ CFI_VAL_EXPR, 0, expr, len };
	if (op == DW_CFA_expression)
		x->st.regs[slot].how = CFI_EXPR;
	return 0;
}

/* Operands: a register, then those of the instruction. */
static int cfi_program_op_register(struct cfi_run *x, struct wire_in *in, uint8_t op)
{
	uint64_t reg, v;
	int r = wire_get_uleb(in, &reg);

	if (r)
		return r;
	switch (op) {
	case DW_CFA_restore_extended:
		cfi_program_restore_reg(x, reg);
		return 0;
	case DW_CFA_undefined:
		cfi_program_set_reg(x, reg, CFI_UNDEFINED, 0);
		return 0;
	case DW_CFA_same_value:
		cfi_program_set_reg(x, reg, CFI_SAME, 0);
		return 0;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		return cfi_program_op_expression(x, in, op, reg);
	case DW_CFA_register:
		r = wire_get_uleb(in, &v);
		if (!r)
			cfi_program_set_reg(x, reg, CFI_REGISTER, (int64_t)v);
		return r;
	default:
		return cfi_program_op_offset(x, in, op, reg);
	}
}

static int cfi_program_op_cfa(struct cfi_run *x, struct wire_in *in, uint8_t op)
{
	uint64_t v = 0;
	int64_t off = 0;
	int r = 0;

	if (op == DW_CFA_def_cfa_expression) {
		x->st.cfa_expr = true;
		return cfi_program_get_expression(in, &x->st.expr, &x->st.len);
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
		if (r)
			return r;
		return cfi_program_factored(x, (uint64_t)off, &x->st.cfa_off);
	}
	r = wire_get_uleb(in, &v);
	x->st.cfa_off = (int64_t)v;
	return r;
}

static int cfi_program_op_advance(struct cfi_run *x, struct wire_in *in, uint8_t op)
{
	int bytes = 8, r;	/* DW_CFA_MIPS_advance_loc8 */
	uint64_t v;

	if (op == DW_CFA_advance_loc1)
		bytes = 1;
	else if (op == DW_CFA_advance_loc2)
		bytes = 2;
	else if (op == DW_CFA_advance_loc4)
		bytes = 4;
	r = cfi_program_get_unsigned(in, bytes, &v);
	if (r)
		return r;
	return cfi_program_advance(x, v);
}

static int cfi_program_op_other(struct cfi_run *x, struct wire_in *in, uint8_t op)
{
	uint64_t v;

	switch (op) {
	case DW_CFA_nop:
	case AARCH64_NEGATE_RA_STATE:
	case AARCH64_NEGATE_RA_STATE_WITH_PC:
		return 0;
	case DW_CFA_set_loc:
		/* rows ascend */
		if (cfi_pointer(x->src, in, x->cie->pointer, false, &v) ||
		    v < x->loc)
			return WIRE_FORMAT;
		return cfi_emit(x, v);
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
	case DW_CFA_MIPS_advance_loc8:
		return cfi_program_op_advance(x, in, op);
	case DW_CFA_remember_state:
		if (x->depth == CFI_REMEMBER_MAX)
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
		return cfi_program_op_cfa(x, in, op);
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
		return cfi_program_op_register(x, in, op);
	default:
		return WIRE_FORMAT;
	}
}

int cfi_execute(struct cfi_run *x, const uint8_t *ops, size_t len)
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
			r = cfi_program_advance(x, op & 0x3f);
			break;
		case DW_CFA_offset:
			r = wire_get_uleb(&in, &v);
			if (!r)
				r = cfi_program_factored(x, v, &off);
			if (!r)
				cfi_program_set_reg(x, op & 0x3f, CFI_OFFSET, off);
			break;
		case DW_CFA_restore:
			cfi_program_restore_reg(x, op & 0x3f);
			break;
		default:
			r = cfi_program_op_other(x, &in, op);
		}
	}
	return r;
}
