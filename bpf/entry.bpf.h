/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * entry - from a frame without CFI and frame pointers to the process's first one
 *
 * musl has neither.  Its _start for x86-64 (1.2.3, arch/x86_64/crt_arch.h) aligns
 * sp, which the kernel has aligned (create_elf_tables()), and calls: so the word just
 * below the initial sp is a return address for as long as the process lives.  The called
 * function goes on by jumps; main()'s caller has pushed registers and nothing else.  On
 * arm64 _start jumps and leaves no word.
 */
#ifndef BPF_ENTRY_BPF_H
#define BPF_ENTRY_BPF_H

#include "unwind.bpf.h"

/* Six registers, one word that aligns, and the return address. */
#define ENTRY_REACH	64

/* Was the frame of st, which has no row, called by that first one?  Then st is moved to
 * it.  Else 0, and st is unchanged.  st->entry must be set. */
static __always_inline int unwind_to_entry(struct unwind_state *st)
{
#ifdef __TARGET_ARCH_arm64
	return 0;
#else
	__u64 ra = 0, at = st->entry - 8;
	__u32 d;

	if (st->exact || st->sp > at || at - st->sp > ENTRY_REACH - 8 ||
	    unwind_word(st, &ra, at) || ra < 4096)
		return 0;
	d = call_distance(ra, st->pc);
	/* _start calls directly: a call by register is not in _start */
	if (d > CALL_ELSEWHERE || d == CALL_ANYWHERE)
		return 0;
	st->pc = ra - 1;
	st->sp = st->entry;
	st->fp = 0;
	st->found = FOUND_BY_CALL;
	st->depth++;
	return 1;
#endif
}

#endif /* BPF_ENTRY_BPF_H */
