// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/unwind/build.h"

#include <errno.h>

#include "common/wire.h"
#include "ipc/message.h"
#include "symbolizerd/unwind/cfi.h"
#include "symbolizerd/unwind/table.h"

struct build {
	const struct elf_file *f;
	struct table_builder table;
};

static int on_row(void *ctx, uint64_t start, uint64_t end,
		  const struct unwind_rule *rule)
{
	struct build *b = ctx;
	uint64_t off;

	if (!elf_file_offset(b->f, start, true, &off))
		return 0;
	return table_builder_add(&b->table, off, off + (end - start), rule);
}

/* LSB 5.0, 10.6.2: version 1, encodings of the pointer to .eh_frame, of the
 * count, of the table; then that pointer, here pc-relative sdata4 as every
 * linker writes it. */
static int through_header(const struct elf_file *f, struct elf_bytes *ret)
{
	for (uint32_t i = 0; i < f->n_phdrs; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];
		struct elf_bytes h;
		uint32_t rel;
		struct wire_in in;
		int r;

		if (p->p_type != PT_GNU_EH_FRAME || p->p_filesz < 8)
			continue;
		r = elf_file_read(f, p->p_offset, 8, &h);
		if (r)
			return r;
		wire_init(&in, h.data + 4, 4, false);
		r = h.data[0] != 1 || h.data[1] != 0x1b ||
		    wire_get_u32(&in, &rel) ? JOB_CORRUPT : JOB_OK;
		elf_bytes_free(&h);
		return r ? r : elf_file_at(f, p->p_vaddr + 4 +
					      (uint64_t)(int64_t)(int32_t)rel,
					   ret);
	}
	return JOB_OK;
}

static int find(const struct elf_file *f, struct cfi_source *src,
		struct elf_bytes *b)
{
	const Elf64_Shdr *s = elf_file_find(f, ".eh_frame");
	int r = JOB_OK;

	if (s && s->sh_size)
		r = elf_file_section(f, s, b);
	else if (!f->n_shdrs)
		r = through_header(f, b);
	if (!r && !b->data) {
		s = elf_file_find(f, ".debug_frame");
		src->debug_frame = s != NULL;
		if (s)
			r = elf_file_section(f, s, b);
	}
	src->data = b->data;
	src->len = b->len;
	src->vaddr = b->vaddr;
	src->machine = f->ehdr.e_machine;
	return r;
}

int unwind_build(const struct elf_file *f, void **ret, size_t *len)
{
	struct build b = { .f = f };
	struct cfi_source src = { 0 };
	struct elf_bytes bytes = { 0 };
	int r = find(f, &src, &bytes);

	if (r)
		return r;
	if (table_builder_init(&b.table)) {
		elf_bytes_free(&bytes);
		return JOB_NO_MEMORY;
	}
	/* what came before a broken place is worth having */
	r = src.data ? cfi_walk(&src, on_row, &b, NULL) : 0;
	elf_bytes_free(&bytes);
	if (r >= 0)
		r = table_builder_finish(&b.table, ret, len);
	table_builder_fini(&b.table);
	return r == -E2BIG ? JOB_TOO_LARGE : r ? JOB_NO_MEMORY : JOB_OK;
}
