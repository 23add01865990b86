// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/python/tail.h"

#include <stdlib.h>
#include <string.h>

#define TABLE		256	/* instructions */
#define DIFFERENT_MIN	64	/* functions for them; unused numbers share one */
#define CALLED_MAX	32	/* functions called by the loop that are searched */
#define CALLED_SIZE	8192	/* bytes of one */
#define TRIED_MAX	64	/* addresses that may be the table's */
#define RELOCS_MAX	(4u << 20)	/* bytes of relocations */
#define VOTES_MIN	4
#define PART_MAX	(16u << 10)	/* bytes of a part; with clang 19: 1,828 */
#define GAP_MAX		64	/* bytes between adjacent functions */

struct tail {
	const struct elf_file *f;
	struct eh_frame_hdr fdes;
	struct elf_bytes relocs;	/* DT_RELA */
	uint64_t called[CALLED_MAX];
	uint64_t tried[TRIED_MAX];
	uint32_t n_called, n_tried, n_parts;
	uint32_t *votes;	/* for each FDE: jumps to where it begins */
	bool *part;		/* for each FDE: is it part of the loop? */
};

/* The FDE that begins at an address; -1: none. */
static int64_t tail_fde(const struct tail *t, uint64_t addr)
{
	int64_t i = code_fde_before(&t->fdes, addr + 1);

	if (i < 0 || eh_frame_hdr_start(&t->fdes, (size_t)i) != addr)
		return -1;
	return i;
}

/* --- the table -------------------------------------------------------------------- */

/* In a position-independent executable, pointers are filled in when it is loaded. */
static void tail_read_relocs(struct tail *t)
{
	uint64_t at = 0, len = 0, off, left;
	const Elf64_Phdr *p = elf_file_segment(t->f, PT_DYNAMIC);
	struct elf_bytes b;
	Elf64_Dyn d;

	if (!p || elf_file_read(t->f, p->p_offset, p->p_filesz, &b))
		return;
	for (size_t i = 0; i + sizeof(d) <= b.len; i += sizeof(d)) {
		memcpy(&d, b.data + i, sizeof(d));
		if (d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_RELA)
			at = d.d_un.d_ptr;
		if (d.d_tag == DT_RELASZ)
			len = d.d_un.d_val;
	}
	elf_bytes_free(&b);
	if (at && len && len <= RELOCS_MAX &&
	    elf_file_offset(t->f, at, false, &off, &left) && len <= left)
		elf_file_read(t->f, off, len, &t->relocs);
}

static void tail_relocate(const struct tail *t, uint64_t at, uint64_t *words)
{
	for (size_t i = 0; i + sizeof(Elf64_Rela) <= t->relocs.len;
	     i += sizeof(Elf64_Rela)) {
		Elf64_Rela r;

		memcpy(&r, t->relocs.data + i, sizeof(r));
		if (ELF64_R_TYPE(r.r_info) == R_X86_64_RELATIVE &&
		    r.r_offset - at < 8 * TABLE && !((r.r_offset - at) & 7))
			words[(r.r_offset - at) / 8] = (uint64_t)r.r_addend;
	}
}

/* Is there a table of functions at this address?  Then they are parts. */
static bool tail_take_table(struct tail *t, uint64_t at)
{
	uint64_t words[TABLE], off;
	uint32_t n = 0;

	if ((at & 7) || elf_file_offset(t->f, at, true, &off, NULL) ||
	    !elf_file_get(t->f, at, words, sizeof(words)))
		return false;
	tail_relocate(t, at, words);
	for (int i = 0; i < TABLE; i++) {
		if (tail_fde(t, words[i]) < 0)
			return false;
	}
	for (int i = 0; i < TABLE; i++) {
		bool *part = &t->part[tail_fde(t, words[i])];

		if (!*part)
			n++;
		*part = true;
	}
	if (n < DIFFERENT_MIN)
		memset(t->part, 0, t->fdes.n * sizeof(*t->part));
	return n >= DIFFERENT_MIN;
}

static bool tail_try(struct tail *t, uint64_t at)
{
	for (uint32_t i = 0; i < t->n_tried; i++) {
		if (t->tried[i] == at)
			return false;
	}
	if (t->n_tried == TRIED_MAX)
		return false;
	t->tried[t->n_tried++] = at;
	return tail_take_table(t, at);
}

static void tail_note_call(struct tail *t, uint64_t to)
{
	for (uint32_t i = 0; i < t->n_called; i++) {
		if (t->called[i] == to)
			return;
	}
	if (t->n_called < CALLED_MAX && tail_fde(t, to) >= 0)
		t->called[t->n_called++] = to;
}

/* Does this code use a table?  calls: also note what it calls.  Tries every byte, since
 * it is not known where instructions begin. */
static bool tail_look(struct tail *t, const struct code_span *r, bool calls)
{
	struct elf_bytes b;
	bool found = false;

	if (!code_read(t->f, r->start, r->end - r->start, &b))
		return false;
	for (size_t i = 0; i + 7 <= b.len && !found; i++) {
		const uint8_t *c = b.data + i;
		int32_t n;

		memcpy(&n, c + 3, sizeof(n));
		if ((c[0] & 0xfb) == 0x48 && c[1] == 0x8d && (c[2] & 0xc7) == 5)
			/* lea n(%rip), register */
			found = tail_try(t, r->start + i + 7 + (uint64_t)(int64_t)n);
		else if (c[0] == 0xff && c[1] == 0x24 && (c[2] & 0xc7) == 0xc5)
			/* jmp *n(, register, 8) */
			found = tail_try(t, (uint64_t)(int64_t)n);
		memcpy(&n, c + 1, sizeof(n));
		if (calls && c[0] == 0xe8)
			tail_note_call(t, r->start + i + 5 + (uint64_t)(int64_t)n);
	}
	elf_bytes_free(&b);
	return found;
}

static bool tail_find_table(struct tail *t, const struct code_span *loop)
{
	if (tail_look(t, loop, true))
		return true;
	for (uint32_t i = 0; i < t->n_called; i++) {
		int64_t fde = tail_fde(t, t->called[i]);
		struct code_span r;

		if (code_fde_range(t->f, &t->fdes, (size_t)fde, &r) &&
		    r.end - r.start <= CALLED_SIZE && tail_look(t, &r, false))
			return true;
	}
	return false;
}

/* --- the parts --------------------------------------------------------------------- */

static void tail_vote(void *ctx, uint64_t target)
{
	struct tail *t = ctx;
	int64_t i = tail_fde(t, target);

	if (i >= 0)
		t->votes[i]++;
}

static bool tail_part(const struct tail *t, uint32_t i, struct code_span *ret)
{
	return t->part[i] && code_fde_range(t->f, &t->fdes, i, ret) &&
	       ret->end - ret->start <= PART_MAX;
}

/* Functions that parts jump to: code that instructions share, such as errors. */
static void tail_take_common(struct tail *t)
{
	struct code_span r;

	for (uint32_t i = 0; i < t->fdes.n; i++) {
		if (tail_part(t, i, &r))
			code_jumps(t->f, &r, tail_vote, t);
	}
	for (uint32_t i = 0; i < t->fdes.n; i++) {
		if (t->votes[i] >= VOTES_MIN)
			t->part[i] = true;
	}
}

static uint32_t tail_ranges(const struct tail *t, uint64_t loop,
			    struct code_span *ret, uint32_t max)
{
	uint32_t n = 0, next = 0;	/* after the last one that was taken */
	struct code_span r;

	for (uint32_t i = 0; i < t->fdes.n; i++) {
		if (eh_frame_hdr_start(&t->fdes, i) == loop || !tail_part(t, i, &r))
			continue;
		if (n && i == next && r.start - ret[n - 1].end <= GAP_MAX)
			ret[n - 1].end = r.end;
		else if (n < max)
			ret[n++] = r;
		else
			break;
		next = i + 1;
	}
	return n;
}

uint32_t tail_parts(const struct elf_file *f, const struct code_span *loop,
		    struct code_span *ret, uint32_t max)
{
	struct tail t = { .f = f };
	uint32_t n = 0;

	if (f->ehdr.e_machine != EM_X86_64 || loop->end - loop->start > TAIL_LOOP_MAX ||
	    eh_frame_hdr_read(f, &t.fdes))
		return 0;
	t.part = calloc(t.fdes.n + 1, sizeof(*t.part));
	t.votes = calloc(t.fdes.n + 1, sizeof(*t.votes));
	tail_read_relocs(&t);
	if (t.part && t.votes && tail_find_table(&t, loop)) {
		tail_take_common(&t);
		n = tail_ranges(&t, loop->start, ret, max);
	}
	elf_bytes_free(&t.relocs);
	elf_bytes_free(&t.fdes.b);
	free(t.part);
	free(t.votes);
	return n;
}
