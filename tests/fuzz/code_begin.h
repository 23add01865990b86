/* SPDX-License-Identifier: Apache-2.0 */
/* code_begin - where an ELF file's code begins, for fuzz targets that look there */
#ifndef TESTS_FUZZ_CODE_BEGIN_H
#define TESTS_FUZZ_CODE_BEGIN_H

#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"

/* The first address of its last segment of code; 0: there is none. */
static inline uint64_t code_begin(int fd)
{
	uint64_t begin = 0;
	struct elf_file f;

	if (!elf_file_open(&f, fd)) {
		for (uint32_t i = 0; i < f.n_phdrs; i++) {
			if (f.phdrs[i].p_type == PT_LOAD && f.phdrs[i].p_flags & PF_X)
				begin = f.phdrs[i].p_vaddr;
		}
	}
	elf_file_close(&f);
	return begin;
}

#endif /* TESTS_FUZZ_CODE_BEGIN_H */
