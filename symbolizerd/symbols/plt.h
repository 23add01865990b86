/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plt - the stubs through which a file calls functions of other files
 *
 * Linkers write no symbols for them.  A stub jumps to the address in a word of memory,
 * and a relocation says which function's address the dynamic linker writes there.  So
 * all layouts are supported whose stubs load that word relative to themselves
 * (x86-64 psABI 5.2, 13.2; AArch64 ELF ABI, "Procedure Linkage Table"): those of bfd,
 * gold, lld and mold, lazy or not, with and without IBT or BTI.  Sections .plt,
 * .plt.sec, .plt.got and .iplt; a file without section headers has no stubs.
 */
#ifndef SYMBOLIZERD_SYMBOLS_PLT_H
#define SYMBOLIZERD_SYMBOLS_PLT_H

#include <stdint.h>

#include "common/vector.h"
#include "symbolizerd/elf/elf_file.h"

#define PLT_BYTES_MAX	(2u << 20)	/* of a section; larger ones are left out */
#define PLT_NO_SYMBOL	UINT32_MAX
#define PLT_SECTIONS	4

struct plt_stub {
	uint64_t vaddr;
	uint64_t slot;		/* virtual address of the word */
	uint64_t resolver;	/* without a symbol: virtual address of the resolver
				 * (IFUNC); 0: no relocation is known */
	uint32_t size;		/* bytes */
	uint32_t symbol;	/* number in .dynsym, or PLT_NO_SYMBOL */
};

struct plt {
	VECTOR(struct plt_stub) stubs;
	/* the sections themselves: other code in them calls the lazy resolver */
	const Elf64_Shdr *sections[PLT_SECTIONS];
	const char *names[PLT_SECTIONS];
	uint32_t n_sections;
};

/* The file's stubs, ordered by slot; ended by plt_free(), also after a failure.  JOB_OK,
 * also if there are none, or a verdict.  Apart from sorting, the cost is linear in the
 * size of the sections. */
int plt_read(const struct elf_file *f, struct plt *ret);
void plt_free(struct plt *p);

#endif /* SYMBOLIZERD_SYMBOLS_PLT_H */
