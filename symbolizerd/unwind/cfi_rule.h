/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_rule - one row of CFI becomes one unwind rule
 */
#ifndef SYMBOLIZERD_UNWIND_CFI_RULE_H
#define SYMBOLIZERD_UNWIND_CFI_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"

/* Registers that matter: SAVED_REGS callee-saved ones, then these. */
#define CFI_FP		SAVED_REGS
#define CFI_RA		(SAVED_REGS + 1)
#define CFI_SP		(SAVED_REGS + 2)
#define CFI_REGS	(SAVED_REGS + 3)

enum cfi_how {
	CFI_SAME = 0,		/* also: not mentioned */
	CFI_UNDEFINED,
	CFI_OFFSET,		/* at cfa + value */
	CFI_EXPR,		/* at the address of an expression */
	CFI_REGISTER,		/* in the register of this DWARF number */
	CFI_VAL_OFFSET,		/* is cfa + value */
	CFI_VAL_EXPR,		/* is the value of an expression */
};

struct cfi_reg {
	uint8_t how;		/* enum cfi_how */
	int64_t value;
	const uint8_t *expr;
	size_t len;
};

struct cfi_state {
	bool cfa_expr;
	uint64_t cfa_reg;	/* DWARF number */
	int64_t cfa_off;
	const uint8_t *expr;
	size_t len;
	struct cfi_reg regs[CFI_REGS];
};

/* Index into cfi_state.regs of a DWARF register, or -1. */
int cfi_slot(uint16_t machine, uint64_t reg);

/* signal: the CIE is marked as a signal frame's ("S").  CFA_PLT means a push that
 * ends at byte 11 of each entry.  If it ends elsewhere, aux says where, and the
 * caller makes rows for each part. */
void cfi_to_rule(uint16_t machine, bool signal, const struct cfi_state *st,
		 struct unwind_rule *ret);

#endif /* SYMBOLIZERD_UNWIND_CFI_RULE_H */
