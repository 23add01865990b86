// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/unwind/cfi_rule.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "common/wire.h"

#define X86_SP	7
#define ARM_SP	31
#define ARM_LR	30

/* DWARF numbers: x86-64 rbx r12 r13 r14 r15, rbp, return address column;
 * AArch64 x19-x23, x29, x30; then the stack pointer */
static const uint8_t x86_regs[CFI_REGS] = { 3, 12, 13, 14, 15, 6, 16, X86_SP };
static const uint8_t arm_regs[CFI_REGS] = {
	19, 20, 21, 22, 23, 29, ARM_LR, ARM_SP,
};

/* from regs[SAVED_REGS] on: rax rdx rcx rsi rdi r8-r11; x30 */
static const uint8_t x86_clobbered[] = { 0, 1, 2, 4, 5, 8, 9, 10, 11 };
static const uint8_t arm_clobbered[] = { 30 };

int cfi_slot(uint16_t machine, uint64_t reg)
{
	const uint8_t *regs = machine == EM_X86_64 ? x86_regs : arm_regs;

	for (int i = 0; i < CFI_REGS; i++) {
		if (regs[i] == reg)
			return i;
	}
	return -1;
}

/* Index into unwind_state.regs of a DWARF register, or -1. */
static int cfi_rule_tracked(uint16_t machine, uint64_t reg)
{
	const uint8_t *more = arm_clobbered;
	size_t n = sizeof(arm_clobbered);
	int slot = cfi_slot(machine, reg);

	if (machine == EM_X86_64) {
		more = x86_clobbered;
		n = sizeof(x86_clobbered);
	}
	if (slot >= 0 && slot < SAVED_REGS)
		return slot;
	for (size_t i = 0; i < n; i++) {
		if (more[i] == reg)
			return SAVED_REGS + i;
	}
	return -1;
}

static bool cfi_rule_fits32(int64_t v)
{
	return v >= INT32_MIN && v <= INT32_MAX;
}

/* A CFA that is this register plus an offset, or (deref) is in memory there.
 * False: a rule cannot be based on this register. */
static bool cfi_rule_base(uint16_t machine, uint64_t reg, bool deref,
			  struct unwind_rule *r)
{
	static const uint8_t kinds[][2] = {
		{ CFA_SP, CFA_SP_DEREF }, { CFA_FP, CFA_FP_DEREF },
		{ CFA_REG, CFA_REG_DEREF },
	};
	int i = cfi_rule_tracked(machine, reg);

	if (i >= 0)
		r->cfa_reg = i;
	if (cfi_slot(machine, reg) == CFI_SP)
		r->cfa = kinds[0][deref];
	else if (cfi_slot(machine, reg) == CFI_FP)
		r->cfa = kinds[1][deref];
	else if (i >= 0)
		r->cfa = kinds[2][deref];
	return r->cfa != CFA_NONE;
}

/* DW_OP_bregN: its register and offset; false: another operation. */
static bool cfi_rule_breg(struct wire_in *in, uint64_t *reg, int64_t *off)
{
	struct wire_in try = *in;
	uint8_t op;

	if (wire_get_u8(&try, &op) || op < DW_OP_breg0 || op > DW_OP_breg31 ||
	    wire_get_sleb(&try, off))
		return false;
	*reg = op - DW_OP_breg0;
	*in = try;
	return true;
}

/* The expression that linkers write for a lazy PLT: the CFA moves by 8 at the push,
 * which ends at byte 11 of the 16 in most layouts. */
static bool cfi_rule_plt(const struct cfi_state *st, struct unwind_rule *r)
{
	static const uint8_t plt[] = {
		DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and,
		DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus,
	};
	uint8_t at;

	if (st->len != sizeof(plt) || memcmp(st->expr, plt, 6) ||
	    memcmp(st->expr + 7, plt + 7, sizeof(plt) - 7))
		return false;
	at = st->expr[6] - DW_OP_lit0;
	if (at < 1 || at > 15)
		return false;
	r->cfa = CFA_PLT;
	if (at != 11)
		r->aux = at;
	return true;
}

/* --- the value of a small expression ------------------------------------------------ */

#define VALUES_MAX	4

/* mem: *(register + off) + more; number: off; otherwise register + off. */
struct cfi_value {
	uint64_t reg;
	int64_t off, more;
	bool number, mem;
};

/* An operation that only pushes: a number, or a register and an offset.  False:
 * another operation, and *in is untouched. */
static bool cfi_rule_pushed(struct wire_in *in, struct cfi_value *ret)
{
	struct wire_in try = *in;
	uint64_t v = 0;
	uint8_t op, b = 0;
	int r = 0;

	*ret = (struct cfi_value){ 0 };
	if (cfi_rule_breg(in, &ret->reg, &ret->off))
		return true;
	if (wire_get_u8(&try, &op))
		return false;
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		v = op - DW_OP_lit0;
	} else if (op == DW_OP_const1u || op == DW_OP_const1s) {
		r = wire_get_u8(&try, &b);
		v = b;
		if (op == DW_OP_const1s)
			v = (uint64_t)(int8_t)b;
	} else if (op == DW_OP_constu) {
		r = wire_get_uleb(&try, &v);
	} else if (op == DW_OP_consts) {
		r = wire_get_sleb(&try, (int64_t *)&v);
	} else {
		return false;
	}
	*ret = (struct cfi_value){ .number = true, .off = (int64_t)v };
	*in = try;
	return !r;
}

static bool cfi_rule_value_add(struct cfi_value *v, int64_t by)
{
	int64_t *to = v->mem ? &v->more : &v->off;

	return !__builtin_add_overflow(*to, by, to);
}

/* *a becomes a + b or a - b.  False: neither is a number, or it overflows. */
static bool cfi_rule_value_sum(struct cfi_value *a, const struct cfi_value *b, bool minus)
{
	struct cfi_value sum = *a;
	int64_t by = b->off;

	if (minus && (!b->number || __builtin_sub_overflow(0, by, &by)))
		return false;
	if (!b->number && !a->number)
		return false;
	if (!b->number) {
		sum = *b;
		by = a->off;
	}
	*a = sum;
	return cfi_rule_value_add(a, by);
}

/* One operation on a stack of n values; its new depth, or -1: not supported. */
static int cfi_rule_operate(struct wire_in *in, struct cfi_value *v, int n)
{
	uint64_t by;
	uint8_t op;

	if (n < VALUES_MAX && cfi_rule_pushed(in, &v[n]))
		return n + 1;
	if (wire_get_u8(in, &op))
		return -1;
	switch (op) {
	case DW_OP_nop:
		return n;
	case DW_OP_deref:
		if (!n || v[n - 1].mem || v[n - 1].number)
			return -1;
		v[n - 1].mem = true;
		return n;
	case DW_OP_plus_uconst:
		if (!n || wire_get_uleb(in, &by) || by > INT64_MAX ||
		    !cfi_rule_value_add(&v[n - 1], (int64_t)by))
			return -1;
		return n;
	case DW_OP_plus:
	case DW_OP_minus:
		if (n < 2 || !cfi_rule_value_sum(&v[n - 2], &v[n - 1], op == DW_OP_minus))
			return -1;
		return n - 1;
	default:
		return -1;
	}
}

/* The value of an expression, if a struct cfi_value can represent it. */
static bool cfi_rule_evaluate(const uint8_t *expr, size_t len, struct cfi_value *ret)
{
	struct cfi_value v[VALUES_MAX];
	struct wire_in in;
	int n = 0;

	wire_init(&in, expr, len, false);
	do {
		n = cfi_rule_operate(&in, v, n);
	} while (n >= 0 && wire_left(&in));
	*ret = v[0];
	return n == 1 && !v[0].number;
}

static bool cfi_rule_cfa_expression(uint16_t machine, const struct cfi_state *st,
				    struct unwind_rule *r)
{
	struct cfi_value v;

	if (machine == EM_X86_64 && cfi_rule_plt(st, r))
		return true;
	if (!cfi_rule_evaluate(st->expr, st->len, &v) || !cfi_rule_fits32(v.off) ||
	    !cfi_rule_fits32(v.more) || !cfi_rule_base(machine, v.reg, v.mem, r))
		return false;
	r->cfa_off = v.off;
	r->aux = v.more;
	return true;
}

/* Saved at a constant distance from the frame pointer, by an expression? */
static bool cfi_rule_at_fp(uint16_t machine, const struct cfi_reg *reg, int64_t *off)
{
	struct wire_in in;
	uint64_t n;

	if (reg->how != CFI_EXPR)
		return false;
	wire_init(&in, reg->expr, reg->len, false);
	return cfi_rule_breg(&in, &n, off) && !wire_done(&in) &&
	       cfi_slot(machine, n) == CFI_FP && cfi_rule_fits32(*off);
}

/*
 * Where slot i is saved: an offset from the CFA or, in functions that realign
 * their stack, from FP.  False: a rule cannot say where.
 */
static bool cfi_rule_saved_at(uint16_t machine, const struct cfi_state *st, int i,
			      int64_t *off, struct unwind_rule *r)
{
	if (st->regs[i].how == CFI_OFFSET)
		*off = st->regs[i].value;
	else if (cfi_rule_at_fp(machine, &st->regs[i], off))
		r->by_fp |= 1 << i;
	else
		return false;
	return true;
}

static void cfi_rule_saved_registers(uint16_t machine, const struct cfi_state *st,
				     struct unwind_rule *r)
{
	int64_t off;

	if (cfi_rule_saved_at(machine, st, CFI_FP, &off, r) && cfi_rule_fits32(off)) {
		r->saved |= 1 << SAVED_FP;
		r->fp_off = off;
	}
	for (int i = 0; i < SAVED_REGS; i++) {
		if (!cfi_rule_saved_at(machine, st, i, &off, r) || off % 8 ||
		    off / 8 < INT16_MIN || off / 8 > INT16_MAX)
			continue;
		r->saved |= 1 << i;
		r->reg_off[i] = off / 8;
	}
	r->by_fp &= r->saved;
}

static bool cfi_rule_return_address(uint16_t machine, const struct cfi_state *st,
				    struct unwind_rule *r)
{
	const struct cfi_reg *ra = &st->regs[CFI_RA];
	int i = -1;

	if (ra->how == CFI_OFFSET && cfi_rule_fits32(ra->value)) {
		r->ra_off = ra->value;
		return true;
	}
	if (ra->how == CFI_REGISTER)
		i = cfi_rule_tracked(machine, ra->value);
	else if (ra->how == CFI_SAME && machine == EM_AARCH64)
		i = cfi_rule_tracked(machine, ARM_LR);
	if (i < 0)
		return false;
	r->ra = RA_REG;
	r->ra_reg = i;
	return true;
}

/*
 * A signal frame whose registers are where the kernel puts them.  x86-64: the
 * caller's sp is at sp + 160 (asm/sigcontext.h, after 40 bytes of ucontext).
 * AArch64: the kernel's own trampoline, the only one there is.
 */
static bool cfi_rule_is_signal(uint16_t machine, const struct cfi_state *st)
{
	struct unwind_rule r = { 0 };

	if (machine == EM_AARCH64)
		return true;
	return st->cfa_expr && cfi_rule_cfa_expression(machine, st, &r) &&
	       r.cfa == CFA_SP_DEREF && r.cfa_off == 160 && !r.aux;
}

/*
 * Where the caller's sp is not the CFA (GHC's StgRun), make everything relative to
 * that sp.  False if that is not possible (longjmp(), setcontext()).
 */
static bool cfi_rule_move_to_sp(struct cfi_state *st)
{
	const struct cfi_reg *sp = &st->regs[CFI_SP];
	int64_t by = sp->value;
	struct wire_in in;
	uint64_t reg;

	if (sp->how == CFI_VAL_EXPR) {
		wire_init(&in, sp->expr, sp->len, false);
		if (!cfi_rule_breg(&in, &reg, &by) || wire_done(&in) || st->cfa_expr ||
		    reg != st->cfa_reg || !cfi_rule_fits32(by) || !cfi_rule_fits32(st->cfa_off))
			return false;
		by -= st->cfa_off;
	} else if (sp->how != CFI_VAL_OFFSET || !cfi_rule_fits32(by)) {
		return false;
	}
	if (by && (st->cfa_expr || !cfi_rule_fits32(st->cfa_off)))
		return false;
	st->cfa_off += by;
	for (int i = 0; i < CFI_REGS; i++) {
		if (__builtin_sub_overflow(st->regs[i].value, by,
					   &st->regs[i].value))
			return false;
	}
	return true;
}

void cfi_to_rule(uint16_t machine, bool signal, const struct cfi_state *st,
		 struct unwind_rule *ret)
{
	struct unwind_rule r = { 0 };
	struct cfi_state moved;
	bool ok = true;

	if (st->regs[CFI_RA].how == CFI_UNDEFINED) {
		r.cfa = CFA_END;
		*ret = r;
		return;
	}
	if (signal && cfi_rule_is_signal(machine, st)) {
		r.cfa = CFA_SIGNAL;
		*ret = r;
		return;
	}
	if (st->regs[CFI_SP].how != CFI_SAME) {
		moved = *st;
		ok = cfi_rule_move_to_sp(&moved);
		st = &moved;
	}
	if (st->cfa_expr) {
		ok = ok && cfi_rule_cfa_expression(machine, st, &r);
	} else {
		ok = ok && cfi_rule_fits32(st->cfa_off) &&
		     cfi_rule_base(machine, st->cfa_reg, false, &r);
		r.cfa_off = st->cfa_off;
	}
	if (!ok || !cfi_rule_return_address(machine, st, &r)) {
		*ret = (struct unwind_rule){ .cfa = CFA_UNSUPPORTED };
		return;
	}
	cfi_rule_saved_registers(machine, st, &r);
	/* where programs switch stacks, it is so found, maybe at lower addresses */
	if (r.cfa == CFA_REG || r.cfa == CFA_SP_DEREF || r.cfa == CFA_FP_DEREF ||
	    r.cfa == CFA_REG_DEREF)
		r.saved |= RULE_ELSEWHERE;
	*ret = r;
}
