/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_kernel - a kernel that names addresses as %pB does, for those who link
 * loaderd/ksyms.c without loaderd/bpf.c
 *
 * SYMBOLS symbols lie back to back from KERNEL_TEXT on, symbol i of
 * fake_size(i) bytes; addresses beyond have no name.
 */
#ifndef TESTS_FAKE_KERNEL_H
#define TESTS_FAKE_KERNEL_H

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include "loaderd/bpf.h"

#define KERNEL_TEXT	0xffffffff81000000ULL
#define SYMBOLS		400

static unsigned int fake_asked;		/* calls of bpf_name() */
static unsigned int fake_life;		/* changes every name */
static const char *fake_answer;		/* to every question, if not NULL */

static inline uint32_t fake_size(unsigned int i)
{
	return 16 + i * 37 % 5000;
}

static inline uint64_t fake_start(unsigned int n)
{
	uint64_t at = KERNEL_TEXT;

	for (unsigned int i = 0; i < n; i++)
		at += fake_size(i);
	return at;
}

static inline void fake_name(unsigned int i, char *ret, size_t size)
{
	snprintf(ret, size, i % 3 ? "sym%u_%u" : "sym%u_%u [mod]", i,
		 fake_life);
}

/* As the kernel does: of the instruction before addr. */
int bpf_name(struct bpf *b, uint64_t addr, char *ret, size_t size)
{
	uint64_t at = KERNEL_TEXT;

	(void)b;
	fake_asked++;
	if (fake_answer) {
		snprintf(ret, size, "%s", fake_answer);
		return 0;
	}
	for (unsigned int i = 0; i < SYMBOLS; at += fake_size(i++)) {
		if (addr - 1 - at >= fake_size(i))
			continue;
		snprintf(ret, size, "sym%u_%u+0x%" PRIx64 "/0x%x%s", i,
			 fake_life, addr - at, fake_size(i),
			 i % 3 ? "" : " [mod]");
		return 0;
	}
	if (addr == 666)
		return -EIO;
	snprintf(ret, size, "0x%" PRIx64, addr);
	return 0;
}

#endif /* TESTS_FAKE_KERNEL_H */
