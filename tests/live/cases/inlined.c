// SPDX-License-Identifier: Apache-2.0
/*
 * Functions that are inlined into each other, with a line for each call: built with
 * -O2 -g its stacks have the chain below, which tests/live/test_lines.py expects.
 */
#include "busy.h"

#define INLINE	static inline __attribute__((always_inline))

INLINE unsigned int innermost(unsigned int x)
{
	for (int i = 0; i < 1000; i++)
		x = x * 1664525u + 1013904223u + (x >> 16);	/* LINE innermost */
	return x;
}

INLINE unsigned int middle(unsigned int x)
{
	return innermost(x) ^ 1;	/* LINE middle */
}

__attribute__((noinline, noclone)) static unsigned int outer(unsigned int x)
{
	x += 7;
	return middle(x) + 3;	/* LINE outer */
}

int main(int argc, char **argv)
{
	if (argc > 1)
		be_called(argv[1]);
	for (;;)
		sink = outer((unsigned int)sink);	/* LINE main */
}
