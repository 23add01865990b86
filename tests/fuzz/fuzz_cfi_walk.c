// SPDX-License-Identifier: Apache-2.0
/* CFI: rows are not empty, and a rule is one that bpf/table.h knows. */
#include <elf.h>
#include <stdlib.h>

#include "symbolizerd/unwind/cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SAVED_ALL	((2 << SAVED_FP) - 1)

static bool may_turn(const struct unwind_rule *r)
{
	return r->cfa == CFA_REG || r->cfa == CFA_SP_DEREF || r->cfa == CFA_FP_DEREF ||
	       r->cfa == CFA_REG_DEREF;
}

static int on_row(void *ctx, uint64_t start, uint64_t end,
		  const struct unwind_rule *r)
{
	(void)ctx;
	if (start >= end || r->cfa >= CFA__MAX || r->ra >= RA__MAX ||
	    r->cfa_reg >= REGS_MAX || r->ra_reg >= REGS_MAX ||
	    r->saved & ~(SAVED_ALL | RULE_ELSEWHERE) ||
	    r->by_fp & ~(r->saved & SAVED_ALL) ||
	    (r->saved & RULE_ELSEWHERE && !may_turn(r)))
		abort();
	return 0;
}

/* The first byte: machine, section, place. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_source src = { .data = data + 1, .len = size - 1 };
	uint32_t bad = 0;

	if (!size)
		return 0;
	src.machine = data[0] & 1 ? EM_AARCH64 : EM_X86_64;
	src.debug_frame = data[0] & 2;
	src.vaddr = data[0] & 4 ? UINT64_MAX - 64 : 0x1000;
	if (cfi_walk(&src, on_row, NULL, &bad) < 0)
		abort();
	return 0;
}
