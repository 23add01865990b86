// SPDX-License-Identifier: Apache-2.0
#include "tests/live/cfi_agree.h"

#include <dwarf.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#define STACK	64

void arch_init(struct arch *a, uint16_t machine)
{
	/* System V ABI AMD64 figure 3.36; AADWARF64 4.1.  Signal frames:
	 * asm/sigcontext.h of each */
	static const struct arch x86 = {
		.machine = EM_X86_64, .sp = 7, .fp = 6, .ra = 16, .lr = 16,
		.saved = { 3, 12, 13, 14, 15, 0, 1, 2, 4, 5, 8, 9, 10, 11 },
		.pc = 16,
		.sig_sp = 160, .sig_fp = 120, .sig_pc = 168,
		.sig_saved = { 128, 72, 80, 88, 96 },
	};
	static const struct arch arm = {
		.machine = EM_AARCH64, .sp = 31, .fp = 29, .ra = 30, .lr = 30,
		.saved = { 19, 20, 21, 22, 23, 30 }, .pc = -1,
		.sig_sp = 560, .sig_fp = 544, .sig_pc = 568,
		.sig_saved = { 464, 472, 480, 488, 496 },
	};

	*a = machine == EM_X86_64 ? x86 : arm;
}

static uint64_t memory(uint64_t addr)
{
	addr ^= addr >> 31;
	addr *= 0x9e3779b97f4a7c15ULL;
	addr ^= addr >> 29;
	return addr * 0xbf58476d1ce4e5b9ULL;
}

void frame_make(const struct arch *a, uint64_t pc, struct frame_regs *ret)
{
	*ret = (struct frame_regs){ .pc = pc };
	for (int i = 0; i < DWARF_REGS; i++)
		ret->dwarf[i] = memory(~(uint64_t)i) & ~7ULL;
	if (a->pc >= 0)
		ret->dwarf[a->pc] = pc;
}

/* --- libdw's words ------------------------------------------------------------ */

static bool two(uint8_t op, uint64_t *st, int *n)
{
	uint64_t b, x;

	if (*n < 2)
		return false;
	b = st[--*n];
	x = st[*n - 1];
	switch (op) {
	case DW_OP_plus: x += b; break;
	case DW_OP_minus: x -= b; break;
	case DW_OP_mul: x *= b; break;
	case DW_OP_and: x &= b; break;
	case DW_OP_or: x |= b; break;
	case DW_OP_xor: x ^= b; break;
	case DW_OP_shl: x <<= b & 63; break;
	case DW_OP_shr: x >>= b & 63; break;
	case DW_OP_ge: x = (int64_t)x >= (int64_t)b; break;
	case DW_OP_gt: x = (int64_t)x > (int64_t)b; break;
	case DW_OP_le: x = (int64_t)x <= (int64_t)b; break;
	case DW_OP_lt: x = (int64_t)x < (int64_t)b; break;
	case DW_OP_eq: x = x == b; break;
	case DW_OP_ne: x = x != b; break;
	default: return false;
	}
	st[*n - 1] = x;
	return true;
}

static bool push(const Dwarf_Op *o, const struct frame_regs *in, uint64_t cfa,
		 uint64_t *ret)
{
	switch (o->atom) {
	case DW_OP_lit0 ... DW_OP_lit31:
		*ret = o->atom - DW_OP_lit0;
		return true;
	case DW_OP_breg0 ... DW_OP_breg31:
		*ret = in->dwarf[o->atom - DW_OP_breg0] + o->number;
		return true;
	case DW_OP_bregx:
		*ret = in->dwarf[o->number % DWARF_REGS] + o->number2;
		return true;
	case DW_OP_const1u: case DW_OP_const2u: case DW_OP_const4u:
	case DW_OP_const8u: case DW_OP_const1s: case DW_OP_const2s:
	case DW_OP_const4s: case DW_OP_const8s: case DW_OP_constu:
	case DW_OP_consts:
		*ret = o->number;
		return true;
	case DW_OP_call_frame_cfa:
		*ret = cfa;
		return true;
	default:
		return false;
	}
}

/* Value of an expression; *value: it is a value, not a place. */
static bool evaluate(const Dwarf_Op *ops, size_t n_ops,
		     const struct frame_regs *in, uint64_t cfa, uint64_t *ret,
		     bool *value)
{
	uint64_t st[STACK];
	int n = 0;

	*value = false;
	for (size_t i = 0; i < n_ops; i++) {
		const Dwarf_Op *o = &ops[i];

		if (n == STACK)
			return false;
		if (push(o, in, cfa, &st[n])) {
			n++;
		} else if (o->atom == DW_OP_regx || (o->atom >= DW_OP_reg0 &&
						     o->atom <= DW_OP_reg31)) {
			st[n++] = in->dwarf[(o->atom == DW_OP_regx ? o->number :
				(uint64_t)o->atom - DW_OP_reg0) % DWARF_REGS];
			*value = true;
		} else if (o->atom == DW_OP_stack_value) {
			*value = true;
		} else if (o->atom == DW_OP_plus_uconst && n) {
			st[n - 1] += o->number;
		} else if (o->atom == DW_OP_deref && n) {
			st[n - 1] = memory(st[n - 1]);
		} else if (o->atom == DW_OP_drop && n) {
			n--;
		} else if (!two(o->atom, st, &n)) {
			return false;
		}
	}
	*ret = n ? st[n - 1] : 0;
	return n > 0;
}

enum told {
	TOLD_BEYOND = -1,
	TOLD_BY_CFA,		/* at a distance from the CFA */
	TOLD_BY_FP,		/* at a distance from the frame pointer */
	TOLD_ODD,		/* in a register, at a computed place */
	TOLD_SAME,
	TOLD_UNDEFINED,
};

/* libdw puts the CFA first, then what is said. */
static enum told form_of(const struct arch *a, const Dwarf_Op *ops, size_t n)
{
	if (ops[0].atom != DW_OP_call_frame_cfa || n > 2)
		return TOLD_ODD;
	if (n == 1 || ops[1].atom == DW_OP_plus_uconst)
		return TOLD_BY_CFA;
	return ops[1].atom == DW_OP_breg0 + a->fp ? TOLD_BY_FP : TOLD_ODD;
}

static enum told one_register(const struct arch *a, Dwarf_Frame *frame,
			      int reg, const struct frame_regs *in,
			      uint64_t cfa, uint64_t *ret)
{
	Dwarf_Op mem[3], *ops;
	bool value;
	size_t n;

	if (dwarf_frame_register(frame, reg, mem, &ops, &n))
		return TOLD_BEYOND;
	if (!n && ops == mem)
		return TOLD_UNDEFINED;
	*ret = in->dwarf[reg];
	if (!n)
		return TOLD_SAME;
	if (!evaluate(ops, n, in, cfa, ret, &value))
		return TOLD_BEYOND;
	if (!value)
		*ret = memory(*ret);
	return value ? TOLD_ODD : form_of(a, ops, n);
}

int frame_by_libdw(const struct arch *a, Dwarf_Frame *frame,
		   const struct frame_regs *in, struct frame_regs *ret)
{
	enum told t, by;
	Dwarf_Op *ops;
	bool value;
	size_t n;

	*ret = (struct frame_regs){ 0 };
	t = one_register(a, frame, a->ra, in, 0, &ret->ra);
	ret->end = t == TOLD_UNDEFINED && a->machine == EM_X86_64;
	if (t == TOLD_UNDEFINED && a->machine == EM_AARCH64) {
		Dwarf_Op mem[3];

		/* elfutils calls a link register without a rule undefined */
		ret->end = !dwarf_frame_register(frame, a->ra, mem, &ops, &n) &&
			   ops == mem;
		ret->ra = in->dwarf[a->lr];
	}
	if (dwarf_frame_cfa(frame, &ops, &n) || !n ||
	    !evaluate(ops, n, in, 0, &ret->cfa, &value))
		return -1;
	if (t != TOLD_UNDEFINED &&
	    one_register(a, frame, a->ra, in, ret->cfa, &ret->ra) < 0)
		return -1;
	t = one_register(a, frame, a->sp, in, ret->cfa, &ret->sp);
	/* it has no rule: it is the CFA */
	ret->known[SAVED_REGS + 1] = t >= 0 && t < TOLD_SAME;
	by = one_register(a, frame, a->fp, in, ret->cfa, &ret->reg[SAVED_FP]);
	ret->known[SAVED_FP] = by != TOLD_UNDEFINED;
	ret->odd[SAVED_FP] = by == TOLD_ODD;
	if (by < 0)
		return -1;
	for (int i = 0; i < SAVED_REGS && t >= 0; i++) {
		t = one_register(a, frame, a->saved[i], in, ret->cfa,
				 &ret->reg[i]);
		ret->known[i] = t != TOLD_UNDEFINED;
		ret->odd[i] = t == TOLD_ODD;
	}
	return t < 0 ? -1 : 0;
}

static void print_ops(const char *what, const Dwarf_Op *ops, size_t n)
{
	printf("    %s:", what);
	for (size_t i = 0; i < n; i++)
		printf(" %#x(%jd,%jd)", ops[i].atom, (intmax_t)ops[i].number,
		       (intmax_t)ops[i].number2);
	printf("\n");
}

static void print_register(const char *name, int reg, Dwarf_Frame *frame)
{
	Dwarf_Op mem[3], *ops;
	size_t n;

	if (!dwarf_frame_register(frame, reg, mem, &ops, &n) && n)
		print_ops(name, ops, n);
}

void frame_print(const struct arch *a, Dwarf_Frame *frame)
{
	Dwarf_Op *ops;
	char name[16];
	size_t n;

	if (!dwarf_frame_cfa(frame, &ops, &n))
		print_ops("cfa", ops, n);
	print_register("ra", a->ra, frame);
	print_register("sp", a->sp, frame);
	print_register("fp", a->fp, frame);
	for (int i = 0; i < SAVED_REGS; i++) {
		snprintf(name, sizeof(name), "reg%d", a->saved[i]);
		print_register(name, a->saved[i], frame);
	}
}

/* --- our rules --------------------------------------------------------------- */

static void by_signal(const struct arch *a, const struct frame_regs *in,
		      struct frame_regs *ret)
{
	uint64_t sp = in->dwarf[a->sp];

	ret->cfa = ret->sp = memory(sp + a->sig_sp);
	ret->ra = memory(sp + a->sig_pc);
	ret->reg[SAVED_FP] = memory(sp + a->sig_fp);
	for (int i = 0; i < SAVED_REGS; i++)
		ret->reg[i] = memory(sp + a->sig_saved[i]);
}

static uint64_t rule_cfa(const struct arch *a, const struct unwind_rule *r,
			 const struct frame_regs *in)
{
	uint64_t sp = in->dwarf[a->sp], fp = in->dwarf[a->fp];
	uint64_t reg = in->dwarf[a->saved[r->cfa_reg]];

	switch (r->cfa) {
	case CFA_SP:
		return sp + r->cfa_off;
	case CFA_FP:
		return fp + r->cfa_off;
	case CFA_REG:
		return reg + r->cfa_off;
	case CFA_SP_DEREF:
		return memory(sp + r->cfa_off) + r->aux;
	case CFA_FP_DEREF:
		return memory(fp + r->cfa_off) + r->aux;
	case CFA_REG_DEREF:
		return memory(reg + r->cfa_off) + r->aux;
	case CFA_PLT:
		return sp + 8 + ((in->pc & 15) >= 11 ? 8 : 0);
	default:
		return 0;
	}
}

void frame_by_rule(const struct arch *a, const struct unwind_rule *r,
		   const struct frame_regs *in, struct frame_regs *ret)
{
	*ret = (struct frame_regs){ 0 };
	if (r->cfa == CFA_SIGNAL) {
		by_signal(a, in, ret);
		return;
	}
	ret->cfa = ret->sp = rule_cfa(a, r, in);
	ret->ra = r->ra == RA_REG ? in->dwarf[a->saved[r->ra_reg]] :
				    memory(ret->cfa + r->ra_off);
	for (int i = 0; i <= SAVED_REGS; i++) {
		bool fp = i == SAVED_FP;
		uint64_t at = r->by_fp & (1 << i) ? in->dwarf[a->fp] : ret->cfa;

		ret->reg[i] = r->saved & (1 << i) ?
			      memory(at + (fp ? r->fp_off : 8 * r->reg_off[i])) :
			      in->dwarf[fp ? a->fp : a->saved[i]];
	}
}

/* --- FDEs --------------------------------------------------------------------- */

static size_t encoded_size(uint8_t enc)
{
	switch (enc & 15) {
	case 2: case 10:
		return 2;
	case 3: case 11:
		return 4;
	default:
		return 8;
	}
}

static uint64_t encoded(const uint8_t *p, uint8_t enc)
{
	uint64_t v = 0;

	memcpy(&v, p, encoded_size(enc));
	if ((enc & 15) == 11)
		v = (uint64_t)(int64_t)(int32_t)v;
	if ((enc & 15) == 10)
		v = (uint64_t)(int64_t)(int16_t)v;
	return v;
}

int fde_range(const Dwarf_CIE *cie, const Dwarf_FDE *fde, const void *section,
	      uint64_t vaddr, uint64_t *start, uint64_t *len)
{
	const uint8_t *d = cie->augmentation_data, *p = fde->start;
	const char *aug = cie->augmentation;
	uint8_t enc = 0;

	for (; aug && *aug && d; aug++) {
		if (*aug == 'R')
			enc = *d++;
		else if (*aug == 'P')
			d += 1 + encoded_size(*d);
		else if (*aug == 'L')
			d++;
	}
	if ((enc & 15) == 1 || (enc & 15) == 9 || (enc & 0xe0))
		return -1;
	*start = encoded(p, enc);
	if (enc & 0x10)
		*start += vaddr + (uint64_t)(p - (const uint8_t *)section);
	*len = encoded(p + encoded_size(enc), enc & 7);
	return 0;
}
