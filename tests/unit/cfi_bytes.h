/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_bytes - writing .eh_frame and .debug_frame by hand, for tests
 */
#ifndef TESTS_CFI_BYTES_H
#define TESTS_CFI_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/unit/harness.h"

#define CFI_VADDR	0x400000	/* where the bytes are loaded */

struct cfi_bytes {
	uint8_t b[16384];
	size_t n;
};

static inline void put(struct cfi_bytes *o, const void *p, size_t len)
{
	CHECK(sizeof(o->b) - o->n >= len);
	memcpy(o->b + o->n, p, len);
	o->n += len;
}

static inline void put8(struct cfi_bytes *o, uint8_t v)
{
	put(o, &v, sizeof(v));
}

static inline void put32(struct cfi_bytes *o, uint32_t v)
{
	put(o, &v, sizeof(v));
}

static inline void put64(struct cfi_bytes *o, uint64_t v)
{
	put(o, &v, sizeof(v));
}

/* The length at `at` is that of all behind it, padded by DW_CFA_nop. */
static inline void put_end(struct cfi_bytes *o, size_t at)
{
	uint32_t len;

	while (o->n % 4)
		put8(o, 0);
	len = o->n - at - 4;
	memcpy(o->b + at, &len, sizeof(len));
}

/* version 1, "zR", code 1, data -8, return address 16, pcrel | sdata4;
 * initially CFA is rsp + 8, the return address at CFA - 8.  Returns where. */
static inline size_t put_cie(struct cfi_bytes *o)
{
	static const uint8_t body[] = {
		1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b,
		0x0c, 7, 8, 0x80 | 16, 1,
	};
	size_t at = o->n;

	put32(o, 0);
	put32(o, 0);
	put(o, body, sizeof(body));
	put_end(o, at);
	return at;
}

/* An FDE of that CIE for [start, start + len). */
static inline size_t put_fde(struct cfi_bytes *o, size_t cie, uint64_t start,
			     uint32_t len, const void *ops, size_t n)
{
	size_t at = o->n;

	put32(o, 0);
	put32(o, at + 4 - cie);
	put32(o, start - (CFI_VADDR + o->n));
	put32(o, len);
	put8(o, 0);
	put(o, ops, n);
	put_end(o, at);
	return at;
}

#endif /* TESTS_CFI_BYTES_H */
