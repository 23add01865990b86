// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/python/code.h"

#include <stdlib.h>
#include <string.h>

#define JUMPS_MIN	4	/* each way; in CPythons with such a part: 12 and more */

bool code_read(const struct elf_file *f, uint64_t start, uint64_t len,
	       struct elf_bytes *ret)
{
	uint64_t off, left;

	return elf_file_offset(f, start, true, &off, &left) && len <= left &&
	       !elf_file_read(f, off, len, ret);
}

/* --- functions that only load a variable ------------------------------------------ */

/* x86-64: does the function consist of these opcode bytes, a number of 4, and ret? */
static bool code_is_load(const struct elf_file *f, uint64_t function,
			 const uint8_t *op, size_t n, int32_t *ret, uint64_t *end)
{
	static const uint8_t endbr64[4] = { 0xf3, 0x0f, 0x1e, 0xfa };
	struct elf_bytes b;
	size_t at = 0;
	bool is;

	if (f->ehdr.e_machine != EM_X86_64 ||
	    !code_read(f, function, sizeof(endbr64) + n + 5, &b))
		return false;
	if (!memcmp(b.data, endbr64, sizeof(endbr64)))
		at = sizeof(endbr64);
	is = !memcmp(b.data + at, op, n) && b.data[at + n + 4] == 0xc3;
	if (is)
		memcpy(ret, b.data + at + n, sizeof(*ret));
	*end = function + at + n + 4;
	elf_bytes_free(&b);
	return is;
}

bool code_returns(const struct elf_file *f, uint64_t function, uint64_t *ret)
{
	static const uint8_t mov[] = { 0x48, 0x8b, 0x05 };	/* x(%rip), %rax */
	uint64_t end;
	int32_t rel;

	if (!code_is_load(f, function, mov, sizeof(mov), &rel, &end))
		return false;
	*ret = end + (uint64_t)(int64_t)rel;
	return true;
}

bool code_returns_tls(const struct elf_file *f, uint64_t function, int32_t *ret)
{
	static const uint8_t mov[] = { 0x64, 0x48, 0x8b, 0x04, 0x25 };	/* %fs:x */
	uint64_t end;

	return code_is_load(f, function, mov, sizeof(mov), ret, &end);
}

/* --- functions by their FDEs ------------------------------------------------------- */

int64_t code_fde_before(const struct eh_frame_hdr *t, uint64_t addr)
{
	size_t lo = 0, hi = t->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (eh_frame_hdr_start(t, mid) < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (int64_t)lo - 1;
}

bool code_fde_range(const struct elf_file *f, const struct eh_frame_hdr *t, size_t i,
		    struct code_span *ret)
{
	struct { uint32_t len, cie; int32_t start; uint32_t len_code; } fde;
	uint64_t at = eh_frame_hdr_fde(t, i);

	if (!elf_file_get(f, at, &fde, sizeof(fde)))
		return false;
	ret->start = eh_frame_hdr_start(t, i);
	ret->end = ret->start + fde.len_code;
	return fde.len_code && fde.len_code <= CODE_MAX &&
	       at + 8 + (uint64_t)(int64_t)fde.start == ret->start;
}

/* --- jumps -------------------------------------------------------------------------- */

/* Tries every byte, since it is not known where instructions begin.  What only looks
 * like a jump has a random target. */
static void code_jumps_x86(const uint8_t *b, size_t len, uint64_t start, jump_fn fn,
			   void *ctx)
{
	for (size_t i = 0; i + 5 <= len; i++) {
		size_t at = 0;
		int32_t rel;

		if (b[i] == 0xe9)					/* jmp */
			at = 1;
		else if (b[i] == 0x0f && b[i + 1] >> 4 == 8)		/* jcc */
			at = 2;
		if (!at || i + at + 4 > len)
			continue;
		memcpy(&rel, b + i + at, sizeof(rel));
		fn(ctx, start + i + at + 4 + (uint64_t)(int64_t)rel);
	}
}

/* A signed number in the bits of instruction w from `low` on. */
static int64_t code_arm_number(uint32_t w, unsigned low, unsigned bits)
{
	return (int32_t)(w << (32 - low - bits)) >> (32 - bits);
}

static void code_jumps_arm(const uint8_t *b, size_t len, uint64_t start, jump_fn fn,
			   void *ctx)
{
	for (size_t i = 0; i + 4 <= len; i += 4) {
		int64_t words = 0;
		uint32_t w;

		memcpy(&w, b + i, sizeof(w));
		if (w >> 26 == 5)				/* b */
			words = code_arm_number(w, 0, 26);
		else if ((w & 0xff000010) == 0x54000000 ||	/* b.cond */
			 (w & 0x7e000000) == 0x34000000)	/* cbz, cbnz */
			words = code_arm_number(w, 5, 19);
		else if ((w & 0x7e000000) == 0x36000000)	/* tbz, tbnz */
			words = code_arm_number(w, 5, 14);
		if (words)
			fn(ctx, start + i + (uint64_t)(4 * words));
	}
}

bool code_jumps(const struct elf_file *f, const struct code_span *r, jump_fn fn,
		void *ctx)
{
	struct elf_bytes b;

	if (r->end <= r->start || r->end - r->start > CODE_MAX ||
	    !code_read(f, r->start, r->end - r->start, &b))
		return false;
	if (f->ehdr.e_machine == EM_X86_64)
		code_jumps_x86(b.data, b.len, r->start, fn, ctx);
	else
		code_jumps_arm(b.data, b.len, r->start, fn, ctx);
	elf_bytes_free(&b);
	return true;
}

/* --- the other part ------------------------------------------------------------------ */

struct code_into {
	struct code_span range;
	uint32_t n;
};

static void code_count_into(void *ctx, uint64_t target)
{
	struct code_into *c = ctx;

	if (target > c->range.start && target < c->range.end)
		c->n++;
}

struct code_votes {
	const struct code_span *from;
	const struct eh_frame_hdr *fdes;
	uint32_t *n;		/* by FDE */
};

static void code_count_vote(void *ctx, uint64_t target)
{
	struct code_votes *v = ctx;
	int64_t i;

	if (target >= v->from->start && target < v->from->end)
		return;
	i = code_fde_before(v->fdes, target);
	/* not to where a function begins, which only the next one could */
	if (i >= 0 && (i + 1 == v->fdes->n ||
		       eh_frame_hdr_start(v->fdes, i + 1) != target))
		v->n[i]++;
}

/* The function that this one jumps into most; -1: none often enough. */
static int64_t code_most_votes(const struct elf_file *f, const struct code_span *from,
			       const struct eh_frame_hdr *fdes)
{
	struct code_votes v = { from, fdes, calloc(fdes->n + 1, sizeof(*v.n)) };
	int64_t best = -1;

	if (v.n && code_jumps(f, from, code_count_vote, &v)) {
		for (uint32_t i = 0; i < fdes->n; i++) {
			if (v.n[i] >= JUMPS_MIN &&
			    (best < 0 || v.n[i] > v.n[best]))
				best = i;
		}
	}
	free(v.n);
	return best;
}

bool code_other_part(const struct elf_file *f, const struct code_span *function,
		     struct code_span *ret)
{
	struct code_into back = { .range = *function };
	struct eh_frame_hdr fdes;
	bool found = false;
	int64_t i = -1;

	if (!eh_frame_hdr_read(f, &fdes))
		i = code_most_votes(f, function, &fdes);
	if (i >= 0 && code_fde_range(f, &fdes, i, ret) &&
	    code_jumps(f, ret, code_count_into, &back))
		found = back.n >= JUMPS_MIN;
	elf_bytes_free(&fdes.b);
	return found;
}
