// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/hotspot/stores.h"

#include <string.h>

/* --- x86-64 ---------------------------------------------------------------------------- */

/* movq $number, to(%rip): 48 c7 05, and 4 bytes each of both */
void stores_x86(const struct elf_bytes *code, uint64_t vaddr, stores_fn fn, void *ctx)
{
	static const uint8_t movq[] = { 0x48, 0xc7, 0x05 };
	const size_t len = sizeof(movq) + 8;
	int32_t rel, number;

	for (size_t i = 0; i + len <= code->len; i++) {
		const uint8_t *p = code->data + i;

		if (p[0] != movq[0] || memcmp(p, movq, sizeof(movq)))
			continue;
		memcpy(&rel, p + 3, sizeof(rel));
		memcpy(&number, p + 7, sizeof(number));
		fn(ctx, vaddr + i + len + (uint64_t)(int64_t)rel,
		   (uint64_t)(int64_t)number);
	}
}

/* --- arm64: the registers whose value is known -------------------------------------------- */

#define XZR	31		/* as a source of stores and moves */

struct stores_known {
	uint64_t value[32];
	uint32_t is;		/* bit i: register i holds value[i] */
	stores_fn fn;
	void *ctx;
};

static void stores_set(struct stores_known *k, uint32_t reg, bool is, uint64_t value)
{
	if (reg == XZR)
		return;
	k->value[reg] = value;
	k->is = (k->is & ~(1u << reg)) | (uint32_t)is << reg;
}

static bool stores_has(const struct stores_known *k, uint32_t reg)
{
	return k->is >> reg & 1;
}

/* ADRP: the page of pc, and 21 bits of pages. */
static uint64_t stores_page(uint32_t w, uint64_t pc)
{
	int64_t pages = (int32_t)(w >> 5 << 13) >> 11;

	pages |= w >> 29 & 3;
	return (pc & ~4095ULL) + (uint64_t)pages * 4096;
}

/* MOVZ, MOVN, MOVK of 64 bits; MOVZ of 32.  False: another instruction. */
static bool stores_move(struct stores_known *k, uint32_t w)
{
	uint32_t rd = w & 31, shift = (w >> 21 & 3) * 16;
	uint64_t v = (uint64_t)(w >> 5 & 0xffff) << shift;

	switch (w >> 23) {
	case 0xd2800000u >> 23:
	case 0x52800000u >> 23:
		stores_set(k, rd, true, v);
		return true;
	case 0x92800000u >> 23:
		stores_set(k, rd, true, ~v);
		return true;
	case 0xf2800000u >> 23:
		v |= k->value[rd] & ~(0xffffULL << shift);
		stores_set(k, rd, stores_has(k, rd), v);
		return true;
	default:
		return false;
	}
}

/* STR and STP of 64 bits to a known address.  False: another instruction. */
static bool stores_store(const struct stores_known *k, uint32_t w)
{
	uint32_t rt = w & 31, rn = w >> 5 & 31, rt2 = w >> 10 & 31;
	uint64_t at = k->value[rn];
	bool pair = (w & 0xffc00000) == 0xa9000000;

	if (!pair && (w & 0xffc00000) != 0xf9000000)
		return false;
	if (rn == XZR || !stores_has(k, rn))	/* sp */
		return true;
	if (pair)
		at += (uint64_t)((int64_t)(int32_t)(w << 10) >> 25) * 8;
	else
		at += (uint64_t)(w >> 10 & 0xfff) * 8;
	if (stores_has(k, rt))
		k->fn(k->ctx, at, k->value[rt]);
	if (pair && stores_has(k, rt2))
		k->fn(k->ctx, at + 8, k->value[rt2]);
	return true;
}

static void stores_insn(struct stores_known *k, uint32_t w, uint64_t pc)
{
	uint32_t rd = w & 31, rn = w >> 5 & 31;

	if (stores_store(k, w) || stores_move(k, w))
		return;
	if ((w & 0x9f000000) == 0x90000000) {			/* ADRP */
		stores_set(k, rd, true, stores_page(w, pc));
	} else if ((w & 0xff800000) == 0x91000000) {		/* ADD, a number */
		stores_set(k, rd, rn != XZR && stores_has(k, rn),
			   k->value[rn] + ((uint64_t)(w >> 10 & 0xfff) <<
					  (w >> 22 & 1) * 12));
	} else if ((w & 0xffe0ffe0) == 0xaa0003e0) {		/* MOV */
		stores_set(k, rd, stores_has(k, w >> 16 & 31), k->value[w >> 16 & 31]);
	} else if ((w & 0xfc000000) == 0x94000000) {		/* BL: x0 to x18, x30 */
		k->is &= ~(0x7ffffu | 1u << 30);
	} else if (w == 0xd65f03c0) {				/* RET */
		k->is = 1u << XZR;
	} else if ((w & 0x7c000000) != 0x14000000 &&		/* not B, B.cond */
		   (w & 0xfe000000) != 0x54000000) {
		stores_set(k, rd, false, 0);
		if ((w & 0x3a000000) == 0x28000000)		/* LDP */
			stores_set(k, w >> 10 & 31, false, 0);
	}
}

void stores_arm64(const struct elf_bytes *code, uint64_t vaddr, stores_fn fn, void *ctx)
{
	struct stores_known k = { .is = 1u << XZR, .fn = fn, .ctx = ctx };
	uint32_t w;

	for (size_t i = 0; i + sizeof(w) <= code->len; i += sizeof(w)) {
		memcpy(&w, code->data + i, sizeof(w));
		stores_insn(&k, w, vaddr + i);
	}
}
