// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/entry.h"

#include <string.h>

#include "ipc/message_hub.h"

#define ENTRY_LOOK	64	/* bytes of _start, at most */

struct entry_code {
	const uint8_t *at, *end;
	uint64_t vaddr;		/* of .at */
};

/* Skip these bytes, if they are next and some are behind. */
static bool entry_skip(struct entry_code *c, const char *bytes, size_t len)
{
	if ((size_t)(c->end - c->at) <= len || memcmp(c->at, bytes, len))
		return false;
	c->at += len;
	c->vaddr += len;
	return true;
}

/* An instruction of 3 bytes with a number of 4 behind it. */
static bool entry_number(struct entry_code *c, const char *bytes, int64_t *ret)
{
	int32_t v;

	if (c->end - c->at <= 7 || !entry_skip(c, bytes, 3))
		return false;
	memcpy(&v, c->at, sizeof(v));
	c->at += 4;
	c->vaddr += 4;
	*ret = v;
	return true;
}

/* A register gets an address, as position independent code has it or not. */
static bool entry_address(struct entry_code *c, const char *lea, const char *mov,
			  uint64_t *ret)
{
	int64_t v;

	if (entry_number(c, lea, &v))
		*ret = c->vaddr + (uint64_t)v;
	else if (entry_number(c, mov, &v))
		*ret = (uint64_t)v;
	else
		return false;
	return true;
}

static void entry_x86(struct entry_code *c, struct entry_point *e)
{
	/* xor ebp; mov r9, rdx; pop rsi; mov rdx, rsp; and rsp, -16; push rax; push rsp */
	static const char begin[] = "\x31\xed\x49\x89\xd1\x5e\x48\x89\xe2\x48\x83\xe4\xf0\x50\x54";
	uint64_t start = c->vaddr, to = 0, other;

	entry_skip(c, "\xf3\x0f\x1e\xfa", 4);
	if (!entry_skip(c, begin, sizeof(begin) - 1))
		return;
	e->start = start;
	/* r8 and rcx: 0, or before 2.34 functions of the program */
	if (!entry_skip(c, "\x45\x31\xc0\x31\xc9", 5) &&
	    (!entry_address(c, "\x4c\x8d\x05", "\x49\xc7\xc0", &other) ||
	     !entry_address(c, "\x48\x8d\x0d", "\x48\xc7\xc1", &other)))
		return;
	if (entry_address(c, "\x48\x8d\x3d", "\x48\xc7\xc7", &to) &&
	    (entry_skip(c, "\xff\x15", 2) || entry_skip(c, "\xe8", 1) ||
	     entry_skip(c, "\x67\xe8", 2)))
		e->main = to;
}

static void entry_arm(struct entry_code *c, struct entry_point *e)
{
	/* mov x29, 0; mov x30, 0; mov x5, x0; ldr x1, [sp]; add x2, sp, 8; mov x6, sp */
	static const char begin[] = "\x1d\x00\x80\xd2\x1e\x00\x80\xd2\xe5\x03\x00\xaa"
				    "\xe1\x03\x40\xf9\xe2\x23\x00\x91\xe6\x03\x00\x91";
	uint64_t start = c->vaddr;

	/* bti c, or nop */
	if (!entry_skip(c, "\x5f\x24\x03\xd5", 4))
		entry_skip(c, "\x1f\x20\x03\xd5", 4);
	if (entry_skip(c, begin, sizeof(begin) - 1))
		e->start = start;
}

struct entry_point entry_read(const struct elf_file *f)
{
	struct entry_point e = { 0 };
	struct entry_code c = { .vaddr = f->ehdr.e_entry };
	struct elf_bytes b;
	uint64_t off, left;

	if (!elf_file_offset(f, c.vaddr, true, &off, &left) ||
	    elf_file_read(f, off, left < ENTRY_LOOK ? left : ENTRY_LOOK, &b))
		return e;
	c.at = b.data;
	c.end = b.data + b.len;
	if (f->ehdr.e_machine == EM_AARCH64)
		entry_arm(&c, &e);
	else
		entry_x86(&c, &e);
	elf_bytes_free(&b);
	return e;
}
