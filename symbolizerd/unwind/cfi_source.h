/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_source - a section with call frame information, and what receives its rows
 */
#ifndef SYMBOLIZERD_UNWIND_CFI_SOURCE_H
#define SYMBOLIZERD_UNWIND_CFI_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"

struct cfi_source {
	const uint8_t *data;
	size_t len;
	uint64_t vaddr;		/* of data, for pc-relative pointers */
	uint16_t machine;	/* EM_X86_64, EM_AARCH64 */
	bool debug_frame;	/* else .eh_frame */
	/* Offsets of FDEs from `data`, for a section whose end is unknown
	 * (eh_frame_hdr.h); NULL: the entries are read in their order. */
	const uint32_t *fdes;
	size_t n_fdes;
};

/* Receives [start, end) of virtual addresses, ascending within an FDE.
 * Negative ends the walk and is returned. */
typedef int (*cfi_row_fn)(void *ctx, uint64_t start, uint64_t end,
			  const struct unwind_rule *rule);

#endif /* SYMBOLIZERD_UNWIND_CFI_SOURCE_H */
