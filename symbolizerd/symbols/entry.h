/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry - where a stripped program begins, and its main()
 *
 * The entry point of a program that was linked with glibc's crt1.o is _start, whose
 * instructions are always the same; on x86-64 it hands main's address on in rdi
 * (glibc, sysdeps/x86_64/start.S, sysdeps/aarch64/start.S; all since 2.3 and 2.17).
 */
#ifndef SYMBOLIZERD_SYMBOLS_ENTRY_H
#define SYMBOLIZERD_SYMBOLS_ENTRY_H

#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"

struct entry_point {			/* virtual addresses; 0: not known */
	uint64_t start, main;
};

struct entry_point entry_read(const struct elf_file *f);

#endif /* SYMBOLIZERD_SYMBOLS_ENTRY_H */
