// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/unwind/cfi_rule.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "common/wire.h"

/* DWARF numbers: x86-64 rbx r12 r13 r14 r15, rbp, return address column;
 * AArch64 x19-x23, x29, x30 */
static const uint8_t x86_regs[CFI_REGS] = { 3, 12, 13, 14, 15, 6, 16 };
static const uint8_t arm_regs[CFI_REGS] = { 19, 20, 21, 22, 23, 29, 30 };
#define X86_SP	7
#define X86_RDI	5
#define ARM_SP	31

int cfi_slot(uint16_t machine, uint64_t reg)
{
	const uint8_t *regs = machine == EM_X86_64 ? x86_regs : arm_regs;

	for (int i = 0; i < CFI_REGS; i++) {
		if (regs[i] == reg)
			return i;
	}
	return -1;
}

static bool fits32(int64_t v)
{
	return v >= INT32_MIN && v <= INT32_MAX;
}

/* Which kind of base a register is; plain or to be dereferenced. */
static bool base(uint16_t machine, uint64_t reg, bool deref,
		 struct unwind_rule *r)
{
	int slot = cfi_slot(machine, reg);

	if (reg == (machine == EM_X86_64 ? X86_SP : ARM_SP))
		r->cfa = deref ? CFA_SP_DEREF : CFA_SP;
	else if (slot == CFI_FP)
		r->cfa = deref ? CFA_FP_DEREF : CFA_FP;
	else if (slot >= 0 && slot < SAVED_REGS)
		r->cfa = deref ? CFA_REG_DEREF : CFA_REG;
	else
		return false;
	if (slot >= 0 && slot < SAVED_REGS)
		r->cfa_reg = slot;
	return true;
}

/* DW_OP_bregN off: its register and offset; false if it is something else. */
static bool breg(struct wire_in *in, uint64_t *reg, int64_t *off)
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

/* What the linkers write for a lazy PLT: the CFA moves by 8 at its push, which
 * ends at byte 11 of the 16 in most layouts, elsewhere in others. */
static bool is_plt(const struct cfi_state *st, struct unwind_rule *r)
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
	r->aux = at == 11 ? 0 : at;
	return true;
}

/* bregN off; deref; [plus_uconst k] */
static bool cfa_expression(uint16_t machine, const struct cfi_state *st,
			   struct unwind_rule *r)
{
	struct wire_in in;
	uint64_t reg, plus = 0;
	int64_t off;
	uint8_t op;

	if (machine == EM_X86_64 && is_plt(st, r))
		return true;
	wire_init(&in, st->expr, st->len, false);
	if (!breg(&in, &reg, &off) || wire_get_u8(&in, &op) ||
	    op != DW_OP_deref)
		return false;
	if (wire_left(&in) && (wire_get_u8(&in, &op) ||
			       op != DW_OP_plus_uconst ||
			       wire_get_uleb(&in, &plus)))
		return false;
	if (wire_done(&in) || !fits32(off) || plus > INT32_MAX ||
	    !base(machine, reg, true, r))
		return false;
	r->cfa_off = off;
	r->aux = plus;
	return true;
}

/* Saved at a constant distance from the frame pointer, by an expression? */
static bool at_fp(uint16_t machine, const struct cfi_reg *reg, int64_t *off)
{
	struct wire_in in;
	uint64_t n;

	if (reg->how != CFI_EXPR)
		return false;
	wire_init(&in, reg->expr, reg->len, false);
	return breg(&in, &n, off) && !wire_done(&in) &&
	       cfi_slot(machine, n) == CFI_FP && fits32(*off);
}

/* Registers of functions that realign their stack are saved by FP. */
static void saved_by_fp(uint16_t machine, const struct cfi_state *st,
			struct unwind_rule *r)
{
	int64_t off;

	if (!at_fp(machine, &st->regs[CFI_FP], &off))
		return;
	r->saved = 1 << SAVED_FP | SAVED_BY_FP;
	r->fp_off = off;
	for (int i = 0; i < SAVED_REGS; i++) {
		if (!at_fp(machine, &st->regs[i], &off) || off % 8 ||
		    off / 8 < INT16_MIN || off / 8 > INT16_MAX)
			continue;
		r->saved |= 1 << i;
		r->reg_off[i] = off / 8;
	}
}

static void saved_by_cfa(const struct cfi_state *st, struct unwind_rule *r)
{
	const struct cfi_reg *fp = &st->regs[CFI_FP];

	if (fp->how == CFI_OFFSET && fits32(fp->value)) {
		r->saved |= 1 << SAVED_FP;
		r->fp_off = fp->value;
	}
	for (int i = 0; i < SAVED_REGS; i++) {
		int64_t off = st->regs[i].value;

		if (st->regs[i].how != CFI_OFFSET || off % 8 ||
		    off / 8 < INT16_MIN || off / 8 > INT16_MAX)
			continue;
		r->saved |= 1 << i;
		r->reg_off[i] = off / 8;
	}
}

static bool return_address(uint16_t machine, const struct cfi_state *st,
			   struct unwind_rule *r)
{
	const struct cfi_reg *ra = &st->regs[CFI_RA];

	if (ra->how == CFI_OFFSET && fits32(ra->value)) {
		r->ra_off = ra->value;
		return true;
	}
	r->ra = RA_LR;
	if (machine == EM_X86_64)	/* vfork() keeps it in rdi */
		return ra->how == CFI_REGISTER && ra->value == X86_RDI;
	return ra->how == CFI_SAME;
}

/*
 * A signal frame whose registers lie where the kernel puts them.  x86-64: the
 * caller's sp is at sp + 160 (asm/sigcontext.h, behind 40 bytes of ucontext).
 * AArch64: the kernel's own trampoline, the only one there is.
 */
static bool is_signal(uint16_t machine, const struct cfi_state *st)
{
	struct unwind_rule r = { 0 };

	if (machine == EM_AARCH64)
		return true;
	return st->cfa_expr && cfa_expression(machine, st, &r) &&
	       r.cfa == CFA_SP_DEREF && r.cfa_off == 160 && !r.aux;
}

void cfi_to_rule(uint16_t machine, bool signal, const struct cfi_state *st,
		 struct unwind_rule *ret)
{
	struct unwind_rule r = { 0 };
	bool ok;

	if (st->regs[CFI_RA].how == CFI_UNDEFINED) {
		r.cfa = CFA_END;
		*ret = r;
		return;
	}
	if (signal && is_signal(machine, st)) {
		r.cfa = CFA_SIGNAL;
		*ret = r;
		return;
	}
	if (st->cfa_expr) {
		ok = cfa_expression(machine, st, &r);
	} else {
		ok = fits32(st->cfa_off) &&
		     base(machine, st->cfa_reg, false, &r);
		r.cfa_off = st->cfa_off;
	}
	if (!ok || !return_address(machine, st, &r)) {
		*ret = (struct unwind_rule){ .cfa = CFA_UNSUPPORTED };
		return;
	}
	if (st->regs[CFI_FP].how == CFI_EXPR)
		saved_by_fp(machine, st, &r);
	else
		saved_by_cfa(st, &r);
	*ret = r;
}
