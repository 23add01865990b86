/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eh_frame_hdr - the search table of PT_GNU_EH_FRAME: where functions begin
 *
 * LSB 5.0, 10.6.2: version 1; the encodings of the pointer to .eh_frame, of the count
 * and of the table; then these three.  Only the encodings that all linkers write are
 * read: 4 bytes, relative to their place (DW_EH_PE_pcrel | sdata4) or to the header
 * (datarel | sdata4).
 */
#ifndef SYMBOLIZERD_ELF_EH_FRAME_HDR_H
#define SYMBOLIZERD_ELF_EH_FRAME_HDR_H

#include "symbolizerd/elf/elf_file.h"

struct eh_frame_hdr {
	struct elf_bytes b;	/* owned: elf_bytes_free() */
	uint64_t frame;		/* virtual address of .eh_frame */
	uint32_t n;		/* entries, in the order of addresses if it is sound */
};

/* JOB_OK, also if there is no such table (.n is 0); or a verdict of reading. */
int eh_frame_hdr_read(const struct elf_file *f, struct eh_frame_hdr *ret);

/* Virtual addresses of function i of .n and of its FDE. */
uint64_t eh_frame_hdr_start(const struct eh_frame_hdr *h, size_t i);
uint64_t eh_frame_hdr_fde(const struct eh_frame_hdr *h, size_t i);

#endif /* SYMBOLIZERD_ELF_EH_FRAME_HDR_H */
