// SPDX-License-Identifier: Apache-2.0
/* deep DEPTH SECONDS: burns CPU DEPTH calls below main. */
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

static __attribute__((noinline)) void burn(time_t end)
{
	while (time(NULL) < end) {
		for (int i = 0; i < 100000; i++)
			sink += i * sink;
	}
}

static __attribute__((noinline)) void deeper(int n, time_t end)
{
	volatile unsigned long pad[4] = { sink };

	if (n > 0)
		deeper(n - 1, end);
	else
		burn(end);
	sink += pad[0];
}

int main(int argc, char **argv)
{
	deeper(argc > 1 ? atoi(argv[1]) : 40,
	       time(NULL) + (argc > 2 ? atoi(argv[2]) : 10));
	return 0;
}
