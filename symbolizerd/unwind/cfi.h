/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi - call frame information: from .eh_frame or .debug_frame to rules
 *
 * Interprets every FDE and says, for each range of addresses, which rule
 * (bpf/table.h) leads to the caller's frame.  Sources: DWARF 5, 6.4 and 7.24; LSB 5.0,
 * 10.6 (.eh_frame); registers by the System V ABI, AMD64 figure 3.36, and
 * AADWARF64 4.1.
 */
#ifndef SYMBOLIZERD_UNWIND_CFI_H
#define SYMBOLIZERD_UNWIND_CFI_H

#include <stdint.h>

#include "symbolizerd/unwind/cfi_source.h"

/*
 * Walk all FDEs.  A broken one is skipped (counted in *bad if not NULL).
 * Returns 0; what fn returned (negative); or JOB_CORRUPT when the entries of the
 * section contradict its length, or take more work than CFI_WORK times that.
 * Rows that were delivered before stay valid.
 */
#define CFI_WORK	8	/* bytes read for each byte of the section */
int cfi_walk(const struct cfi_source *src, cfi_row_fn fn, void *ctx,
	     uint32_t *bad);

#endif /* SYMBOLIZERD_UNWIND_CFI_H */
