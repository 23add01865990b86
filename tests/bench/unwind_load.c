// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/unwind_load.h"

#include <stdlib.h>

#define CACHE_BYTES	(32u << 20)	/* more than the caches of most machines */
#define CACHE_LINE	64

static volatile unsigned long sink;
static volatile char *walked;		/* NULL: nothing is */

/* Sampled in here. */
static __attribute__((noinline)) unsigned long load_leaf(void)
{
	for (size_t at = 0; sink != 1; at = (at + CACHE_LINE) % CACHE_BYTES) {
		sink = sink * 4 + 6;	/* never 1 */
		if (walked)
			walked[at]++;
	}
	return sink;
}

static __attribute__((noinline)) void load_deeper(int n)
{
	volatile unsigned long pad[4] = { sink };

	if (n > 0)
		load_deeper(n - 1);
	else
		load_leaf();
	sink += pad[0];
}

/*
 * Between two functions lie others, which nobody calls, with a row for each 56 bytes,
 * as libc has them: so each function has its own lines of the table, and all of them
 * several pages.
 */
#define LOAD_SECTION(n)	".text.load_" #n
#define LOAD_OTHERS(n)							\
	__asm__(".pushsection " LOAD_SECTION(n) ",\"ax\"\n"		\
		".rept 60\n"						\
		".cfi_startproc\n"					\
		".skip 8\n .cfi_def_cfa_offset 16\n"			\
		".skip 8\n .cfi_def_cfa_offset 32\n"			\
		".skip 184\n .cfi_def_cfa_offset 16\n"			\
		".skip 24\n"						\
		".cfi_endproc\n"					\
		".endr\n"						\
		".popsection\n");

/* What a function keeps while it calls: in registers that it has to save. */
#define KEEP0(v)
#define KEEP1(v)	unsigned long v##1 = sink;
#define KEEP2(v)	KEEP1(v) unsigned long v##2 = sink;
#define KEEP3(v)	KEEP2(v) unsigned long v##3 = sink;
#define KEEP5(v)	KEEP3(v) unsigned long v##4 = sink, v##5 = sink;
#define KEPT0(v)	0
#define KEPT1(v)	v##1
#define KEPT2(v)	(KEPT1(v) ^ v##2)
#define KEPT3(v)	(KEPT2(v) + v##3)
#define KEPT5(v)	((KEPT3(v) ^ v##4) + v##5)

/* Function n keeps so many values, has so many words in its frame beside them, and
 * calls function `to`. */
#define LOAD_FUNCTION(n, kept, words, to)				\
	LOAD_OTHERS(n)							\
	static __attribute__((noinline, section(LOAD_SECTION(n))))	\
	unsigned long load_##n(void)					\
	{								\
		volatile unsigned long pad[words];			\
		KEEP##kept(v)						\
		pad[0] = sink;						\
		pad[(words) - 1] = load_##to();				\
		return pad[0] ^ KEPT##kept(v);				\
	}

/* Bytes of the frames: median 128, 90th percentile 304, at most 960, as measured in real
 * programs (docs/BENCHMARKS.md), but for those that are larger still. */
LOAD_FUNCTION(1, 5, 2, leaf)
LOAD_FUNCTION(2, 1, 34, 1)
LOAD_FUNCTION(3, 1, 10, 2)
LOAD_FUNCTION(4, 2, 13, 3)
LOAD_FUNCTION(5, 3, 10, 4)
LOAD_FUNCTION(6, 1, 8, 5)
LOAD_FUNCTION(7, 5, 20, 6)
LOAD_FUNCTION(8, 1, 16, 7)
LOAD_FUNCTION(9, 0, 9, 8)
LOAD_FUNCTION(10, 2, 9, 9)
LOAD_FUNCTION(11, 5, 112, 10)
LOAD_FUNCTION(12, 3, 2, 11)
LOAD_FUNCTION(13, 3, 20, 12)
LOAD_FUNCTION(14, 5, 8, 13)
LOAD_FUNCTION(15, 5, 76, 14)
LOAD_FUNCTION(16, 3, 12, 15)
LOAD_FUNCTION(17, 2, 15, 16)
LOAD_FUNCTION(18, 2, 25, 17)
LOAD_FUNCTION(19, 1, 20, 18)
LOAD_FUNCTION(20, 2, 17, 19)
LOAD_FUNCTION(21, 1, 12, 20)
LOAD_FUNCTION(22, 2, 25, 21)
LOAD_FUNCTION(23, 5, 2, 22)
LOAD_FUNCTION(24, 5, 16, 23)
LOAD_FUNCTION(25, 3, 56, 24)
LOAD_FUNCTION(26, 5, 6, 25)
LOAD_FUNCTION(27, 2, 3, 26)
LOAD_FUNCTION(28, 1, 4, 27)
LOAD_FUNCTION(29, 1, 28, 28)
LOAD_FUNCTION(30, 5, 8, 29)
LOAD_FUNCTION(31, 5, 18, 30)
LOAD_FUNCTION(32, 1, 42, 31)
LOAD_FUNCTION(33, 3, 14, 32)
LOAD_FUNCTION(34, 1, 6, 33)
LOAD_FUNCTION(35, 5, 26, 34)
LOAD_FUNCTION(36, 5, 2, 35)
LOAD_FUNCTION(37, 0, 5, 36)
LOAD_FUNCTION(38, 1, 18, 37)
LOAD_FUNCTION(39, 5, 4, 38)
LOAD_FUNCTION(40, 3, 12, 39)

void load_run(enum load_kind kind, int depth)
{
	if (kind == LOAD_COLD)
		walked = calloc(1, CACHE_BYTES);
	if (kind == LOAD_SMALL)
		load_deeper(depth);
	else
		sink += load_40();
	abort();
}
