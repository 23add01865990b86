// SPDX-License-Identifier: Apache-2.0
/* brief MS - burns so much CPU time, and ends */
#include <stdlib.h>
#include <time.h>

#include "busy.h"

static LINK int leaf(long ms)
{
	for (int i = 0; i < 100; i++)
		sink = sink + i * sink;
	return clock() < ms * (CLOCKS_PER_SEC / 1000);
}

static LINK void outer(long ms)
{
	while (leaf(ms))
		sink++;
	sink++;
}

int main(int argc, char **argv)
{
	outer(argc > 1 ? atol(argv[1]) : 10);
	return 0;
}
