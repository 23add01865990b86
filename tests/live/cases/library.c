// SPDX-License-Identifier: Apache-2.0
/* A library: -DSUFFIX=_a gives lib_a_outer() its names. */
#include "busy.h"

#ifndef SUFFIX
#define SUFFIX
#endif
#define PASTE(a, b) a##b
#define NAME(a, b) PASTE(a, b)

LINK void NAME(lib_leaf, SUFFIX)(void)
{
	for (int i = 0; i < 100; i++)
		spin();
}

LINK void NAME(lib_outer, SUFFIX)(void)
{
	volatile unsigned long pad[9] = { sink };

	NAME(lib_leaf, SUFFIX)();
	sink += pad[0];
}

/* the one that programs look for */
LINK void lib_run(void)
{
	NAME(lib_outer, SUFFIX)();
	sink++;
}

LINK void lib_quick(void)
{
	__asm__ volatile("");
}
