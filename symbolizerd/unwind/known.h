/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known - code that CFI does not describe, or describes wrongly
 *
 * AArch64: the kernel's signal trampoline in the vDSO, which has had no CFI since
 * Linux 5.8 (commit 87676cfca141): two instructions after a nop.
 *
 * x86-64: glibc's __start_context(), where a context made by makecontext() returns
 * to when its function does (2.17 to 2.36, sysdeps/unix/sysv/linux/x86_64/
 * __start_context.S).  Its CFI is that of a function that was called; but nothing
 * calls it, and the stack ends there.  Its name is not exported: it is found by
 * its first instructions, near makecontext().  And the functions in .init and
 * .fini, which the linker combines from crti.o and crtn.o (glibc 2.36,
 * sysdeps/x86_64/crt[in].S; musl 1.2.3, crt/x86_64/crt[in].s): one word of frame,
 * no CFI.
 *
 * greenlet (2.0 and later: gevent, eventlet): the function that a greenlet begins with.  Its
 * CFI leads to whoever switched first; but a switch copies the stack only up to that
 * function, and behind it lies what others left there.  It is exported, as are all
 * functions of its class, and is not inlined (UserGreenlet::inner_bootstrap(), TUserGreenlet.cpp).
 *
 * Other signal trampolines are recognised while unwinding (bpf/unwind.bpf.h).
 */
#ifndef SYMBOLIZERD_UNWIND_KNOWN_H
#define SYMBOLIZERD_UNWIND_KNOWN_H

#include <stdint.h>

#include "bpf/table.h"
#include "symbolizerd/elf/elf_file.h"

struct known_place {
	uint64_t start, end;	/* virtual addresses */
	struct unwind_rule rule;	/* CFA_END: instead of what CFI says; others:
				 * where it says nothing */
};

#define KNOWN_MAX	8	/* places of one file */

/* The places of f; their number. */
uint32_t known_find(const struct elf_file *f,
		    struct known_place ret[KNOWN_MAX]);

#endif /* SYMBOLIZERD_UNWIND_KNOWN_H */
