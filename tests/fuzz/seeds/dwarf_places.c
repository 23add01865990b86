// SPDX-License-Identifier: Apache-2.0
/* A program without libraries, with calls that are inlined: seeds of fuzz_dwarf_places. */
volatile int sink;

static inline int twice(int x)
{
	sink = x;
	return 2 * x;
}

static inline int twice_and_more(int x)
{
	return twice(x) + 1;
}

int __attribute__((noinline)) outer(int x);

int outer(int x)
{
	return twice_and_more(x) + sink;
}

void _start(void)
{
	for (;;)
		sink = outer(sink);
}
