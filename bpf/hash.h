/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* hash - the factor that spreads the bits of a number over a word */
#ifndef BPF_HASH_H
#define BPF_HASH_H

/* 2^64 / golden ratio, odd (Knuth, The Art of Computer Programming 3, 6.4) */
#define HASH_FACTOR	0x9e3779b97f4a7c15ULL

#endif /* BPF_HASH_H */
