// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/unwind/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/message_hub.h"
#include "symbolizerd/elf/eh_frame_hdr.h"
#include "symbolizerd/unwind/known.h"
#include "symbolizerd/unwind/table.h"

struct build {
	const struct elf_file *f;
	struct table_builder table;
	uint32_t n_loops;
	struct loop {
		uint64_t start, end;	/* file offsets */
		uint8_t mark;		/* RULE_LOOP, RULE_LOOP_PART */
	} loops[UNWIND_SPANS];
};

static int build_on_row(void *ctx, uint64_t start, uint64_t end,
			const struct unwind_rule *rule)
{
	struct build *b = ctx;
	uint64_t off, left;

	if (rule->cfa == CFA_RUNTIME && start < RUNTIME_FACTS)
		return table_builder_add(&b->table, start, start + 1, rule);
	/* text that a runtime goes by is no code */
	if (!elf_file_offset(b->f, start, rule->cfa != CFA_RUNTIME, &off, &left))
		return 0;
	/* the ELF header: what the sampler finds there are facts */
	if (off < RUNTIME_FACTS)
		return 0;
	if (left > end - start)
		left = end - start;
	if (rule->cfa == CFA_NONE && rule->by_fp & (RULE_LOOP | RULE_LOOP_PART)) {
		if (b->n_loops < UNWIND_SPANS)
			b->loops[b->n_loops++] = (struct loop){ off, off + left,
								rule->by_fp };
		return 0;
	}
	return table_builder_add(&b->table, off, off + left, rule);
}

/* --- through PT_GNU_EH_FRAME ------------------------------------------------- */

/* Offsets of FDEs from the start of .eh_frame. */
static int build_read_fdes(const struct eh_frame_hdr *h, const struct elf_bytes *frame,
			   struct cfi_source *src)
{
	uint32_t *fdes = malloc(h->n * sizeof(*fdes));

	if (!fdes)
		return JOB_NO_MEMORY;
	for (uint32_t i = 0; i < h->n; i++) {
		uint64_t at = eh_frame_hdr_fde(h, i) - frame->vaddr;

		fdes[i] = at < frame->len ? at : UINT32_MAX;
	}
	src->fdes = fdes;
	src->n_fdes = h->n;
	return JOB_OK;
}

/* Nothing says where .eh_frame ends, so its FDEs are taken from the table. */
static int build_through_header(const struct elf_file *f, struct cfi_source *src,
				struct elf_bytes *ret)
{
	struct eh_frame_hdr h;
	int r = eh_frame_hdr_read(f, &h);

	if (!r && h.n) {
		r = elf_file_at(f, h.frame, ret);
		if (!r)
			r = build_read_fdes(&h, ret, src);
	}
	elf_bytes_free(&h.b);
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
	/* rows before the broken part are kept */
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
	if (r)
		return r;
	return build_walk(b, &src, &bytes);
}

/* A table that contradicts itself has no rows. */
static int build_from_runtimes(struct build *b, unwind_rows_fn rows)
{
	int r = JOB_OK;

	if (rows)
		r = rows(b->f, build_on_row, b);
	if (r < 0 || r == JOB_NO_MEMORY)
		return r;
	return JOB_OK;
}

/* end: the places where stacks end; otherwise the others. */
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

/* Later sources cannot change the rows so far.  r, or a failure of this. */
static int build_settle(struct build *b, int r)
{
	int settled = table_builder_next_source(&b->table);

	if (settled)
		return settled;
	return r;
}

static int build_mark_loops(struct build *b)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < b->n_loops; i++)
		r = table_builder_mark(&b->table, b->loops[i].start, b->loops[i].end,
				       b->loops[i].mark);
	return r;
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
	r = build_from_known(&b, known, n, true);
	r = build_settle(&b, r);
	if (!r)
		r = build_from_eh_frame(&b);
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
	if (!r)
		r = build_mark_loops(&b);
	if (!r)
		r = table_builder_finish(&b.table, ret, len);
	table_builder_fini(&b.table);
	if (r == -E2BIG)
		return JOB_TOO_LARGE;
	if (r < 0)
		return JOB_NO_MEMORY;
	return r;
}
