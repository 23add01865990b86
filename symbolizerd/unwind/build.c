// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/unwind/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire.h"
#include "ipc/message_hub.h"
#include "symbolizerd/unwind/known.h"
#include "symbolizerd/unwind/table.h"

#define LOOPS_MAX	40	/* of interpreters and their parts, in a file */

struct build {
	const struct elf_file *f;
	struct table_builder table;
	uint32_t n_loops;
	struct loop {
		uint64_t start, end;	/* file offsets */
		uint8_t mark;		/* RULE_LOOP, RULE_LOOP_PART */
	} loops[LOOPS_MAX];
};

static int build_on_row(void *ctx, uint64_t start, uint64_t end,
			const struct unwind_rule *rule)
{
	struct build *b = ctx;
	uint64_t off, left;

	if (rule->cfa == CFA_RUNTIME)
		return table_builder_add(&b->table, 0, 1, rule);
	if (!elf_file_offset(b->f, start, true, &off, &left))
		return 0;
	if (left > end - start)
		left = end - start;
	if (rule->cfa == CFA_NONE && rule->by_fp & (RULE_LOOP | RULE_LOOP_PART)) {
		if (b->n_loops < LOOPS_MAX)
			b->loops[b->n_loops++] = (struct loop){ off, off + left,
								rule->by_fp };
		return 0;
	}
	return table_builder_add(&b->table, off, off + left, rule);
}

/* --- through PT_GNU_EH_FRAME ------------------------------------------------- */

/* LSB 5.0, 10.6.2: version 1; encodings of the pointer to .eh_frame, of the
 * count, of the table; then those.  All linkers write the same ones. */
#define HDR_PTR		0x1b	/* pcrel | sdata4 */
#define HDR_COUNT	0x03	/* udata4 */
#define HDR_TABLE	0x3b	/* datarel | sdata4 */
#define HDR_LEN		12

/* Offsets of FDEs from the start of .eh_frame: of each pair in the table the
 * second, relative to the header. */
static int build_read_fdes(const struct elf_bytes *h, uint64_t vaddr,
			   const struct elf_bytes *frame, struct cfi_source *src)
{
	size_t n = (h->len - HDR_LEN) / 8;
	uint32_t count, *fdes;

	memcpy(&count, h->data + 8, sizeof(count));
	if (n > count)
		n = count;
	fdes = malloc(n * sizeof(*fdes) + 1);
	if (!fdes)
		return JOB_NO_MEMORY;
	for (size_t i = 0; i < n; i++) {
		uint64_t at;
		int32_t rel;

		memcpy(&rel, h->data + HDR_LEN + 8 * i + 4, sizeof(rel));
		at = vaddr + (uint64_t)(int64_t)rel - frame->vaddr;
		fdes[i] = at < frame->len ? at : UINT32_MAX;
	}
	src->fdes = fdes;
	src->n_fdes = n;
	return JOB_OK;
}

/* Nothing tells where .eh_frame ends, so its FDEs are taken from the table. */
static int build_through_header(const struct elf_file *f, struct cfi_source *src,
				struct elf_bytes *ret)
{
	const Elf64_Phdr *p = NULL;
	struct elf_bytes h;
	uint64_t frame;
	int32_t rel;
	int r;

	for (uint32_t i = 0; i < f->n_phdrs && !p; i++) {
		if (f->phdrs[i].p_type == PT_GNU_EH_FRAME)
			p = &f->phdrs[i];
	}
	if (!p || p->p_filesz < HDR_LEN)
		return JOB_OK;
	r = elf_file_read(f, p->p_offset, p->p_filesz, &h);
	if (r)
		return r;
	memcpy(&rel, h.data + 4, sizeof(rel));
	frame = p->p_vaddr + 4 + (uint64_t)(int64_t)rel;
	if (h.data[0] == 1 && h.data[1] == HDR_PTR && h.data[2] == HDR_COUNT &&
	    h.data[3] == HDR_TABLE) {
		r = elf_file_at(f, frame, ret);
		if (!r)
			r = build_read_fdes(&h, p->p_vaddr, ret, src);
	}
	elf_bytes_free(&h);
	return r;
}

/* --- sources ------------------------------------------------------------------ */

/* Rows of the source found, if any.  JOB_OK, a verdict, or negative. */
static int build_walk(struct build *b, struct cfi_source *src,
		      struct elf_bytes *bytes)
{
	int r = 0;

	src->data = bytes->data;
	src->len = bytes->len;
	src->vaddr = bytes->vaddr;
	src->machine = b->f->ehdr.e_machine;
	/* rows before a broken place are kept */
	if (src->data)
		r = cfi_walk(src, build_on_row, b, NULL);
	free((void *)src->fdes);
	elf_bytes_free(bytes);
	return r < 0 ? r : JOB_OK;
}

static int build_from_eh_frame(struct build *b)
{
	const Elf64_Shdr *s = elf_file_find(b->f, ".eh_frame");
	struct cfi_source src = { 0 };
	struct elf_bytes bytes = { 0 };
	int r;

	if (s)
		r = elf_file_section(b->f, s, &bytes);
	else
		r = build_through_header(b->f, &src, &bytes);
	if (!r)
		return build_walk(b, &src, &bytes);
	elf_bytes_free(&bytes);
	return r;
}

static int build_from_debug_frame(struct build *b)
{
	const Elf64_Shdr *s = elf_file_find(b->f, ".debug_frame");
	const struct elf_file *f = b->f;
	struct cfi_source src = { .debug_frame = true };
	struct elf_bytes bytes = { 0 };
	int r = JOB_OK;

	if (!s && f->debug) {
		f = f->debug;
		s = elf_file_find(f, ".debug_frame");
	}
	if (s)
		r = elf_file_section(f, s, &bytes);
	return r ? r : build_walk(b, &src, &bytes);
}

/* A table that does not hold together just has no rows. */
static int build_from_runtimes(struct build *b, unwind_rows_fn rows)
{
	int r = rows ? rows(b->f, build_on_row, b) : JOB_OK;

	return r < 0 || r == JOB_NO_MEMORY ? r : JOB_OK;
}

static int build_from_known(struct build *b, const struct known_place *p, uint32_t n,
			    bool end)
{
	int r = JOB_OK;

	for (uint32_t i = 0; !r && i < n; i++) {
		if ((p[i].rule.cfa == CFA_END) == end)
			r = build_on_row(b, p[i].start, p[i].end, &p[i].rule);
	}
	return r;
}

/* What there is stands.  r, or that it cannot. */
static int build_settle(struct build *b, int r)
{
	int settled = table_builder_next_source(&b->table);

	return settled ? settled : r;
}

int unwind_build(const struct elf_file *f, unwind_rows_fn rows, void **ret,
		 size_t *len)
{
	struct known_place known[KNOWN_MAX];
	struct build b = { .f = f };
	uint32_t n;
	int r;

	if (table_builder_init(&b.table))
		return JOB_NO_MEMORY;
	n = known_find(f, known);
	r = build_from_eh_frame(&b);
	if (!r)
		r = build_from_known(&b, known, n, true);
	r = build_settle(&b, r);
	if (!r)
		r = build_from_known(&b, known, n, false);
	r = build_settle(&b, r);
	if (!r)
		r = build_from_runtimes(&b, rows);
	r = build_settle(&b, r);
	if (!r)
		r = build_from_debug_frame(&b);
	if (r > 0 && b.table.settled)
		r = JOB_OK;	/* the rest of it is good */
	for (uint32_t i = 0; !r && i < b.n_loops; i++)
		r = table_builder_mark(&b.table, b.loops[i].start,
				       b.loops[i].end, b.loops[i].mark);
	if (!r)
		r = table_builder_finish(&b.table, ret, len);
	table_builder_fini(&b.table);
	return r >= 0 ? r : r == -E2BIG ? JOB_TOO_LARGE : JOB_NO_MEMORY;
}
