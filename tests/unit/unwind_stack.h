/* SPDX-License-Identifier: Apache-2.0 */
/* unwind_stack - a stack and code that a test makes up, and the leaf whose stack it is;
 * included by one file of a test, after bpf_host.h. */
#ifndef TESTS_UNWIND_STACK_H
#define TESTS_UNWIND_STACK_H

#include <errno.h>
#include <string.h>

#include "bpf/unwind.bpf.h"

#define BASE	0x7ffc00000000ULL
#define WORDS	128

#define CODE	0x500000ULL

static __u64 stack[WORDS];	/* the profiled process's, lowest first */
static __u8 code[4096];		/* its, at CODE */

long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	__u64 off = (__u64)(uintptr_t)src - BASE;

	if ((__u64)(uintptr_t)src - CODE <= sizeof(code) - size) {
		memcpy(dst, code + ((uintptr_t)src - CODE), size);
		return 0;
	}
	if (off > sizeof(stack) || sizeof(stack) - off < size)
		return -EFAULT;
	memcpy(dst, (const char *)stack + off, size);
	return 0;
}

static const struct unwind_state leaf = {
	.pc = 0x401000, .sp = BASE + 128, .fp = BASE + 192, .exact = 1,
	.regs = { 1, 2, 3, 4, 5 },
};

static struct unwind_rule sp_rule(int off)
{
	return (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = off,
				     .ra_off = -8 };
}

/* A call of `to` that ends at CODE + end: e8 rel32. */
static __u64 call_at(__u32 end, __u64 to)
{
	__s32 rel = to - (CODE + end);

	code[end - 5] = 0xe8;
	memcpy(&code[end - 4], &rel, sizeof(rel));
	return CODE + end;
}

#endif /* TESTS_UNWIND_STACK_H */
