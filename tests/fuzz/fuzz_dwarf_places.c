// SPDX-License-Identifier: Apache-2.0
/* An ELF file's DWARF at some addresses of its code: what a worker does for lines. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/symbols/dwarf_places.h"

#define ADDRESSES	16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first addresses of code. */
static uint64_t begin_of_code(int fd)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct dwarf_places *d;
	static int fd = -1;
	uint64_t vaddr;

	if (fd < 0)
		fd = memfd_create("elf", MFD_CLOEXEC);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	vaddr = begin_of_code(fd);
	if (dwarf_places_open(fd, -1, &d))
		return 0;
	for (int i = 0; i < ADDRESSES; i++, vaddr += 3) {
		uint32_t n = dwarf_places_at(d, vaddr, at);

		if (n > SYMBOL_DEPTH_MAX)
			abort();
		while (n-- > 0) {
			if (strlen(at[n].name) > DWARF_NAME_MAX ||
			    strlen(at[n].file) > 2 * DWARF_NAME_MAX + 1 ||
			    (at[n].system && strlen(at[n].system) > DWARF_NAME_MAX))
				abort();
		}
	}
	dwarf_places_close(d);
	return 0;
}
