/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known - places that CFI does not describe, or not rightly, known by bytes
 *
 * x86-64 only.  The return trampolines of signal handlers, which belong to the
 * C library: musl's (1.2.3, src/signal/x86_64/restore.s) has no CFI.  And where
 * a context made by makecontext() begins: glibc's __start_context() (2.17 to
 * 2.36, sysdeps/unix/sysv/linux/x86_64/__start_context.S) has the CFI of a
 * function that was called, which it was not: there, the stack ends.
 */
#ifndef SYMBOLIZERD_UNWIND_KNOWN_H
#define SYMBOLIZERD_UNWIND_KNOWN_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"
#include "symbolizerd/elf_file.h"

#define KNOWN_MAX	16		/* of one file; those behind do not count */
#define KNOWN_SEARCH	(16u << 20)	/* bytes of code looked at */

struct known_place {
	uint64_t start, end;	/* virtual addresses */
	uint8_t cfa;		/* CFA_SIGNAL, CFA_END */
};

struct known {
	struct known_place place[KNOWN_MAX];
	uint32_t n;
};

/* Search the code of f; what cannot be read has no such place. */
void known_search(const struct elf_file *f, struct known *ret);

#endif /* SYMBOLIZERD_UNWIND_KNOWN_H */
