/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_program - executing the instructions of CIEs and FDEs
 *
 * DWARF 5, 6.4.2 and 7.24; DW_CFA_GNU_* by LSB 5.0, 10.5.2 and binutils 2.40,
 * include/dwarf2.def; DW_CFA_AARCH64_* by AADWARF64 (2023Q3), 5.6.
 */
#ifndef SYMBOLIZERD_UNWIND_CFI_PROGRAM_H
#define SYMBOLIZERD_UNWIND_CFI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire.h"
#include "symbolizerd/unwind/cfi_rule.h"
#include "symbolizerd/unwind/cfi_source.h"

#define CFI_REMEMBER_MAX	16	/* depth of DW_CFA_remember_state */

/* LSB 5.0, 10.5.1: DW_EH_PE_* */
#define PE_OMIT		0xff
#define PE_ALIGNED	0x50
#define PE_FORMAT	0x0f
#define PE_PCREL	0x10
#define PE_APPLY	0x70
#define PE_INDIRECT	0x80

struct cfi_cie {
	size_t at;		/* offset of its length field; SIZE_MAX: none */
	int verdict;		/* 0, or why it cannot be used */
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

/* State of one program after the other.  The caller sets all but stack and depth;
 * plt begins at 0. */
struct cfi_run {
	const struct cfi_source *src;
	const struct cfi_cie *cie;
	cfi_row_fn fn;
	void *ctx;
	uint64_t loc, end;	/* rows go to fn up to end */
	uint64_t plt;		/* bytes of PLTs whose rows were made entry by entry */
	struct cfi_state st;
	struct cfi_state stack[CFI_REMEMBER_MAX];
	unsigned int depth;
};

/* A pointer of this encoding; indirect ones are not followed.  size_only: a
 * length, which is not relative to anything.  enum wire_verdict. */
int cfi_pointer(const struct cfi_source *src, struct wire_in *in, uint8_t enc,
		bool size_only, uint64_t *ret);

/* Execute len bytes of instructions.  0; enum wire_verdict; or what fn
 * returned (negative). */
int cfi_execute(struct cfi_run *x, const uint8_t *ops, size_t len);

/* Deliver the row from x->loc to `to`, and go there.  0, or what fn returned. */
int cfi_emit(struct cfi_run *x, uint64_t to);

#endif /* SYMBOLIZERD_UNWIND_CFI_PROGRAM_H */
