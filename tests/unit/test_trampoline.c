// SPDX-License-Identifier: Apache-2.0
/* CPython's trampolines on the host, over code and a stack that the test makes up. */
#include "tests/unit/bpf_host.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <string.h>

#include "bpf/python_trampoline.bpf.h"

#define STACK	0x7ffc00000000ULL
#define CODE	0x500000ULL
#define CALLER	0x402222ULL

#ifdef __TARGET_ARCH_arm64
#define CALL_END	12
static const __u32 trampoline[] = {	/* stp; mov; blr x3; ldp; ret */
	0xa9bf7bfd, 0x910003fd, 0xd63f0060, 0xa8c17bfd, 0xd65f03c0,
};
#else
#define CALL_END	6
static const __u8 trampoline[] = {
	0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3,
};
#endif

static __u64 stack[8];
static __u8 code[32];

static int copy(void *dst, __u32 size, __u64 off, const void *from, size_t n)
{
	if (off > n || n - off < size)
		return -1;
	memcpy(dst, (const char *)from + off, size);
	return 0;
}

long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	__u64 at = (uintptr_t)src;

	if (!copy(dst, size, at - CODE, code, sizeof(code)) ||
	    !copy(dst, size, at - STACK, stack, sizeof(stack)))
		return 0;
	return -EFAULT;
}

static struct unwind_state begin(void)
{
	memset(code, 0x90, sizeof(code));
	memcpy(code, trampoline, sizeof(trampoline));
	stack[2] = 0x1234;
	stack[3] = CALLER;
	return (struct unwind_state){ .pc = CODE + CALL_END - 1, .sp = STACK + 16, .fp = 77 };
}

TEST(a_trampoline_is_left)
{
	struct unwind_state st = begin();

	CHECK(trampoline_step(&st));
	CHECK_EQ(st.pc, CALLER - 1);
	CHECK_EQ(st.sp, STACK + 32);
	CHECK_EQ(st.fp, TRAMPOLINE_FP ? 0x1234 : 77);
	CHECK_EQ(st.depth, 0);		/* its frame was not told */
}

TEST(other_code_is_no_trampoline)
{
	struct unwind_state st = begin();

	for (size_t i = 0; i < sizeof(trampoline); i++) {
		/* arm64: what comes before the call is not compared */
		if (TRAMPOLINE_FP && i < CALL_END - 4)
			continue;
		st = begin();
		code[i] ^= 1;
		CHECK(!trampoline_step(&st));
		CHECK_EQ(st.sp, STACK + 16);
	}
	st = begin();
	st.pc++;
	CHECK(!trampoline_step(&st));
	st = begin();
	st.exact = EXACT;		/* the next instruction is not known to be there */
	CHECK(!trampoline_step(&st));
	st = begin();
	st.pc = CODE + sizeof(code) - 1;	/* the code ends */
	CHECK(!trampoline_step(&st));
	st = begin();
	stack[3] = 0;
	CHECK(!trampoline_step(&st));
	st = begin();
	st.sp = STACK + sizeof(stack) - 8;
	CHECK(!trampoline_step(&st));
}
