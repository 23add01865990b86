/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stores - the numbers that libjvm.so writes into its tables when it starts
 *
 * Where the offsets of members were no constants for the compiler, a function of
 * .init_array writes them: on x86-64 each with one instruction, on arm64 through
 * registers.  Nothing is executed: the instructions are decoded one after the other,
 * and after an unknown one its destination register is unknown.  Encodings: Intel SDM
 * 2A, MOV; Arm ARM (DDI 0487), ADRP, ADD, MOVZ, MOVN, MOVK, ORR, STR, STP, BL, RET.
 */
#ifndef SYMBOLIZERD_RUNTIMES_HOTSPOT_STORES_H
#define SYMBOLIZERD_RUNTIMES_HOTSPOT_STORES_H

#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"

/* A number is written to this virtual address. */
typedef void (*stores_fn)(void *ctx, uint64_t to, uint64_t number);

/* Calls fn for every number that the code at this virtual address writes to a known
 * address.  The cost is in proportion to the code's length. */
void stores_x86(const struct elf_bytes *code, uint64_t vaddr, stores_fn fn, void *ctx);
void stores_arm64(const struct elf_bytes *code, uint64_t vaddr, stores_fn fn, void *ctx);

#endif /* SYMBOLIZERD_RUNTIMES_HOTSPOT_STORES_H */
