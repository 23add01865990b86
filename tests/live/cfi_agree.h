/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_agree - carrying out what libdw, or a rule of ours, says of a frame
 *
 * Memory is made up: the word at an address is a hash of it.  So equal results
 * mean equal ways, whatever form they were told in.
 */
#ifndef TESTS_CFI_AGREE_H
#define TESTS_CFI_AGREE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/table.h"

#define DWARF_REGS	33

struct arch {
	uint16_t machine;
	int sp, fp, ra;			/* DWARF numbers */
	int lr;				/* same_value of ra is this one */
	int saved[REGS_MAX];		/* by number in rules */
	int pc;				/* -1: not a DWARF register */
	/* the signal frame, from sp */
	int sig_sp, sig_fp, sig_pc, sig_saved[SAVED_REGS];
};

struct frame_regs {
	uint64_t dwarf[DWARF_REGS];	/* of a callee: all registers */
	uint64_t pc;
	/* of a caller */
	bool end;
	uint64_t cfa, ra, sp;
	uint64_t reg[SAVED_REGS + 1];	/* [SAVED_FP]: FP */
	bool known[SAVED_REGS + 2];	/* last: sp */
	bool odd[SAVED_REGS + 1];	/* in a register, at a computed place:
					 * no rule can say so */
};

void arch_init(struct arch *a, uint16_t machine);

/* A callee at pc. */
void frame_make(const struct arch *a, uint64_t pc, struct frame_regs *ret);

/* Its caller.  Negative: an operation that is not known here. */
int frame_by_libdw(const struct arch *a, Dwarf_Frame *frame,
		   const struct frame_regs *in, struct frame_regs *ret);
void frame_by_rule(const struct arch *a, const struct unwind_rule *r,
		   const struct frame_regs *in, struct frame_regs *ret);

void frame_print(const struct arch *a, Dwarf_Frame *frame);

/* What an FDE covers; -1 for an encoding that is not known here. */
int fde_range(const Dwarf_CIE *cie, const Dwarf_FDE *fde, const void *section,
	      uint64_t vaddr, uint64_t *start, uint64_t *len);

#endif /* TESTS_CFI_AGREE_H */
