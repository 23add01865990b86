/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * python_trampoline - the code that CPython makes for profilers that see no Python functions
 *
 * With -X perf (3.12 and later) each function is called through a copy of a few
 * instructions of its own in anonymous memory, which a perf map names: Python/
 * asm_trampoline.S.  They say nothing of their frame, and on x86-64 have no frame pointer.
 * Since the functions themselves are in the stack, trampolines are left out of it, as if
 * the option was not there.
 */
#ifndef BPF_PYTHON_TRAMPOLINE_BPF_H
#define BPF_PYTHON_TRAMPOLINE_BPF_H

#include "unwind.bpf.h"

#ifdef __TARGET_ARCH_arm64
#define TRAMPOLINE_FP	1	/* at sp there is the caller's frame pointer */
#else
#define TRAMPOLINE_FP	0
#endif

/* Is this the return address of the call in a trampoline?  Then the trampoline's own is at
 * sp + 8. */
static __always_inline int trampoline_at(__u64 ra)
{
	__u64 code[2] = {};

#ifdef __TARGET_ARCH_arm64
	/* blr x3, to here; ldp x29, x30, [sp], 16; ret */
	return !bpf_probe_read_user(code, 12, (void *)(ra - 4)) &&
	       code[0] == 0xa8c17bfdd63f0060ULL && code[1] == 0xd65f03c0;
#else
	/* sub $8, %rsp; call *%rcx, to here; add $8, %rsp; ret */
	return !bpf_probe_read_user(code, 11, (void *)(ra - 6)) &&
	       code[0] == 0x8348d1ff08ec8348ULL && code[1] == 0xc308c4;
#endif
}

/* If st is in a trampoline, at its call, move it to the caller. */
static __always_inline int trampoline_step(struct unwind_state *st)
{
	__u64 pc = 0, fp = 0;

	if (st->exact || !trampoline_at(st->pc + 1) || unwind_word(st, &fp, st->sp) ||
	    unwind_word(st, &pc, st->sp + 8))
		return 0;
	pc &= RA_MASK;
	if (pc < 4096)
		return 0;
	st->pc = pc - 1;
	st->sp += 16;
	if (TRAMPOLINE_FP)
		st->fp = fp;
	st->found = FOUND_BY_RULE;
	return 1;
}

#endif /* BPF_PYTHON_TRAMPOLINE_BPF_H */
