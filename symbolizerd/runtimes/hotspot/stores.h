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

#include "symbolizerd/runtimes/hotspot/self.h"

/* Every number that code, which lies at this virtual address, writes to a known place
 * goes to self_stored().  The cost is in proportion to the code's length. */
void stores_x86(struct self *s, const struct elf_bytes *code, uint64_t vaddr);
void stores_arm64(struct self *s, const struct elf_bytes *code, uint64_t vaddr);

#endif /* SYMBOLIZERD_RUNTIMES_HOTSPOT_STORES_H */
