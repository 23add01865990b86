// SPDX-License-Identifier: Apache-2.0
/* Divides its time among three functions: grows PERCENT SECONDS. */
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

#define SPIN(name)							\
	__attribute__((noinline)) void name(unsigned long n);		\
	__attribute__((noinline)) void name(unsigned long n)		\
	{								\
		while (n--)						\
			sink += n;					\
	}
SPIN(the_one_that_grows)
SPIN(one_that_shrinks)
SPIN(another_that_shrinks)

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	unsigned long part = argc > 1 ? strtoul(argv[1], NULL, 10) : 50;
	double end = now() + (argc > 2 ? atof(argv[2]) : 1);

	while (now() < end) {
		the_one_that_grows(part * 2000);
		one_that_shrinks((100 - part) * 1000);
		another_that_shrinks((100 - part) * 1000);
	}
	return 0;
}
