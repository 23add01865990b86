// SPDX-License-Identifier: Apache-2.0
/* plain NAME: main, outer, middle, leaf; built in every way a file can be. */
#include "busy.h"

#ifndef OUTER
#define OUTER outer
#define MIDDLE middle
#define LEAF leaf
#endif
#ifndef FAR_1	/* sections of their own: further executable segments */
#define FAR_1
#define FAR_2
#endif

LINK void LEAF(void);
LINK void MIDDLE(void);
LINK void OUTER(void);

#ifdef GAP	/* bytes of code that no CFI describes */
#define STRING(x) #x
#define SKIP(n) __asm__(".text\n.skip " STRING(n) ", 0xcc\n")
#else
#define GAP 0
#define SKIP(n) extern int no_gap
#endif

FAR_1 LINK void LEAF(void)
{
	for (int i = 0; i < 100; i++)
		spin();
}

SKIP(GAP);

FAR_2 LINK void MIDDLE(void)
{
	volatile unsigned long pad[30] = { sink };

	LEAF();
	sink += pad[0];
}

SKIP(GAP);

LINK void OUTER(void)
{
	volatile unsigned long pad[3] = { sink };

	MIDDLE();
	sink += pad[0];
}

int main(int argc, char **argv)
{
	if (argc > 1)
		be_called(argv[1]);
#ifdef ZERO	/* in a register that nothing else uses */
	__asm__ volatile("xor %%ebp, %%ebp" ::: "memory");
#endif
	for (;;)
		OUTER();
}
