/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stores - the numbers that a program's start writes into HotSpot's tables
 *
 * Where the compiler took the offsets of members for no constants, a function of
 * .init_array writes them: on x86-64 each with one instruction, on arm64 by way of
 * registers.  Nothing is run: the instructions are read one behind the other, and those
 * that are not known make a register unknown.  Encodings: Intel SDM 2A, MOV; Arm ARM
 * (DDI 0487), ADRP, ADD, MOVZ, MOVN, MOVK, ORR, STR, STP, BL, RET.
 */
#ifndef SYMBOLIZERD_RUNTIMES_HOTSPOT_STORES_H
#define SYMBOLIZERD_RUNTIMES_HOTSPOT_STORES_H

#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"

/* A number is written to this virtual address. */
typedef void (*stores_fn)(void *ctx, uint64_t to, uint64_t number);

/* Every number that code, which lies at this virtual address, writes to a known place.
 * The cost is in proportion to the code's length. */
void stores_x86(const struct elf_bytes *code, uint64_t vaddr, stores_fn fn, void *ctx);
void stores_arm64(const struct elf_bytes *code, uint64_t vaddr, stores_fn fn, void *ctx);

#endif /* SYMBOLIZERD_RUNTIMES_HOTSPOT_STORES_H */
