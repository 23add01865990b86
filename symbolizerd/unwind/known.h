/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known - places that CFI does not describe, or not rightly, found by a name
 *
 * AArch64: the kernel's signal trampoline in the vDSO, which has had no CFI since
 * Linux 5.8 (commit 87676cfca141): two instructions behind a nop.
 *
 * x86-64: where a context made by makecontext() returns to when its function
 * does, glibc's __start_context() (2.17 to 2.36, sysdeps/unix/sysv/linux/x86_64/
 * __start_context.S).  Its CFI is that of a function that was called, which it
 * was not: there the stack ends.  No exported name: known by its first
 * instructions, near makecontext().
 *
 * Other signal trampolines are recognised while unwinding (bpf/unwind.bpf.h).
 */
#ifndef SYMBOLIZERD_UNWIND_KNOWN_H
#define SYMBOLIZERD_UNWIND_KNOWN_H

#include <stdint.h>

#include "bpf/table.h"
#include "symbolizerd/elf_file.h"

struct known_place {
	uint64_t start, end;	/* virtual addresses */
	struct unwind_rule rule;
};

/* The place of f, if it has one. */
bool known_find(const struct elf_file *f, struct known_place *ret);

#endif /* SYMBOLIZERD_UNWIND_KNOWN_H */
