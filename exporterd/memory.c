// SPDX-License-Identifier: Apache-2.0
#include "exporterd/memory.h"

#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void memory_init(void)
{
	/* glibc would reserve 64 MiB for curl's resolver thread */
	mallopt(M_ARENA_MAX, 1);
	/* and would raise this threshold with every large block */
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
}

/* Code that the loader has changed must not be thrown away. */
static bool memory_has_text_relocations(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const ElfW(Dyn) *d;

		if (p->p_type != PT_DYNAMIC)
			continue;
		d = (const void *)(info->dlpi_addr + p->p_vaddr);
		for (; d->d_tag != DT_NULL; d++) {
			if (d->d_tag == DT_TEXTREL ||
			    (d->d_tag == DT_FLAGS &&
			     (d->d_un.d_val & DF_TEXTREL)))
				return true;
		}
		return false;
	}
	return true;
}

static int memory_trim_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	(void)size;
	(void)arg;
	if (memory_has_text_relocations(info))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr, end;

		if (p->p_type != PT_LOAD || (p->p_flags & PF_W))
			continue;
		/* whole pages only: a last one may be shared with data */
		end = (start + p->p_filesz) & ~(page - 1);
		start = (start + page - 1) & ~(page - 1);
		if (start < end)
			madvise((void *)start, end - start, MADV_DONTNEED);
	}
	return 0;
}

void memory_trim(void)
{
	malloc_trim(0);
	dl_iterate_phdr(memory_trim_object, NULL);
}
