// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/message_hub.h"
#include "symbolizerd/elf/eh_frame_hdr.h"

/* An FDE of 32 bits: length, distance to its CIE, start, bytes of code. */
struct ranges_fde {
	uint32_t len, cie;
	int32_t start;
	uint32_t size;
};

/* --- _start and main -------------------------------------------------------------- */

struct ranges_known {		/* virtual addresses; 0: not known */
	uint64_t start, main;
};

#define ENTRY_LOOK	64	/* bytes of _start that are read */

struct ranges_entry {
	const uint8_t *at, *end;
	uint64_t vaddr;		/* of .at */
};

/* Skip these bytes, if they are next and more follow. */
static bool ranges_entry_skip(struct ranges_entry *c, const char *bytes, size_t len)
{
	if ((size_t)(c->end - c->at) <= len || memcmp(c->at, bytes, len))
		return false;
	c->at += len;
	c->vaddr += len;
	return true;
}

/* An instruction of 3 bytes, and its number of 4. */
static bool ranges_entry_number(struct ranges_entry *c, const char *bytes, int64_t *ret)
{
	int32_t v;

	if (c->end - c->at <= 7 || !ranges_entry_skip(c, bytes, 3))
		return false;
	memcpy(&v, c->at, sizeof(v));
	c->at += 4;
	c->vaddr += 4;
	*ret = v;
	return true;
}

/* An address is loaded into a register: relative to the code, or as it is. */
static bool ranges_entry_address(struct ranges_entry *c, const char *lea, const char *mov,
				 uint64_t *ret)
{
	int64_t v;

	if (ranges_entry_number(c, lea, &v))
		*ret = c->vaddr + (uint64_t)v;
	else if (ranges_entry_number(c, mov, &v))
		*ret = (uint64_t)v;
	else
		return false;
	return true;
}

static void ranges_entry_x86(struct ranges_entry *c, struct ranges_known *e)
{
	/* xor ebp; mov r9, rdx; pop rsi; mov rdx, rsp; and rsp, -16; push rax; push rsp */
	static const char begin[] = "\x31\xed\x49\x89\xd1\x5e\x48\x89\xe2\x48\x83\xe4\xf0\x50\x54";
	uint64_t start = c->vaddr, to = 0, other;

	ranges_entry_skip(c, "\xf3\x0f\x1e\xfa", 4);
	if (!ranges_entry_skip(c, begin, sizeof(begin) - 1))
		return;
	e->start = start;
	/* r8 and rcx: 0; before glibc 2.34, functions of the program */
	if (!ranges_entry_skip(c, "\x45\x31\xc0\x31\xc9", 5) &&
	    (!ranges_entry_address(c, "\x4c\x8d\x05", "\x49\xc7\xc0", &other) ||
	     !ranges_entry_address(c, "\x48\x8d\x0d", "\x48\xc7\xc1", &other)))
		return;
	if (ranges_entry_address(c, "\x48\x8d\x3d", "\x48\xc7\xc7", &to) &&
	    (ranges_entry_skip(c, "\xff\x15", 2) || ranges_entry_skip(c, "\xe8", 1) ||
	     ranges_entry_skip(c, "\x67\xe8", 2)))
		e->main = to;
}

static void ranges_entry_arm(struct ranges_entry *c, struct ranges_known *e)
{
	/* mov x29, 0; mov x30, 0; mov x5, x0; ldr x1, [sp]; add x2, sp, 8; mov x6, sp */
	static const char begin[] = "\x1d\x00\x80\xd2\x1e\x00\x80\xd2\xe5\x03\x00\xaa"
				    "\xe1\x03\x40\xf9\xe2\x23\x00\x91\xe6\x03\x00\x91";
	uint64_t start = c->vaddr;

	/* bti c, or nop */
	if (!ranges_entry_skip(c, "\x5f\x24\x03\xd5", 4))
		ranges_entry_skip(c, "\x1f\x20\x03\xd5", 4);
	if (ranges_entry_skip(c, begin, sizeof(begin) - 1))
		e->start = start;
}

static struct ranges_known ranges_entry_read(const struct elf_file *f)
{
	struct ranges_known e = { 0 };
	struct ranges_entry c = { .vaddr = f->ehdr.e_entry };
	struct elf_bytes b;
	uint64_t off, left;

	if (!elf_file_offset(f, c.vaddr, true, &off, &left))
		return e;
	if (left > ENTRY_LOOK)
		left = ENTRY_LOOK;
	if (elf_file_read(f, off, left, &b))
		return e;
	c.at = b.data;
	c.end = b.data + b.len;
	if (f->ehdr.e_machine == EM_AARCH64)
		ranges_entry_arm(&c, &e);
	else
		ranges_entry_x86(&c, &e);
	elf_bytes_free(&b);
	return e;
}

/* --- ranges ----------------------------------------------------------------------- */

/* One entry of the table.  False: its FDE does not say the same. */
static bool ranges_one(const struct eh_frame_hdr *hdr, const struct elf_bytes *frame,
		       uint32_t i, struct code_range *ret)
{
	uint64_t fde_at = eh_frame_hdr_fde(hdr, i), at = fde_at - frame->vaddr;
	struct ranges_fde fde;
	uint64_t start;

	if (at >= frame->len || frame->len - at < sizeof(fde))
		return false;
	memcpy(&fde, frame->data + at, sizeof(fde));
	start = fde_at + offsetof(struct ranges_fde, start) + (uint64_t)(int64_t)fde.start;
	*ret = (struct code_range){ .vaddr = start, .size = fde.size };
	return fde.size && start == eh_frame_hdr_start(hdr, i);
}

static int ranges_take(const struct elf_file *f, const struct eh_frame_hdr *hdr,
		       struct code_range **ret, uint32_t *n)
{
	struct ranges_known known = ranges_entry_read(f);
	uint32_t count = hdr->n < RANGES_MAX ? hdr->n : RANGES_MAX;
	struct code_range *v = calloc(count, sizeof(*v));
	struct elf_bytes frame;
	int r = JOB_NO_MEMORY;

	if (v)
		r = elf_file_at(f, hdr->frame, &frame);
	if (r) {
		free(v);
		return r;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (!ranges_one(hdr, &frame, i, &v[*n]))
			continue;
		if (v[*n].vaddr == known.start)
			v[*n].known = RANGE_START;
		else if (v[*n].vaddr == known.main)
			v[*n].known = RANGE_MAIN;
		++*n;
	}
	elf_bytes_free(&frame);
	*ret = v;
	return JOB_OK;
}

int ranges_read(const struct elf_file *f, struct code_range **ret, uint32_t *n)
{
	struct eh_frame_hdr hdr;
	int r = eh_frame_hdr_read(f, &hdr);

	*ret = NULL;
	*n = 0;
	if (!r && hdr.n)
		r = ranges_take(f, &hdr, ret, n);
	elf_bytes_free(&hdr.b);
	if (r == JOB_NO_MEMORY)
		return r;
	return JOB_OK;
}
